"""Shapes and what is computed of them once: hulls, convex pieces, repair, mass, faces.

In: numbers or meshes of a user or a file. Out: shapes that compile, with mass properties.
"""
