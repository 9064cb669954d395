"""What of a scene is known to move on a card as on the CPU.

Each part of a scene runs code of its own. What was compared with the CPU on a card, 64 worlds after ten steps, agreed
to 1e-14, but for a scene with an arm and a gripper, which did not: what it has, and whatever has not been compared, is
refused, not stepped wrongly.
"""

from __future__ import annotations

import numpy as np

from sesshoku.model.arrays import (
    FREE,
    POSITION,
    REVOLUTE,
    SHAPE_BOX,
    SHAPE_PLANE,
    SHAPE_SPHERE,
)
from sesshoku.scene.compiler import CompiledScene


def unverified(compiled: CompiledScene) -> list[str]:
    """What of a scene has not been seen to agree, in words."""
    model, scene = compiled.model, compiled.scene
    found = {
        "joints other than free and revolute ones": not np.isin(model.link_joint, (FREE, REVOLUTE)).all(),
        "shapes other than planes, boxes and spheres": not np.isin(
            model.shape_type, (SHAPE_PLANE, SHAPE_BOX, SHAPE_SPHERE)).all(),
        "actuators other than position servos": not (model.actuator_kind == POSITION).all(),
        "mimic joints": model.mimic_count > 0,
        "loops": model.loop_count > 0,
        "tendons": model.tendon_count > 0,
        "joint friction": bool(model.dof_static_friction.any()),
        "springs and dampers of joints": bool(model.dof_stiffness.any() or model.dof_viscous.any()),
        "drag": model.drag_count > 0,
        "rolling friction": model.has_rolling != 0,
        "gravity compensation": model.has_lifted != 0,
        "force sensors and IMUs": bool(scene.sensors or scene.read_in_steps),
    }
    return [what for what, has in found.items() if has]
