"""Rigid-body dynamics over a model, one algorithm a file: kinematics, RNEA, CRBA, ABA, factors, Jacobians, rows.

In: a model and a state. Out: what `Data` holds: poses, velocities, inertia, forces, rows.
"""
