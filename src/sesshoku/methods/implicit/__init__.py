"""`implicit`: springs and dampers between touching links, linearly implicit, in O(N) dynamics by assembly and
disassembly (a Japanese paper attributed to K. Yamane and Y. Nakamura; most of its digits and equations are lost).

A contact is one more joint: six degrees of freedom, no constraint, driven by the wrench of a spring and damper. Its
wrench at the end of the step is linearised (backward Euler), which makes it affine in the relative acceleration of its
two links; such a joint is assembled with the others. No complementarity problem, no optimisation: a fixed number of
small solves. Penetration is the force law: depth = load / stiffness.

equation -> function (the print of (1)-(3) is lost: derived anew)
    (1)        explicit Euler                                 integrate.euler.finish_euler, explicit.contact_force
    (2)        backward Euler                                 solve.update_contact
    (3)        the same linearised, contacts                  law.contact_terms, dynamics.assembly.laws.contact_law
    (3)        and drives  dynamics.actuation.passive_forces, dynamics.actuation.wanted_force
    (4)        q'' = r_p - r_c + P tau  dynamics.assembly.parts.join, dynamics.assembly.vectors.relative_acceleration
    section 3  assembly, disassembly                          dynamics.assembly: assemble (any order), tree
               several contacts                               assembled: `coupling`; each alone: `frozen`
    section 4  explicit Euler, Runge-Kutta                    `explicit`

Deviations from the paper, which is silent on all of it. Wrench on the child, child minus parent. Contact points of two
links add up before the solve. Contacts with the world are assembled first, where they act: they add to the inertia of
their link, and the tree stays O(N). Friction: a resting point is held to an anchor by a spring and damper, a sliding
one by a damper capped at mu_k times the normal force, which can stop but not reverse it; states are settled in passes
(`solve`). Points never pull. Loops are closed exactly (`loops`). Mimics, limits and Coulomb friction of joints are
implicit laws RIGID times stiffer than the inertia they meet. J' v enters at points that are fixed on a link. A lone
free body turns on by `rotor`. Stiffness and damping come from materials; without, from an allowed depth and the
restitution (`elastic`). Defaults: slip_speed 1e-3 m/s, 6 passes, 1 % of the friction dampers.
"""

from __future__ import annotations

from sesshoku.compiled.stepping import Stages
from sesshoku.methods.definition import Definition
from sesshoku.methods.features import rolling_friction
from sesshoku.methods.implicit import usual
from sesshoku.methods.implicit.elastic import damping_ratio_of, restitution_of, spring_and_damper
from sesshoku.methods.implicit.options import PRESETS, Options, is_usual
from sesshoku.methods.implicit.work import Work, make_work
from sesshoku.methods.registry import register
from sesshoku.methods.tendon_features import tendon_rows
from sesshoku.scene.compiler import CompiledScene


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: friction against turning, limits and friction of tendons."""
    return rolling_friction(compiled) + tendon_rows(compiled)


def stages(options: Options) -> Stages:
    """The usual step; other integrators, couplings and schedules are compiled only when they are asked for."""
    if is_usual(options):
        return usual.STAGES
    from sesshoku.methods.implicit import variants

    return variants.RUNGE_KUTTA_STAGES if options.integrator == "rk4" else variants.STAGES


METHOD = Definition(
    __name__, Options, Work, make_work, stages, presets=PRESETS, leaves_out=leaves_out,
    ends_within=lambda options: options.integrator == "rk4",
    on_gpu=False,  # what it did on a card did not agree with the CPU
    follows_model=("default_elastic", "tree_mass", "tree_inertia", "dof_inertia"),
    guarantees={
        # of the end of the step: friction dampers are renewed until they change by less than the tolerance
        "friction_bound": lambda options: 1.0 + 2.0 * options.friction_tolerance,
        # springs give back what they take
        "passive": lambda options: False,
        "elastic": lambda options: True,
        "books": lambda options: options.integrator != "rk4",
    })
register(__name__)

__all__ = ["METHOD", "Options", "damping_ratio_of", "restitution_of", "spring_and_damper"]
