"""`implicit`: springs and dampers between touching links, linearly implicit, in O(N) dynamics by assembly and
disassembly (a Japanese paper attributed to K. Yamane and Y. Nakamura; most of its digits and equations are lost).

A contact is one more joint: six degrees of freedom, no constraint, driven by the wrench of a spring and damper. Its
wrench at the end of the step is linearised (backward Euler), which makes it affine in the relative acceleration of its
two links; such a joint is assembled with the others. No complementarity problem, no optimisation: a fixed number of
small solves. Penetration is the force law: depth = load / stiffness.

equation -> function
    (1)-(3)   linearised backward Euler                    `law` (contacts, joint laws), dynamics.actuation (drives)
    (4)       q'' = r_p - r_c + P tau, signs lost          dynamics.assembly_parts, assembly_vectors
    section 3 assembly, disassembly                        dynamics.assembly (any order), assembly_tree (leaves to root)
              contact joint, only its wrench differentiated  `law.contact_terms`; W, h: assembly_laws.contact_law
              several contacts                             assembled: `coupling`; each alone: `frozen`
    section 4 explicit Euler, Runge-Kutta                  `explicit`

Deviations from the paper, which is silent on all of it. Wrench on the child, child minus parent. Contact points of two
links add up before the solve. Contacts with the world are assembled first, where they act: they add to the inertia of
their link, and the tree stays O(N). Friction: a resting point is held to an anchor by a spring and damper, a sliding
one by a damper capped at mu_k times the normal force, which can stop but not reverse it; states are settled in passes
(`passes`). Points never pull. Loops, mimics, limits and Coulomb friction of joints are implicit laws RIGID times
stiffer than the inertia they meet. A lone free body turns on by `rotor`. Stiffness and damping come from materials;
without, from an allowed depth and the restitution (`elastic`). Defaults: slip_speed 1e-3 m/s, 6 passes, 1 % of the
friction dampers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.contacts import make_contacts
from sesshoku.collision.points.detect import CONTACT_STATE, CONTACT_VIEW, contact_capacity, pair_capacity
from sesshoku.compiled.table import Record
from sesshoku.errors import MethodError
from sesshoku.methods.features import turning_friction
from sesshoku.methods.implicit import usual
from sesshoku.methods.implicit.elastic import damping_ratio_of, restitution_of, spring_and_damper
from sesshoku.methods.implicit.options import PRESETS, VARIANT, Options, parameters
from sesshoku.methods.implicit.work import make_memory
from sesshoku.methods.registry import register
from sesshoku.methods.tendon_features import tendon_rows
from sesshoku.scene.compiler import CompiledScene

STATE = {
    "contacts": CONTACT_STATE + CONTACT_VIEW,
    "memory": ("old_stretch", "old_on"),
}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Contacts, memory and the assembly's work space, in the order `run` takes them."""
    model = compiled.model
    joined = bool(model.loop_count or model.mimic_count)
    if options.coupling == "frozen" and joined:
        raise MethodError("coupling 'frozen' cannot carry loops and mimics", element="method 'implicit'",
                          remedy="use coupling='assembled'")
    if options.integrator == "rk4" and (joined or len(model.limited_dofs) or len(model.rubbing_dofs)):
        raise MethodError("integrator 'rk4' cannot carry joint limits, joint friction, loops and mimics",
                          element="method 'implicit'", remedy="use integrator='implicit'")
    contacts = make_contacts(model, contact_capacity(model), pair_capacity(model))
    memory, assembly = make_memory(compiled, contacts, options)
    return {"contacts": contacts, "memory": memory, "assembly": assembly}


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: none."""
    return []


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: friction against turning, limits and friction of tendons."""
    return turning_friction(compiled) + tendon_rows(compiled)


#: what the contract suite may hold the method to
GUARANTEES = {
    # of the end of the step: friction dampers are renewed until they change by less than the tolerance
    "friction_bound": lambda options: 1.0 + 2.0 * options.friction_tolerance,
    # springs give back what they take
    "passive": lambda options: False,
    "elastic": lambda options: True,
    "books": lambda options: options.integrator != "rk4",
}

register(__name__)


def run(model_table: Any, data_table: Any, contact_table: Any, memory_table: Any, assembly_table: Any,
        options: np.ndarray, dt: float, steps: int) -> int:
    """Advance `steps` steps; returns how many were done before the state stopped being finite.

    Other integrators, couplings and schedules are compiled only when they are asked for.
    """
    if options[VARIANT] == 0.0:
        return int(usual.run(model_table, data_table, contact_table, memory_table, options, dt, steps))
    from sesshoku.methods.implicit import variants

    return int(variants.run(model_table, data_table, contact_table, memory_table, assembly_table, options, dt, steps))


LINKED = usual.run
step, stage_nothing = usual.step, usual.stage_nothing


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function of all records, options and dt, in the order of `step`."""
    if parameters(options)[VARIANT] == 0.0:
        accelerate, apply, advance = usual.stage_solve, usual.stage_apply, usual.stage_advance
    else:
        from sesshoku.methods.implicit import variants

        accelerate, apply, advance = variants.stage_solve, variants.stage_apply, variants.stage_advance
    return {"kinematics": usual.stage_kinematics, "detect": usual.stage_detect, "drives": usual.stage_forces,
            "prepare": usual.stage_prepare, "assemble, settle": accelerate, "apply forces": apply, "advance": advance}


__all__ = ["PRESETS", "STATE", "Options", "damping_ratio_of", "make_records", "parameters", "restitution_of", "run",
           "spring_and_damper", "stages", "step", "supports"]
