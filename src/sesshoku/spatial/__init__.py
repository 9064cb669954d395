"""Rotations, six-dimensional vectors and inertias: the leaves of every kernel.

In: numbers. Out: numbers.
"""
