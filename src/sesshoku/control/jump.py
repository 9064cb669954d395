"""Jumps from both feet: crouch, thrust, flight, landing, as a pattern that `Walker` plays.

    pattern = jump(biped, humanoids.SMALL, speed=0.6)
    walker = Walker(pattern)

The centre of mass moves straight up and down above the soles; d is its height above them:

    hold     z = d = com_height
    crouch   minimum jerk down to `crouch`
    thrust   quintic to `take_off` with the speed v and the acceleration -g: the ground's force ends at nothing
    flight   a throw. d leaves with the speed v, is brought to rest within `tuck`, and mirrored before landing, so that
             the feet lift off and touch down without speed
    absorb   quintic from the speed -v and acceleration -g down to `landing`, at rest
    rise     minimum jerk back to com_height, hold

Legs that stretch below an upright trunk carry angular momentum about the pitch axis, and nothing takes it away in
flight. So the trunk pitches against it: its rate is what makes the momentum of the whole robot nothing, found in a few
rounds of kinematics (`quiet_pitch`). Without, the robot still lands, but turned.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.control.biped import Biped
from sesshoku.control.posture import posture_table, velocity_table
from sesshoku.control.walking.feed_forward import feed_forward_table
from sesshoku.control.walking.gait import BOTH, Gait, Timeline
from sesshoku.control.walking.pattern import Pattern, refuse_other_gravity
from sesshoku.control.walking.swing import smooth
from sesshoku.dynamics.centroid import center_of_mass, momentum
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.errors import SceneError
from sesshoku.scene import check

ROUNDS = 5  # of `quiet_pitch`


@dataclass(frozen=True)
class Heights:
    """Of the centre of mass above the soles, m: crouched, at take-off and touchdown, at the end of the landing."""

    crouch: float
    take_off: float
    landing: float

    @classmethod
    def by_rule(cls, com_height: float) -> Heights:
        """Shares of the standing height that keep the knees well bent (0.8 rad and more) on the shipped humanoids."""
        return cls(0.73 * com_height, 0.925 * com_height, 0.77 * com_height)


@dataclass(frozen=True)
class Durations:
    """Seconds of the phases; thrust and flight follow from the speed. tuck: within which d comes to rest in flight."""

    hold: float = 0.5
    crouch: float = 0.6
    absorb: float = 0.25
    rise: float = 0.6
    rest: float = 0.8
    tuck: float = 0.05


@dataclass(frozen=True)
class JumpPattern(Pattern):
    """A pattern with its phases (name -> begin and end, s) and the speed at take-off (m/s)."""

    phases: dict[str, tuple[float, float]] = field(default_factory=dict)
    speed: float = 0.0

    @property
    def apex(self) -> float:
        """Greatest height of the centre of mass, m."""
        return float(self.com[:, 2].max())


def jump(biped: Biped, gait: Gait, speed: float, *, heights: Heights | None = None,
         durations: Durations | None = None, pitch: bool = True) -> JumpPattern:
    """Plan a jump that leaves the ground at `speed` (m/s, rounded so that the flight is a whole number of samples).

    gait: com_height, width, zmp_ahead, sample and gravity are taken. pitch: whether the trunk pitches against the
    momentum of the legs.
    """
    refuse_other_gravity(biped, gait)
    speed = check.number(speed, "speed", "jump", above=0.0)
    heights = Heights.by_rule(gait.com_height) if heights is None else heights
    durations = Durations() if durations is None else durations
    dt = gait.sample
    flight = max(round(2.0 * speed / gait.gravity / dt), 1) * dt
    if flight < 2.0 * durations.tuck:
        raise SceneError("the flight is too short to tuck the legs", element="jump", value=speed,
                         remedy=f"jump at {durations.tuck * gait.gravity:.3g} m/s or more, or shorten tuck")
    z, above, phases = _height(gait, heights, durations, flight)
    line = _timeline(gait, z, above, phases)
    com = np.stack([np.full(len(z), gait.zmp_ahead), np.zeros(len(z)), z], axis=1)
    shares = np.where(_within(line.time, phases["flight"])[:, None], 0.0, np.full((len(z), 2), 0.5))
    q, v = _motion(biped, gait, line, com)
    if pitch:
        q, v = quiet_pitch(biped, gait, line, com, q, v)
        begin, end = phases["rise"]  # what of the pitch is left after the landing goes with the rise
        line.base[:, 1] -= line.base[-1, 1] * smooth((line.time - begin) / (end - begin))
        q, v = _motion(biped, gait, line, com)
    acceleration = np.diff(v, axis=0, prepend=v[:1]) / dt
    acceleration[0] = acceleration[1]
    force, zmp = np.zeros_like(v), np.zeros((len(z), 2))
    feed_forward_table(biped.model, biped.data, biped.legs, (q, v, acceleration), shares, line.feet, (force, zmp))
    velocity = np.gradient(com, dt, axis=0)
    return JumpPattern(biped, gait, [], line, com, velocity, zmp, q, v, force, phases, 0.5 * gait.gravity * flight)


def _height(gait: Gait, heights: Heights, durations: Durations,
            flight: float) -> tuple[np.ndarray, np.ndarray, dict[str, tuple[float, float]]]:
    """Height of the centre of mass, its height above the soles (n), and the phases."""
    g, dt, v = gait.gravity, gait.sample, 0.5 * gait.gravity * flight
    top, low, off, down = gait.com_height, heights.crouch, heights.take_off, heights.landing
    if not low < off <= top or not down < off:
        raise SceneError("crouch and landing must be below take-off, and that not above com_height", element="jump",
                         value=(low, off, down, top))
    lengths = {"hold": durations.hold, "crouch": durations.crouch, "thrust": 2.2 * (off - low) / v, "flight": flight,
               "absorb": durations.absorb, "rise": durations.rise, "rest": durations.rest}
    counts = {name: max(round(length / dt), 1) for name, length in lengths.items()}
    thrust, absorb, tuck = counts["thrust"] * dt, counts["absorb"] * dt, durations.tuck
    phases, z, above, begin = {}, [], [], 0.0
    for name, count in counts.items():
        t = np.arange(count) * dt
        u = t / (count * dt)
        course = {
            "hold": np.full(count, top), "crouch": top + (low - top) * smooth(u),
            "thrust": quintic(t, thrust, (low, 0.0, 0.0), (off, v, -g)), "flight": off + v * t - 0.5 * g * t * t,
            "absorb": quintic(t, absorb, (off, -v, -g), (down, 0.0, 0.0)), "rise": down + (top - down) * smooth(u),
            "rest": np.full(count, top)}[name]
        z.append(course)
        above.append(course if name != "flight" else np.where(
            t < tuck, quintic(t, tuck, (off, v, -g), (off, 0.0, 0.0)), np.where(
                t > flight - tuck, quintic(t - flight + tuck, tuck, (off, 0.0, 0.0), (off, -v, -g)), off)))
        phases[name] = begin, begin + count * dt
        begin += count * dt
    return np.append(np.concatenate(z), top), np.append(np.concatenate(above), top), phases


def quintic(t: np.ndarray, duration: float, start: tuple[float, float, float],
            end: tuple[float, float, float]) -> np.ndarray:
    """The polynomial of fifth degree from position, velocity, acceleration at 0 to those at `duration`."""
    T, (p0, v0, a0), (p1, v1, a1) = duration, start, end
    c = [p0, v0, 0.5 * a0]
    left = np.array([p1 - p0 - v0 * T - 0.5 * a0 * T * T, v1 - v0 - a0 * T, a1 - a0])
    powers = np.array([[T**3, T**4, T**5], [3 * T**2, 4 * T**3, 5 * T**4], [6 * T, 12 * T**2, 20 * T**3]])
    c += np.linalg.solve(powers, left).tolist()
    return np.asarray(sum(factor * t**n for n, factor in enumerate(c)))


def _timeline(gait: Gait, z: np.ndarray, above: np.ndarray, phases: dict[str, tuple[float, float]]) -> Timeline:
    count = len(z)
    feet = np.zeros((count, 2, 6))
    feet[:, 0, 1], feet[:, 1, 1] = 0.5 * gait.width, -0.5 * gait.width
    time = np.arange(count) * gait.sample
    feet[:, :, 2] = np.where(_within(time, phases["flight"]), z - above, 0.0)[:, None]
    zmp = np.tile([gait.zmp_ahead, 0.0], (count, 1))
    return Timeline(time, zmp, np.full(count, 0.5), np.full(count, BOTH), np.full(count, -1), feet,
                    np.zeros((count, 3)))


def _within(time: np.ndarray, phase: tuple[float, float]) -> np.ndarray:
    return (time >= phase[0] - 1e-9) & (time < phase[1] - 1e-9)


def _motion(biped: Biped, gait: Gait, line: Timeline, com: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities along the tables."""
    model, count = biped.model, len(com)
    q, v = np.empty((count, model.coordinate_count)), np.zeros((count, model.dof_count))
    error, reach = np.empty(count), np.empty(count)
    posture_table(model, biped.data, biped.legs, com, line.base, line.feet, 20, 1e-11, biped.legs.home.copy(),
                  (q, error, reach))
    if reach.max() > 0.0 or not error.max() < 1e-6:
        raise SceneError(f"a leg is too short by {1e3 * max(reach.max(), 0.0):.1f} mm", element="jump",
                         remedy="lower take_off")
    velocity_table(model, q, gait.sample, v)
    return q, v


