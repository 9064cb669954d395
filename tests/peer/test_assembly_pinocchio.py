"""Forward dynamics by assembly against Pinocchio, to 1e-9, on random trees; real robots: test_pinocchio.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pin_trees import PinTree
from sesshoku.dynamics.assembly.assemble import assembly_dynamics
from sesshoku.dynamics.assembly.work import make_assembly, tree_joints
from support import sample_count
from trees import Posed, add_tree, nan, random_scene, relative_error

pytestmark = pytest.mark.peer
pin: Any = pytest.importorskip("pinocchio")
TOLERANCE = 1e-9


def orders(rng: np.random.Generator, joints: int) -> list[Any]:
    return ["leaves", "balanced", "root", rng.permutation(joints)]


@pytest.mark.parametrize("number", range(sample_count(3, 30)))
def test_random_trees(number: int, rng: np.random.Generator) -> None:
    scene = random_scene(rng, trees=1 + number % 2, size=int(rng.integers(7, 14)))
    add_tree(scene, rng, "floating", 13, "free")
    posed = Posed(scene)
    m, d = posed.model, posed.data
    force = rng.normal(size=m.dof_count)
    wanted = PinTree(pin, posed.compiled, d.q, d.v).forward_dynamics(force)
    for order in orders(rng, len(tree_joints(m))):
        found = nan(m.dof_count)
        assert assembly_dynamics(m, d, make_assembly(m, order), d.q, d.v, force, found)
        assert relative_error(found, wanted) < TOLERANCE
