"""Experiments of the method `exact`."""
