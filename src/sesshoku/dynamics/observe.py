"""What Python reads of a state, each one compiled call that takes tables: handing over a Record costs 3 us more."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.centroid import kinetic_energy, potential_energy
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.frames import frame_poses, frame_velocities
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.dynamics.tendons import is_spatial, place_tendon, tendon_motion
from sesshoku.model.arrays import as_model


@jit
def refresh(model_table, data_table):
    """Poses and velocities of all links at the present state."""
    model, data = as_model(model_table), as_data(data_table)
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def observe_bodies(model_table, data_table, stale, poses_out, velocities_out, centers_out):
    """What is read of bodies one by one: (F, 7) `frame_poses`, (F, 6) `frame_velocities`, (L, 3) centres of mass.

    stale: 1 where the links must be brought up to the present state first, as `refresh` does.
    """
    model, data = as_model(model_table), as_data(data_table)
    if stale:
        kinematics(model, data, data.q)
        link_velocities(model, data, data.v)
    frame_poses(model, data, poses_out)
    frame_velocities(model, data, velocities_out)
    for i in range(model.link_count):
        R, c, t = data.rotation[i], model.link_center[i], model.link_tree[i]
        for a in range(3):
            centers_out[i, a] = (data.tree_origin[t, a] + data.offset[i, a]
                                 + R[a, 0] * c[0] + R[a, 1] * c[1] + R[a, 2] * c[2])  # fmt: skip


@jit
def observe_poses(model_table, data_table, poses_out):
    """(F, 7) `frame_poses`. Needs `refresh`."""
    frame_poses(as_model(model_table), as_data(data_table), poses_out)


@jit
def observe_velocities(model_table, data_table, velocities_out):
    """(F, 6) `frame_velocities`. Needs `refresh`."""
    frame_velocities(as_model(model_table), as_data(data_table), velocities_out)


@jit
def observe_energy(model_table, data_table):
    """Kinetic and potential energy, J. Needs `refresh`."""
    model, data = as_model(model_table), as_data(data_table)
    return kinetic_energy(model, data, data.v), potential_energy(model, data, data.q)


@jit
def observe_tendon(model_table, data_table, n):
    """Length of tendon n and its rate. Needs `refresh`."""
    model, data = as_model(model_table), as_data(data_table)
    if is_spatial(model, n):
        place_tendon(model, data, n)
    return tendon_motion(model, data, n, data.q, data.v)
