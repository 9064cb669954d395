"""Stages that several methods share as they are: `(model, data, work, dt)`."""

from __future__ import annotations

from sesshoku.collision.points.detect import detect
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.stages.free_motion import SEMI_IMPLICIT, finish


@jit
def place_links(model, data, work, dt):
    """Poses and velocities of the links at the start of the step."""
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def find_points(model, data, work, dt):
    """Contacts that are closed, or within the margin and what shapes travel in `speculative` steps."""
    options = work.options
    detect(model, data, work.contacts, options.margin, options.speculative * dt, options.most_per_pair)


@jit
def take_over(model, data, work, dt):
    """The new state by semi-implicit Euler; False if it is not finite (the state then stays as it was)."""
    return finish(model, data, SEMI_IMPLICIT, dt)
