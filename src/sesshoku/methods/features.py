"""Features of a scene that some contact laws do not know, in words: what `leaves_out` of a method is made of.

Each function gives a sentence's part such as "rolling friction of ball and floor", in a list that is empty where the
scene has no such thing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.filters import pair_frames

SHOWN = 3  # names in a sentence


def rolling_friction(compiled: CompiledScene) -> list[str]:
    """Torsional and rolling friction of materials and pairs."""
    model = compiled.model
    kinds = {"torsional": 0, "rolling": 1}
    bodies = {kind: _of_shapes(compiled, model.shape_rolling[:, k]) | _of_pairs(compiled, model.pair_rolling[:, k])
              for kind, k in kinds.items()}
    if bodies["torsional"] == bodies["rolling"]:
        return sentence("torsional and rolling friction", bodies["rolling"])
    return [text for kind, found in bodies.items() for text in sentence(f"{kind} friction", found)]


def restitution(compiled: CompiledScene) -> list[str]:
    """Restitution of materials and pairs."""
    model = compiled.model
    return sentence("restitution", _of_shapes(compiled, model.shape_material[:, 2])
                 | _of_pairs(compiled, model.pair_material[:, 2]))


def borne_efforts(compiled: CompiledScene) -> list[str]:
    """Efforts of joints that limit the gravity compensation their actuators bear."""
    model = compiled.model
    limited = (model.dof_lifted != 0) & np.isfinite(model.dof_effort).any(axis=1) & bool(model.link_lift[:, 0].any())
    return sentence("efforts that limit gravity compensation",
                    {str(compiled.joint_names[model.dof_link[k]]) for k in np.flatnonzero(limited)})


def _of_shapes(compiled: CompiledScene, values: np.ndarray) -> set[str]:
    """Bodies of the shapes whose value is not zero."""
    names, frames = compiled.frame_names, compiled.model.shape_frame
    return {str(names[frames[g]]) for g in np.flatnonzero(values > 0.0)}


def _of_pairs(compiled: CompiledScene, values: np.ndarray) -> set[str]:
    """Bodies of the pairs with a material of their own whose value is not zero."""
    model, names = compiled.model, compiled.frame_names
    given = np.flatnonzero((values > 0.0) & (model.pair_material[:, 0] >= 0.0))
    return {str(names[frame]) for place in given for frame in pair_frames(model, int(place))}


def sentence(what: str, bodies: Iterable[str]) -> list[str]:
    """["what of a, b, c and 3 more"], empty where there are no bodies."""
    names = sorted(bodies)
    if not names:
        return []
    shown = names[:SHOWN] + ([f"{len(names) - SHOWN} more"] if len(names) > SHOWN else [])
    return [f"{what} of {', '.join(shown[:-1])}{' and ' if len(shown) > 1 else ''}{shown[-1]}"]
