"""Control of humanoids on their servos: foot steps, walking patterns, stabiliser.

In: a robot, what it shall do, and what its sensors read. Out: targets of its servos, step by step.

    from sesshoku import control

    biped = control.Biped(scene, control.HUMANOID)                      # or a LegMap of your robot
    pattern = control.walk(biped, control.footsteps.forward(8, 0.2), control.humanoids.LARGE)
    walker = control.Walker(pattern, stabiliser=True)
    sim = Simulation(scene)
    walker.place(sim)
    sim.run(pattern.duration, controller=walker)

One algorithm per file: `footsteps` (planner), `swing` (feet in the air), `preview` (centre of mass by ZMP preview
control), `leg_angles` and `posture` (inverse kinematics), `feed_forward` (inverse dynamics), `measure` (ZMP from
contact forces), `onboard` (forces and orientation from the robot's own sensors), `balance` and `stabiliser` (ankle and
body feedback), `step_adjustment` (feet put elsewhere, sooner, after a push), `walker` (the controller), `gait_log`
(what a walk did), `watched_walk` (a walk for `compare`), `jump` (crouch, thrust, flight, landing), `fall` (leaning over
an edge, limp or damped joints), `servos` (gains for a robot that has none).
"""

from __future__ import annotations

from sesshoku.control import humanoids
from sesshoku.control.biped import HUMANOID, Biped, LegMap
from sesshoku.control.fall import lean, limp
from sesshoku.control.jump import JumpPattern, jump
from sesshoku.control.measure import foot_wrenches, zmp
from sesshoku.control.servos import add_servos
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.gait import Gait
from sesshoku.control.walking.gait_log import GaitLog, record_walk
from sesshoku.control.walking.pattern import Pattern, walk
from sesshoku.control.walking.stabiliser import Gains, Stabiliser
from sesshoku.control.walking.step_adjustment import Adjustment, StepAdjustment
from sesshoku.control.walking.walker import Walker
from sesshoku.control.walking.watched_walk import WatchedWalk

__all__ = ["HUMANOID", "Adjustment", "Biped", "Gains", "Gait", "GaitLog", "JumpPattern", "LegMap", "Pattern",
           "Stabiliser", "StepAdjustment", "Walker", "WatchedWalk", "add_servos", "foot_wrenches", "footsteps",
           "humanoids", "jump", "lean", "limp", "record_walk", "walk", "zmp"]
