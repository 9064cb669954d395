"""Controllers that audits of the tests judge, found by name in other processes."""

from __future__ import annotations

from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor

PUSH = 4.8  # N on a crate of 1 kg that friction of 0.5 holds up to 4.9 N


class Leaning:
    """Pushes a crate at 98 % of what friction holds. It succeeds where the crate stays."""

    duration, FORCE = 2.0, PUSH

    def __init__(self) -> None:
        self.scene = crate_on_floor()

    def __call__(self, sim: Any) -> None:
        sim.apply_force("crate", (self.FORCE, 0.0, 0.0))

    def success(self, sim: Any) -> bool:
        return bool(abs(sim.bodies["crate"].position[0]) < 5e-3)

    def score(self, sim: Any) -> float:
        return float(sim.bodies["crate"].position[0])


class Gentle(Leaning):
    """Pushes so little that no law lets it creep far."""

    FORCE = 0.2


class Ours(Leaning):
    PEERS = ()


def push(sim: Any) -> None:
    sim.apply_force("crate", (PUSH, 0.0, 0.0))


def stays(sim: Any) -> bool:
    return bool(abs(sim.bodies["crate"].position[0]) < 5e-3)


def broken(sim: Any) -> None:
    raise RuntimeError("no idea")


def cart() -> ss.Scene:
    """A cart on a rail with a torque motor, or a servo: one joint, nothing touches."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("cart", joint=ss.Joint("prismatic", axis=(1, 0, 0)),
                   inertial=ss.Inertial(2.0, np.zeros(3), np.eye(3)))
    return scene
