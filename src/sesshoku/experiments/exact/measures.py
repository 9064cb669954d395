"""What a scene comes to under an engine: numbers that Coulomb's law knows in closed form.

Each takes an engine (scenes.py), so that tests, `exact/targets` and the benchmarks measure the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.experiments.exact.scenes import Engine, G, grasp, incline
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import make
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import quaternion_to_matrix

LIMIT = 4.9  # N: friction of a crate of 1 kg, mu 0.5
CORNERS = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def pushed(engine: Engine, force: float, seconds: float, dt: float, ramp: float = 0.0) -> np.ndarray:
    """How far a crate moves (3) that is pushed at its middle, the force rising through `ramp` seconds."""
    sim = engine(crate_on_floor(), dt)
    for n in range(round(seconds / dt)):
        share = min(1.0, (n + 0.5) * dt / ramp) if ramp else 1.0
        sim.apply_force("crate", (share * force, 0, 0))
        sim.step()
    moved: np.ndarray = sim.bodies["crate"].position - [0, 0, 0.5]
    return moved


def pushed_way(force: float, seconds: float, dt: float, ramp: float) -> float:
    """Where `pushed` ends by the law, for a force that is constant through each step: above LIMIT it slides."""
    v = x = 0.0
    for n in range(round(seconds / dt)):
        a = max(0.0, min(1.0, (n + 0.5) * dt / ramp) * force - LIMIT)
        v, x = v + dt * a, x + dt * v + 0.5 * dt * dt * a
    return x


@dataclass
class Slide:
    """A thrown crate at its end: errors in m."""

    along: float  # of the stopping place
    end: float  # the stopping place itself, along the throw
    on_the_way: float  # largest of the path, until the step in which it stops
    sideways: float
    lift: float
    turned: float  # rad, about
    speed: float  # left at the end
    residual: float  # worst of the run


def slide(engine: Engine, v0: float, heading: float, dt: float) -> Slide:
    """A crate thrown along the floor, mu 0.5: it stops after v0^2/g, straight on, on the floor."""
    sim = engine(crate_on_floor(v0, heading=heading), dt)
    crate, found = sim.bodies["crate"], Slide(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    c, s = np.cos(heading), np.sin(heading)
    for n in range(round((v0 / (0.5 * G) + 0.2) / dt)):
        sim.step()
        x, y, z = crate.position
        t = (n + 1) * dt
        if 0.5 * G * t <= v0:
            found.on_the_way = max(found.on_the_way, abs(c * x + s * y - (v0 * t - 0.25 * G * t * t)))
        found.lift = max(found.lift, float(z) - 0.5)
        found.residual = max(found.residual, float(sim.report.residual))
    found.end, found.sideways = float(c * x + s * y), float(abs(c * y - s * x))
    found.along = abs(found.end - v0**2 / G)
    found.turned = float(2.0 * np.abs(crate.rotation[1:]).max())
    found.speed = float(max(np.abs(crate.velocity).max(), np.abs(crate.angular_velocity).max()))
    return found


def slid_down(engine: Engine, tangent: float, seconds: float, dt: float) -> float:
    """How far a crate at rest on a slope moves down, m."""
    sim = engine(incline(tangent), dt)
    for _ in range(round(seconds / dt)):
        sim.step()
    return float(sim.bodies["crate"].position[0])


@dataclass
class BreakAway:
    """A crate under a growing force."""

    force: float  # N, of the first step in which it moves
    speed_error: float  # m/s, largest, against static friction up to 4.9 N and kinetic friction from then on


def break_away(engine: Engine, dt: float, kinetic: float = 0.3, start: float = 4.7, still: float = 1e-6) -> BreakAway:
    """Pushed with a force that grows by 1 N/s from `start` to 5.2 N, mu 0.5/kinetic. still: m/s, above it moves."""
    sim, v, found = engine(crate_on_floor(static=0.5, kinetic=kinetic), dt), 0.0, BreakAway(np.nan, 0.0)
    for n in range(round((5.2 - start) / dt)):
        force = start + n * dt
        sim.apply_force("crate", (force, 0, 0))
        sim.step()
        v += (force - kinetic * G) * dt if force > LIMIT + 1e-9 else 0.0
        speed = float(sim.bodies["crate"].velocity[0])
        found.speed_error = max(found.speed_error, abs(speed - v))
        if np.isnan(found.force) and speed > still:
            found.force = force
    return found


def turning_point(engine: Engine, v0: float, share: float, dt: float) -> tuple[float, float]:
    """A crate thrown against a force of `share` of its weight, mu .5/.3: farthest place and speed at the end."""
    sim, top = engine(crate_on_floor(v0, static=0.5, kinetic=0.3), dt), 0.0
    for _ in range(round(0.8 / dt)):
        sim.apply_force("crate", (-share * G, 0, 0))
        sim.step()
        top = max(top, float(sim.bodies["crate"].position[0]))
    return top, float(sim.bodies["crate"].velocity[0])


def equal_load_limit(force: Any, torque: float) -> float:
    """Share of (force along x and y, torque) at which four equally loaded corners slip: the kinematic theorem.

    The least dissipation sum_i mu N |v + w x r_i| over motions (v, w) that the load does unit work on.
    """
    from scipy.optimize import minimize

    load, corners = np.array([*force, torque]), 0.5 * np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])

    def dissipation(motion: np.ndarray) -> float:
        speeds = motion[:2] + motion[2] * np.stack([-corners[:, 1], corners[:, 0]], axis=1)
        return float(LIMIT / 4 * np.linalg.norm(speeds, axis=1).sum() / max(load @ motion, 1e-9))

    starts = np.random.default_rng(1).normal(size=(20, 3))
    return float(min(minimize(dissipation, start + load, method="Nelder-Mead",
                              options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}).fun for start in starts))


#: (force, torque) of which the limit is looked for
RAYS = [((1, 0), 0.0), ((0, 0), 1.0), ((1, 0), 0.5), ((1, 0), 2.0), ((1, 1), 0.4), ((0.3, 1), 1.0)]


def speed_under_load(engine: Engine, force: Any, torque: float, size: float, kinetic: float = 0.5) -> float:
    """Speed of a crate whose load at the floor has grown to `size` times (force, torque) in 0.3 s, 0.3 s later."""
    sim = engine(crate_on_floor(static=0.5, kinetic=kinetic), 1 / 200)
    for n in range(120):
        now = size * min(1.0, (n + 0.5) / 60)
        sim.apply_force("crate", (now * force[0], now * force[1], 0), (0, 0, now * torque), point=(0, 0, 0))
        sim.step()
    crate = sim.bodies["crate"]
    return float(max(np.abs(crate.velocity[:2]).max(), abs(crate.angular_velocity[2])))


def load_limit(engine: Engine, force: Any, torque: float, kinetic: float, width: float = 1e-5) -> float:
    """The size of load at which the crate starts to move, as a share of that of equally loaded corners."""
    known = equal_load_limit(force, torque)
    low, high = 0.7, 1.3
    while high - low > width:
        middle = 0.5 * (low + high)
        # a load `width` beyond the limit has made 0.3 s of width times g by then
        moves = speed_under_load(engine, force, torque, middle * known, kinetic) > 0.05 * width
        low, high = (low, middle) if moves else (middle, high)
    return 0.5 * (low + high)


def drift(sim: Simulation, settle: float, seconds: float) -> tuple[float, int]:
    """How far anything moves (m, quaternions among it) in `seconds` after `settle`, and steps not solved in them."""
    sim.step(round(settle / sim.dt))
    start, worst, unsolved = sim.q.copy(), 0.0, 0
    for _ in range(round(seconds / sim.dt)):
        sim.step()
        worst = max(worst, float(np.abs(sim.q - start).max()))
        unsolved += not sim.report.converged
    return worst, unsolved


def sunk(engine: Engine, scene: Scene, bodies: list[str], seconds: float, dt: float) -> float:
    """How far bodies are, `seconds` after the start, from where they began: the largest of them, m."""
    sim = engine(scene, dt)
    start = {name: np.array(sim.bodies[name].position) for name in bodies}
    for _ in range(round(seconds / dt)):
        sim.step()
    return float(max(np.abs(sim.bodies[name].position - start[name]).max() for name in bodies))


def grasp_fall(engine: Engine, force: float, steps: int = 40, dt: float = 1 / 200) -> tuple[float, float]:
    """Two fingers that press too little: largest error of the fall against (5 - force) N, m, and spin at the end."""
    sim, worst = engine(grasp(force), dt), 0.0
    for n in range(steps):  # until a corner leaves the fingers' edge
        sim.step()
        t = (n + 1) * dt
        worst = max(worst, abs(float(sim.bodies["box"].position[2]) + 0.5 * G * (1 - force / 5.0) * t**2))
    return worst, float(np.abs(sim.bodies["box"].angular_velocity).max())


def standing_drift(sim: Simulation, settle: float, seconds: float) -> tuple[float, float]:
    """Of a robot's feet on the ground: how far they move after `settle`, m, and the slip that contacts add up to, m."""
    sim.step(round(settle / sim.dt))
    feet = {name: sim.bodies[name].position.copy() for name in ("left_foot", "right_foot")}
    slip = 0.0
    for _ in range(round(seconds / sim.dt)):
        sim.step()
        slip += sim.dt * max((c.slip_speed for c in sim.contacts if c.normal_force > 0.0), default=0.0)
    return max(float(np.abs(sim.bodies[name].position - place).max()) for name, place in feet.items()), slip


