"""Saved states with bad values: what no state may hold, put in place of what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

import sesshoku as ss

BAD_INTEGERS = (-1, -2, -(2**63), 10**6, 2**31, 2**62, 2**63 - 1)
BAD_FLOATS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 5e-324, 0.0)


def rich_scene() -> ss.Scene:
    """A heap on the ground pushed by a scripted paddle, a pendulum with friction and a servo, a force that stands."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("paddle", size=(0.1, 1.0, 0.5), position=(-0.35, 0, 0.26), velocity=(0.5, 0, 0), kinematic=True)
    scene.add_box("lower", size=(0.3, 0.3, 0.2), mass=2.0, position=(0, 0, 0.1))
    scene.add_box("upper", size=(0.2, 0.25, 0.2), mass=1.0, position=(0.02, 0, 0.3), angular_velocity=(0, 0, 2.0))
    scene.add_body("post", fixed=True, position=(0, 3, 2))
    scene.add_box("rod", size=(0.1, 0.1, 0.6), mass=1.0, parent="post", joint=ss.Joint(
        "revolute", "swing", axis=(0, 1, 0), anchor=(0, 0, 0.3), static_friction=0.2, kinetic_friction=0.1, lower=-1.0,
        upper=1.0))
    scene.add_actuator("swing", "position", name="servo", kp=10.0, kd=1.0)
    scene.add_force_sensor("pin", "rod")
    return scene


def simulated(method: str, steps: int) -> ss.Simulation:
    """The rich scene under a method, some steps on, with a force that stands."""
    sim = ss.Simulation(rich_scene(), method, 2e-3)
    sim.bodies["upper"].push((0.1, 0, 0), until=9.0)
    sim.step(steps)
    return sim


def spoil(rng: np.random.Generator, snapshot: ss.Snapshot) -> tuple[dict[Any, Any], str]:
    """A copy of a state with one bad thing in it, and which."""
    bad: dict[Any, Any] = {name: values.copy() for name, values in snapshot.items()}
    name = str(rng.choice(list(bad)))
    values, kind = bad[name], int(rng.integers(10))
    if kind < 5 and values.size:  # most of the time numbers
        at = int(rng.integers(values.size))
        pool = BAD_INTEGERS if values.dtype.kind == "i" else (255, 7) if values.dtype.kind == "u" else BAD_FLOATS
        number = pool[int(rng.integers(len(pool)))]
        if values.dtype.kind == "i" and rng.random() < 0.3:
            number = int(values.max()) + int(rng.integers(1, 3))  # just beyond what there is
        if rng.random() < 0.2:
            values[...] = number
        else:
            values.reshape(-1)[at] = number
        return bad, f"{name}: {number}"
    others: list[Any] = [
        values.astype(str), values.astype(object), values.astype(np.complex128), values.astype(np.float32),
        values.astype(">i8" if values.dtype.kind == "i" else ">f8"), values[..., None], values.reshape(-1)[:-1],
        np.concatenate([values.reshape(-1), values.reshape(-1)]), np.array(values.reshape(-1).tolist() + [1.0]),
        None, "text", b"bytes", 7, [1.0, "a"], {}, object(), np.array(None), np.array("x"), values.tolist(),
        np.zeros((0,)), np.ma.masked_array(values, mask=True), np.datetime64("now")]
    if kind == 9:
        del bad[name]
        return bad, f"{name}: gone"
    which = int(rng.integers(len(others)))
    bad[name] = others[which]
    return bad, f"{name}: {type(others[which]).__name__} number {which}"


def same_state(one: ss.Snapshot, other: ss.Snapshot) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)
