"""A sample of the scenes that `make soak` runs without end (tests/soak.py), also with bounds checks."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.methods.registry import keywords
from soak import examine
from support import SEED, sample_count
from wild_scenes import wild_scene

METHODS = [keyword for keyword in keywords() if keyword != "none"]


@pytest.mark.boundscheck
@pytest.mark.parametrize("method", METHODS)
def test_wild_scenes_break_nothing(method: str) -> None:
    for n in range(sample_count(6, 200)):
        result = examine(method, 10_000 * SEED + n, 60)
        assert result["found"] is None, (method, 10_000 * SEED + n, result["found"])


def test_scenes_repeat_and_are_of_every_kind() -> None:
    seen: set[str] = set()
    for seed in range(200):
        wild = wild_scene(seed)
        seen |= {body.joint.kind for body in wild.scene.bodies.values()}
        seen |= {type(shape.shape).__name__ for body in wild.scene.bodies.values() for shape in body.geometries}
        seen |= {kind for kind, some in (("loop", wild.scene.loops), ("mimic", wild.scene.mimics),
                                         ("servo", wild.scene.actuators)) if some}
        again = wild_scene(seed)
        assert again.dt == wild.dt and list(again.scene.bodies) == list(wild.scene.bodies)
        for name, body in wild.scene.bodies.items():
            assert np.array_equal(body.position, again.scene.bodies[name].position)
    wanted = {"free", "revolute", "continuous", "prismatic", "spherical", "loop", "mimic", "servo", "HeightField",
              "Box", "Sphere", "Capsule", "Cylinder", "Ellipsoid", "Mesh", "ConvexMesh"}
    assert wanted <= seen, wanted - seen
