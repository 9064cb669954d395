"""The per-step report: how well the last step kept physics. One small float array, written by compiled code."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sesshoku.scene.calls import checked

LIGHT = 3e8  # m/s, and rad/s: nothing moves faster, and its square is far from overflow


@checked
@dataclass(frozen=True)
class Report:
    """What the last step did. Fields that a method or scene has no use for are zero.

    residual: largest violation of the constraint or contact law, m/s (rad/s for rolling rows).
    momentum_residual: largest |H (v+ - v_free) - J^T impulse| of a dof, N s (N m s where it turns): does an impulse
    explain every change of velocity? Under `exact` also what momentum and angular momentum of bodies and mechanisms
    that touch each other and nothing else have changed by beyond what forces explain.
    penetration: deepest overlap, m. cone_violation: friction beyond the cone, N.
    energy_change: kinetic energy added by constraint and contact impulses, J (negative: dissipated).
    correction_work: the part of it that depth correction puts in, J: normal impulse times the speed it asks for.
    limit_violation: deepest joint beyond its limit, rad or m. loop_error: largest gap of a loop's anchors, m, or of a
    mimic, rad or m. rows: scalar constraints solved. iterations: passes of the solver. tunnelling: shapes that pass
    through another shape within the step (`stages.tunnelling` says how that is found). converged: the residual met
    the tolerance. overflow: a fixed capacity was too small and contacts were left out.
    constraint_work: impulses of constraints and contacts times the mean of the step's two velocities, J: their share in
    the change of energy from step to step (energy_change is relative to the free motion). applied_work: the same of
    actuators, springs, dampers, pushes, gravity compensation and drag, J (0 in Runge-Kutta schemes and `springs`).
    fast_trees: mechanisms of which a joint turns so far in the step that their momentum is carried
    (`integrate.fast_joints`).
    left_out: what of the scene the method does not know and leaves out in every step, in words.
    """

    residual: float = 0.0
    momentum_residual: float = 0.0
    penetration: float = 0.0
    cone_violation: float = 0.0
    energy_change: float = 0.0
    correction_work: float = 0.0
    limit_violation: float = 0.0
    loop_error: float = 0.0
    rows: int = 0
    iterations: int = 0
    tunnelling: int = 0
    converged: bool = True
    overflow: bool = False
    constraint_work: float = 0.0
    applied_work: float = 0.0
    fast_trees: int = 0
    left_out: tuple[str, ...] = ()

    @classmethod
    def from_array(cls, values: np.ndarray, left_out: tuple[str, ...] = ()) -> Report:
        numbers = {name: kind(value) for name, kind, value in zip(CHANNELS, KINDS, values.tolist())}
        return cls(**numbers, left_out=left_out)


def _numbers(cls: type) -> list[Any]:
    """The fields that compiled code writes."""
    return [field for field in fields(cls) if field.name != "left_out"]


(RESIDUAL, MOMENTUM_RESIDUAL, PENETRATION, CONE_VIOLATION, ENERGY_CHANGE, CORRECTION_WORK, LIMIT_VIOLATION, LOOP_ERROR,
 ROWS, ITERATIONS, TUNNELLING, CONVERGED, OVERFLOW, CONSTRAINT_WORK, APPLIED_WORK,
 FAST_TREES) = range(16)  # places in the array, in the order of Report's fields
CHANNELS = tuple(field.name for field in _numbers(Report))
KINDS: tuple[Any, ...] = tuple({"int": int, "bool": bool, "float": float}[str(field.type)]
                               for field in _numbers(Report))
