"""Why a step did not converge: bodies so deep inside each other that their contacts contradict each other.

What is deeper in a shape than that is thick leaves it by the other side, and of several shapes of a robot one may leave
upwards through a table and the next downwards through the floor: no velocity does what all contacts ask for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.model.arrays import SHAPE_PLANE
from sesshoku.scene.compiler import CompiledScene

SHARE = 0.25  # of the thinner shape's least thickness: deeper overlaps count


class DeepOverlap(UserWarning):
    """Bodies so deep inside each other that their contacts are not found, or contradict each other."""


def deep_overlap(compiled: CompiledScene, contacts: Any) -> DeepOverlap | None:
    """What to say of the present contacts, the deepest pair by name; None where no overlap is deep."""
    model, count = compiled.model, int(contacts.counts[CONTACTS])
    thickness = 2.0 * model.shape_box[:, 1].min(axis=1, initial=np.inf)
    thickness[model.shape_type == SHAPE_PLANE] = np.inf  # it has one side only, and one way out
    shapes, depth = contacts.shape[:count], -contacts.gap[:count]
    deep = depth > SHARE * thickness[shapes].min(axis=1, initial=np.inf)
    if not deep.any():
        return None
    pairs = {tuple(sorted(int(model.shape_frame[shape]) for shape in pair)) for pair in shapes[deep]}
    worst = int(np.argmax(np.where(deep, depth, -np.inf)))
    one, other = (compiled.frame_names[model.shape_frame[shape]] for shape in shapes[worst])
    more = f" (so are {len(pairs) - 1} more pairs)" if len(pairs) > 1 else ""
    return DeepOverlap(
        f"bodies {one!r} and {other!r} are {depth[worst]:.3g} m deep inside each other{more}: their contacts push them "
        f"apart in directions that contradict each other, and steps do not converge before they are out; start them "
        f"elsewhere (position, pose or keyframe), or keep them from touching with exclude_collision")
