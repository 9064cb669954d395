"""The tasks of the registered environments, one file a robot."""
