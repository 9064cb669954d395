"""The compiled code of batches: tables of lanes, what is remembered for sensors, and reading bodies of many worlds."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.observe import observe_bodies


@jit
def bind(flat, places, pitches, bases, strides, worlds):
    """Fill the addresses of what worlds own into the tables of a lane: row b becomes world worlds[b].

    flat: all tables; entry k of row b stands at places[k] + b * pitches[k].
    """
    for b in range(len(worlds)):
        for k in range(len(places)):
            flat[places[k] + b * pitches[k]] = bases[k] + worlds[b] * strides[k]


@jit
def remember(data, mounts):
    """The state before the step that is read."""
    for k in range(len(data.v)):
        mounts.old_v[k] = data.v[k]
    for k in range(len(data.q)):
        mounts.old_q[k] = data.q[k]


@jit(nogil=True)
def observe_worlds(model_tables, data_tables, worlds, poses_out, velocities_out, centers_out):
    """`observe_bodies` of some worlds: poses (worlds, F, 7), velocities (worlds, F, 6), centres of mass (worlds, L, 3).
    """
    for b in range(len(worlds)):
        w = worlds[b]
        observe_bodies(model_tables[b], data_tables[b], 1, poses_out[w], velocities_out[w], centers_out[w])