def lowest_corner(sim: Any, body: str = "crate") -> float:
    """Height of the lowest corner of a unit cube, m."""
    view = sim.bodies[body]
    return float((CORNERS @ quaternion_to_matrix(view.rotation).T)[:, 2].min() + view.position[2])


def rebounds(engine: Engine, bounce: float, dt: float) -> tuple[list[float], float]:
    """Heights of the first three rebounds of a crate dropped flat from 1 m, and how far it has turned."""
    sim, heights = engine(crate_on_floor(height=1.0, restitution=bounce), dt), [1.0]
    end = np.sqrt(2 / G) * (1 + 2 * (bounce + bounce**2 + bounce**3)) - dt
    while sim.time < end:
        sim.step()
        heights.append(float(sim.bodies["crate"].position[2]) - 0.5)
    apexes = [b for a, b, c in zip(heights, heights[1:], heights[2:], strict=False) if a <= b > c]
    return apexes, float(np.abs(sim.bodies["crate"].rotation[1:]).max())


def dropped(engine: Engine, dt: float) -> tuple[float, float, float]:
    """Dropped flat from 1 m with e = 0: deepest and, once landed, highest place of its lowest corner, m; speed left."""
    sim, low, high = engine(crate_on_floor(height=1.0), dt), 0.0, 0.0
    while sim.time < 0.9:
        sim.step()
        low = min(low, lowest_corner(sim))
        if sim.time > np.sqrt(2 / G) + dt:
            high = max(high, lowest_corner(sim))
    crate = sim.bodies["crate"]
    return low, high, float(max(np.abs(crate.velocity).max(), np.abs(crate.angular_velocity).max()))


def end_of(scene: Scene, method: Any, dt: float, seconds: float) -> np.ndarray:
    """Coordinates after `seconds`."""
    sim = Simulation(scene, method, dt)
    sim.step(round(seconds / dt))
    return sim.q.copy()


def smooth_errors(scene: Scene, sizes: tuple[float, ...], seconds: float, method: Any = "exact") -> list[float]:
    """Largest error of the coordinates after `seconds`, for each step size, against a fine Runge-Kutta run."""
    truth = end_of(scene, make("none", {"integrator": "rk4"}), 5e-4, seconds)
    return [float(np.abs(end_of(scene, method, dt, seconds) - truth).max()) for dt in sizes]
