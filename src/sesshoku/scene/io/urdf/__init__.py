"""URDF, as ROS packages hold it."""
