"""What an audit judges: a function of the simulation, or a trained policy, by the name it is given on the command line.

`module:function` is called with the simulation before every step. A class, or a function without arguments, is called
for every run and returns such a function. What it has besides is used: `scene` (where no robot is named), `duration`,
`begin(sim)` at the start, `failed(sim)` (a text or True ends the run), `success(sim)` at the end, `score(sim)`, `PEERS`
(simulators besides ours that it can drive). `policy.toml` and `policy.onnx` (with policy.toml beside it) are policies.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.comparison.sweep.file import find_function
from sesshoku.errors import SceneError
from sesshoku.scene.scene import Scene

POLICY_FILES = (".toml", ".onnx", ".npz", ".pt", ".zip")
FALLEN_HEIGHT, FALLEN_TILT = 0.6, 0.8  # of the base's height at the start; rad from its first direction
#: criteria by name
CRITERIA = ("upright", "finished")


def make_controller(name: str, folder: Path | None = None) -> Any:
    """A controller for one run, from the name of a function, class or policy file."""
    path = Path(name)
    if path.suffix.lower() in POLICY_FILES and ":" not in path.name:
        from sesshoku.comparison.audit.policy import load_policy

        return load_policy(path if path.is_absolute() or folder is None else folder / path)
    found = find_function(name, folder, "controller")
    if inspect.isclass(found) or _needs_nothing(found):
        found = found()
        if not callable(found):
            raise SceneError("makes something that cannot be called with a simulation", element="controller",
                             value=name, remedy="return a function of the simulation")
    return found


def _needs_nothing(function: Callable[..., Any]) -> bool:
    """Whether it is a function that makes a controller: it has no arguments that it must be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return not any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
                   for p in parameters)


def base_body(scene: Scene) -> str | None:
    """The free body that carries the most: what falls, and what is pushed."""
    def below(root: str) -> float:
        total, names = 0.0, {root}
        for body in scene.bodies.values():  # parents come first
            if body.name == root or body.parent in names:
                names.add(body.name)
                total += 0.0 if body.inertial is None else body.inertial.mass
        return total

    free = [body.name for body in scene.bodies.values() if body.joint.kind == "free"]
    return max(free, key=below) if free else None


class Criterion:
    """Whether a run succeeds: by the controller's own word, by a function that is named, or by a rule.

    "upright": the base stays above 0.6 of its first height and within 0.8 rad of its first direction. "finished": it
    did not diverge. Without a word: the controller's, else "upright" of what has a free base, else "finished".
    """

    def __init__(self, said: str | None, controller: Any, scene: Scene, folder: Path | None = None) -> None:
        self._own = controller if said is None else None
        self._function: Callable[[Any], Any] | None = None
        self._base = base_body(scene)
        own = any(hasattr(controller, name) for name in ("success", "failed"))
        self.rule = said if said is not None else "" if own else "upright" if self._base is not None else "finished"
        if said is not None and said not in CRITERIA:
            self._function = find_function(said, folder, "success")
        if self.rule == "upright" and self._base is None:
            raise SceneError("nothing of the scene has a free base", element="success", value=self.rule,
                             remedy="name a function: --success module:function")
        self._height, self._up = 0.0, np.zeros(3)

    def begin(self, sim: Any) -> None:
        if self.rule == "upright":
            body = sim.bodies[self._base]
            self._height, self._up = float(body.position[2]), body.rotation_matrix[2]

    def failed(self, sim: Any) -> str | None:
        """Why the run has failed already; looked at now and then."""
        if self.rule == "upright":
            body = sim.bodies[self._base]
            if body.position[2] < FALLEN_HEIGHT * self._height:
                return "fell"
            tilt = float(np.arccos(np.clip(body.rotation_matrix[2] @ self._up, -1.0, 1.0)))
            return "tipped over" if tilt > FALLEN_TILT else None
        own = getattr(self._own, "failed", None)
        found = own(sim) if own is not None else None
        return (found if isinstance(found, str) else "failed") if found else None

    def success(self, sim: Any) -> bool:
        """At the end of a run that has not failed before."""
        judge = self._function if self._function is not None else getattr(self._own, "success", None)
        return True if judge is None else bool(judge(sim))
