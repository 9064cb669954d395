"""Section 5.4.2 by its table, on random crossings of two cubes: wedges (5.7), ends (5.8), the side rule."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.collision.swept.brep import make_breps
from sesshoku.methods.springs.contact.anchors import GUEST, HOST, NORMAL, attach, edge_cases, near_end, side_of
from sesshoku.methods.springs.options import LITERAL, NEAREST, NO_SIDE
from sesshoku.methods.springs.work import EDGES, SIDE_0, SIDE_1
from sesshoku.scene.compiler import compile_scene
from sesshoku.spatial.rotation import quaternion_to_matrix
from support import sample_count


def two_cubes():
    scene = ss.Scene()
    for name in ("a", "b"):
        scene.add_box(name, size=(1, 1, 1), mass=1.0)
    return make_breps(compile_scene(scene), 0.01)


class Crossing:
    """Two edges of two cubes in random poses, and what the thesis asks of them, by plain vectors."""

    def __init__(self, breps, rng):
        self.breps = breps
        used = np.flatnonzero(breps.edge_used)
        self.e = [int(rng.choice(used[breps.edge_shape[used] == shape])) for shape in range(2)]
        q = rng.normal(size=(2, 4))
        self.rotation = np.array([*(quaternion_to_matrix(x / np.linalg.norm(x)) for x in q), np.eye(3)])
        self.position = np.vstack([rng.uniform(-0.3, 0.3, (2, 3)), np.zeros(3)])
        self.outward = rng.normal(size=3)
        ends = [[self.position[k] + self.rotation[k] @ breps.vertex[v] for v in breps.edge_vertex[self.e[k]]]
                for k in range(2)]
        self.ends = np.array(ends)  # of edge, end, axis
        self.along = self.ends[:, 1] - self.ends[:, 0]
        n = np.cross(*self.along)
        self.n = n / np.linalg.norm(n) * (1.0 if n @ self.outward >= 0.0 else -1.0)  # n_e0; n_e1 is its opposite
        gap = self.ends[1, 0] - self.ends[0, 0]
        s, t, _ = np.linalg.solve(np.array([self.along[0], -self.along[1], self.n]).T, gap)
        self.point = np.array([self.ends[0, 0] + s * self.along[0], self.ends[1, 0] + t * self.along[1]])

    @property
    def poses(self):
        return self.position, self.rotation

    def normals(self, k):
        """Outward normals of the two faces of edge k."""
        return self.breps.face_normal[self.breps.edge_face[self.e[k]]] @ self.rotation[k].T

    def within(self, k):
        """(5.7) by angles: n_e lies between the faces' normals, which are a right angle apart on a cube."""
        first, second = self.normals(k)
        n = self.n if k == 0 else -self.n
        return bool(n @ first >= 0.0 and n @ second >= 0.0)

    def ends_near(self, reach):
        """(5.8): q0' and q1', each with the end meant."""
        found = []
        for k in range(2):
            apart = np.linalg.norm(self.ends[1 - k] - self.point[k], axis=1)
            found.append(int(np.argmin(apart)) if apart.min() <= reach else None)
        return found

    def vertex_normal(self, k, end):
        v = self.breps.edge_vertex[self.e[k], end]
        return self.rotation[k] @ self.breps.vertex_normal[v]

    def expected(self, reach):
        """The tables of section 5.4.2."""
        q = self.within(0), self.within(1)
        if all(q):
            return 1 << EDGES
        if any(q):
            return 1 << (SIDE_1 if q[0] else SIDE_0)
        near = self.ends_near(reach)
        if near[0] is not None and near[1] is not None:
            inward = -self.n, self.n
            first = inward[0] @ self.vertex_normal(1, near[0])
            second = inward[1] @ self.vertex_normal(0, near[1])
            return 1 << (SIDE_0 if first < second else SIDE_1)
        if near[0] is not None:
            return 1 << SIDE_0
        if near[1] is not None:
            return 1 << SIDE_1
        return (1 << SIDE_0) + (1 << SIDE_1)


def test_the_tables_of_crossing_edges(rng):
    """Every row of both tables is met, and the springs are those of the table; "off" keeps true crossings alone."""
    breps, work, met = two_cubes(), np.zeros((9, 3)), set()
    for _ in range(sample_count(4000, 40_000)):
        crossing = Crossing(breps, rng)
        reach = float(rng.choice([0.05, 0.4, 0.8, 2.0]))
        expected = crossing.expected(reach)
        arguments = breps, crossing.poses, tuple(crossing.e), crossing.outward, reach
        assert edge_cases(*arguments, NEAREST, work) == expected
        assert edge_cases(*arguments, NO_SIDE, work) == (expected if expected == 1 << EDGES else 0)
        q = crossing.within(0), crossing.within(1)
        met.add(q if any(q) else (*q, *(end is not None for end in crossing.ends_near(reach))))
    assert len(met) == 3 + 4


def test_near_end_is_the_nearer_of_those_in_reach(rng):
    breps, work = two_cubes(), np.zeros((9, 3))
    answers = set()
    for _ in range(300):
        crossing = Crossing(breps, rng)
        point = crossing.ends[1, int(rng.integers(2))] + rng.normal(scale=0.2, size=3)
        reach = float(rng.uniform(0.05, 1.5))
        apart = np.linalg.norm(crossing.ends[1] - point, axis=1)
        nearest = int(np.argmin(apart))
        expected = int(breps.edge_vertex[crossing.e[1], nearest]) if apart[nearest] <= reach else -1
        assert near_end(breps, *crossing.poses, point, crossing.e[1], reach, work) == expected
        answers.add(expected >= 0)
    assert answers == {True, False}


@pytest.mark.parametrize("literal", [False, True])
def test_the_side_rule_pushes_by_one_face_and_measures_its_depth(literal, rng):
    """The face is that of the nearest normal (or not); depth = |l| n_f . n_e, of the other edge's point."""
    breps, work = two_cubes(), np.zeros((9, 3))
    for _ in range(300):
        crossing = Crossing(breps, rng)
        along = crossing.normals(0) @ crossing.n
        wanted = int(np.argmin(along) if literal else np.argmax(along))
        face = side_of(breps, crossing.rotation, crossing.e[0], crossing.n, 1.0, literal, work)
        assert face == breps.edge_face[crossing.e[0], wanted]
        mode = LITERAL if literal else NEAREST
        depth, host, _, _ = attach(breps, crossing.poses, SIDE_0, tuple(crossing.e), crossing.outward, mode, work)
        assert host == face and work[NORMAL] == pytest.approx(crossing.normals(0)[wanted], abs=1e-12)
        assert work[GUEST] == pytest.approx(crossing.point[1], abs=1e-9)
        l = (crossing.point[0] - crossing.point[1]) @ crossing.n  # along n_e0: how far edge 0 is beyond edge 1
        assert depth == pytest.approx(l * along[wanted], abs=1e-9)
        assert work[HOST] - work[GUEST] == pytest.approx(depth * work[NORMAL], abs=1e-9)
