"""Whole steps against MuJoCo on the same model."""

from __future__ import annotations

import warnings

import sesshoku as ss
from sesshoku.comparison.bench import Comparison, step_against_mujoco


def humanoid_hanging_free() -> list[Comparison]:
    """The large humanoid in its standing pose, servos on, floating free without contact, dt 1 ms."""
    scene = ss.Scene(name="large humanoid hanging free")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    return step_against_mujoco(scene, "none", 1e-3)
