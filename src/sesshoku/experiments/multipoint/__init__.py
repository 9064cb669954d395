"""Experiments of `multipoint`."""
