"""Velocities of links at any joint velocities, where nothing else of the motion is to change."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import KINEMATIC


@jit
def carried_velocities(model, data, v, velocity_out):
    """Spatial velocity (L, 6) of every link at joint velocities v (V). Needs `kinematics`."""
    S, out = data.axis, velocity_out
    for i in range(model.link_count):
        parent, first = model.link_parent[i], model.link_dof[i]
        for a in range(6):
            out[i, a] = out[parent, a] if parent >= 0 else 0.0
        if model.link_joint[i] == KINEMATIC:
            for a in range(6):
                out[i, a] = data.kinematic_velocity[i, a]
        for k in range(first, first + model.link_dof_count[i]):
            for a in range(6):
                out[i, a] += S[k, a] * v[k]
