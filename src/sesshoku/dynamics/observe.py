"""What Python reads of a state, each one compiled call that takes tables: handing over a Record costs 3 us more."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.centroid import kinetic_energy, potential_energy
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.frames import frame_poses, frame_velocities
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.scene.model import as_model


@jit
def refresh(model_table, data_table):
    """Poses and velocities of all links at the present state."""
    model, data = as_model(model_table), as_data(data_table)
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


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