def quiet_pitch(biped: Biped, gait: Gait, line: Timeline, com: np.ndarray, q: np.ndarray,
                v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pitch of the base, into line.base, that takes the robot's angular momentum about y away; the motion with it.

    theta' -= L_y / I, with I, what the trunk's turning brings at fixed feet and centre of mass, measured from round to
    round (it is a fraction of the robot's inertia: the legs turn the other way).
    """
    model, data, legs, dt = biped.model, biped.data, biped.legs, gait.sample
    spin, inertia = np.empty(len(com)), _pitch_inertia(biped, q[0])
    momentum_table(model, data, legs, q, v, spin)
    for _ in range(ROUNDS):
        rate, before = -spin / inertia, spin.copy()
        line.base[:, 1] += np.concatenate([[0.0], np.cumsum(rate[:-1]) * dt])
        q, v = _motion(biped, gait, line, com)
        momentum_table(model, data, legs, q, v, spin)
        change = float(rate @ rate)
        if change > 0.0:
            inertia = max(float((spin - before) @ rate) / change, 0.05 * inertia)
    return q, v


def _pitch_inertia(biped: Biped, q: np.ndarray) -> float:
    """Inertia of the robot, frozen at q, about the y axis through its centre of mass."""
    model, data, legs, spin = biped.model, biped.data, biped.legs, np.empty(1)
    v = np.zeros((1, model.dof_count))
    v[0, legs.root_dof + 4] = 1.0
    momentum_table(model, data, legs, q[None], v, spin)
    return float(spin[0])


@jit
def momentum_table(model, data, legs, q, v, spin_out):
    """Angular momentum (n) about the y axis through the centre of mass, of a motion q (n, Q), v (n, V)."""
    center, found = legs.point[3], legs.motion
    for k in range(len(q)):
        kinematics(model, data, q[k])
        link_velocities(model, data, v[k])
        center_of_mass(model, data, legs.first_link, legs.last_link, center)
        momentum(model, data, legs.first_link, legs.last_link, center, found)
        spin_out[k] = found[4]


__all__ = ["Durations", "Heights", "JumpPattern", "jump", "quiet_pitch"]
