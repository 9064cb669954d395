"""Closed answers of the thesis's parts: oscillator, hanging rod, wedge rule, contact sets, couples, limits, tilt."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.collision.swept.brep import make_breps
from sesshoku.experiments.springs.block import block_scene, method
from sesshoku.methods.registry import make
from sesshoku.methods.springs.contact.anchors import GUEST, HOST, NORMAL, attach, edge_cases, in_wedge
from sesshoku.methods.springs.joint.drives import push_dof
from sesshoku.methods.springs.stability import largest_step
from sesshoku.methods.springs.work import EDGES, SIDE_0, VERTEX_FACE
from sesshoku.scene.compiler import compile_scene
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix
from support import SEED, sample_count

G = 9.8
X, Y, Z = np.eye(3)


def mass_on_a_spring(k, damping=0.0, dt=0.01, mass=1.0, start=0.1):
    """A small cube tied to the origin by a ball loop's spring of stiffness k, pulled aside; no gravity."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("mass", size=(0.1, 0.1, 0.1), mass=mass)
    scene.add_loop("ball", "mass", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnstableStep)
        options = {"joint_stiffness": k, "joint_damping": damping, "joint_limit": 1e6}
        sim = ss.Simulation(scene, make("springs", options), dt)
    sim.bodies["mass"].set_pose((start, 0, 0), (1, 0, 0, 0))
    return sim


def test_undamped_spring_has_its_period_of_six_steps():
    """k dt^2 / m = 1: cos theta = 1/2."""
    sim = mass_on_a_spring(1e4)
    places = []
    for _ in range(24):
        sim.step()
        places.append(sim.bodies["mass"].position[0])
    assert places[:18] == pytest.approx(places[6:], abs=1e-12)
    assert places[2] != pytest.approx(places[0])


@pytest.mark.parametrize(("number", "bounded"), [(3.99, True), (4.01, False)])
def test_undamped_bound(number, bounded):
    assert stays_within(10.0, mass_on_a_spring(number * 1e4), 400) is bounded


def stays_within(reach, sim, steps):
    """Whether the mass stays near; a run may end for its energy before it is far away."""
    try:
        sim.step(steps)
    except ss.SimulationDiverged:
        return False
    return bool(np.abs(sim.q[:3]).max() < reach)


def test_damped_bound():
    """dt < (-c + sqrt(c^2 + 4 k m)) / k, to one per cent."""
    k, c, m = 1e3, 40.0, 1.0
    most = largest_step(k / m, c / k)
    assert most == pytest.approx((-c + np.sqrt(c * c + 4 * k * m)) / k)
    for factor, bounded in ((0.99, True), (1.01, False)):
        assert stays_within(1.0, mass_on_a_spring(k, c, factor * most), 1500) is bounded


def test_too_long_a_step_is_warned_of():
    for dt, warned in ((0.02, False), (0.025, True)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ss.Simulation(block_scene(), method(), dt)
        assert any(w.category is ss.UnstableStep and "block" in str(w.message) for w in said) is warned


@pytest.mark.parametrize("k", [50.0, 1000.0])
def test_hanging_mass_stretches_to_weight_or_limit(k):
    """min(m g / k, w)."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_box("mass", size=(0.1, 0.1, 0.1), mass=1.0)
    scene.add_loop("ball", "mass", None)
    options = {"joint_stiffness": k, "joint_damping": 10.0, "joint_limit": 0.05}
    sim = ss.Simulation(scene, make("springs", options), 0.01)
    sim.step(2000)
    expected = min(G / k, 0.05)
    assert expected * (1 - 1e-3) <= -sim.bodies["mass"].position[2] <= expected * 1.011
    assert sim.report.loop_error == pytest.approx(-sim.bodies["mass"].position[2], abs=1e-9)


# ---- anchors --------------------------------------------------------------------------------------------------------


def cube_breps(second=None):
    """A unit cube (body 0), and another (body 1) or none, as polyhedra; the world is last."""
    scene = ss.Scene()
    scene.add_box("a", size=(1, 1, 1), mass=1.0)
    if second is not None:
        scene.add_box("b", size=(1, 1, 1), mass=1.0, position=second)
    compiled = compile_scene(scene)
    return make_breps(compiled, 0.01), compiled


@pytest.mark.nojit
def test_wedge_of_a_cubes_edge():
    """(5.7) at the edge between +x and +z: directions between the two normals belong to it, others don't."""
    breps, _ = cube_breps()
    rotation, work = np.tile(np.eye(3), (2, 1, 1)), np.zeros((8, 3))
    normals = breps.face_normal[breps.edge_face]
    e = int(next(e for e in range(breps.edge_count) if breps.edge_used[e]
                 and {tuple(np.round(n).astype(int)) for n in normals[e]} == {(1, 0, 0), (0, 0, 1)}))
    along = breps.vertex[breps.edge_vertex[e, 1]] - breps.vertex[breps.edge_vertex[e, 0]]
    for degrees, inside in ((10, True), (45, True), (80, True), (-10, False), (100, False), (225, False)):
        n = np.cos(np.radians(degrees)) * X + np.sin(np.radians(degrees)) * Z
        assert bool(in_wedge(breps, rotation, e, along, n, 1.0, work)) is inside


def test_a_concave_edge_has_no_wedge():
    scene = ss.Scene()
    corner = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)  # an L
    vertices = np.vstack([np.column_stack([corner, np.full(6, z)]) for z in (0.0, 1.0)])
    faces = [(0, 3, 1), (1, 3, 2), (0, 5, 3), (3, 5, 4)]
    faces += [(a + 6, c + 6, b + 6) for a, b, c in faces]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    scene.add_mesh("L", vertices, faces=faces, mass=1.0)
    breps = make_breps(compile_scene(scene), 0.01)
    concave = np.flatnonzero(breps.edge_concave & breps.edge_used)
    assert len(concave) == 1
    e, work, rotation = int(concave[0]), np.zeros((8, 3)), np.tile(np.eye(3), (2, 1, 1))
    along = breps.vertex[breps.edge_vertex[e, 1]] - breps.vertex[breps.edge_vertex[e, 0]]
    for degrees in range(0, 360, 15):
        n = np.cos(np.radians(degrees)) * X + np.sin(np.radians(degrees)) * Y
        assert not in_wedge(breps, rotation, e, along, n, 1.0, work)


def test_vertex_on_face():
    """(5.3): the host point is the foot of the vertex, the depth its distance below the face."""
    breps, _ = cube_breps((0, 0, 0))
    position = np.array([[0, 0, 0], [0.2, 0.1, 0.98], [0, 0, 0]], dtype=float)
    rotation, work = np.tile(np.eye(3), (3, 1, 1)), np.zeros((8, 3))
    rotation[1] = quaternion_to_matrix(axis_angle(np.array([0, 0, 1.0]), 0.3))
    v = int(np.flatnonzero((breps.vertex_shape == 1) & (breps.vertex[:, 2] < 0))[0])
    f = int(np.flatnonzero((breps.face_shape == 0) & (breps.face_normal[:, 2] > 0.9))[0])
    depth, face, _, _ = attach(breps, (position, rotation), VERTEX_FACE, (v, f), Z, 0, work)
    assert depth == pytest.approx(0.02) and face == f
    assert work[HOST] - work[GUEST] == pytest.approx([0, 0, 0.02]) and work[NORMAL] == pytest.approx(Z)


def test_crossed_edges_and_the_side_rule():
    """Two cubes meeting in crossed edges: one spring along e0 x e1. Outside the wedge a face pushes by its normal."""
    breps, _ = cube_breps((0, 0, 0))
    rotation, work = np.tile(np.eye(3), (3, 1, 1)), np.zeros((8, 3))
    lift = np.sqrt(0.5)
    rotation[0] = quaternion_to_matrix(axis_angle(X, np.pi / 4))  # an edge along x on top
    rotation[1] = quaternion_to_matrix(axis_angle(Y, np.pi / 4))  # an edge along y below
    position = np.array([[0, 0, 0], [0, 0, 2 * lift - 0.02], [0, 0, 0]])

    def edge(shape, up, axis):
        middle = breps.vertex[breps.edge_vertex].mean(axis=1) @ rotation[shape].T
        along = (breps.vertex[breps.edge_vertex[:, 1]] - breps.vertex[breps.edge_vertex[:, 0]]) @ rotation[shape].T
        chosen = (breps.edge_shape == shape) & (up * middle[:, 2] > 0.7) & (np.abs(along @ axis) > 0.9)
        return int(np.flatnonzero(chosen & (breps.edge_used > 0))[0])

    e0, e1 = edge(0, 1.0, X), edge(1, -1.0, Y)
    assert edge_cases(breps, (position, rotation), (e0, e1), Z, 0.1, 0, work) == 1 << EDGES
    depth, _, s, t = attach(breps, (position, rotation), EDGES, (e0, e1), Z, 0, work)
    assert depth == pytest.approx(0.02) and (s, t) == pytest.approx((0.5, 0.5))
    assert work[NORMAL] == pytest.approx(-Z)  # of the host e1, for the guest e0
    # the same crossing seen as a side of edge 0: depth |l| n_f . n_e0, along the face's normal
    depth, face, _, _ = attach(breps, (position, rotation), SIDE_0, (e0, e1), Z, 0, work)
    normal = rotation[0] @ breps.face_normal[face]
    assert work[NORMAL] == pytest.approx(normal) and depth == pytest.approx(0.02 * normal[2])


def test_contact_sets():
    """Cube on a slab: 4 springs up. Overhanging it: 2 and 2, all up. Against its side: all along x."""
    def springs_at(position, yaw=0.0):
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_box("slab", size=(4, 4, 1), position=(0, 0, -0.5), fixed=True)
        scene.add_box("cube", size=(1, 1, 1), mass=1.0, position=position, rotation=axis_angle(Z, yaw))
        sim = ss.Simulation(scene, make("springs", {"limit": 0.05}), 1e-4)
        sim.step()
        return np.array([c.normal if c.bodies[0] == "slab" else -c.normal for c in sim.contacts])

    for yaw in (0.0, 0.3):
        assert springs_at((0, 0, 0.49), yaw) == pytest.approx(np.tile(Z, (4, 1)), abs=1e-6)
        assert springs_at((1.9, 0.1, 0.49), yaw) == pytest.approx(np.tile(Z, (4, 1)), abs=1e-6)
    assert springs_at((2.49, 0.1, 0.3)) == pytest.approx(np.tile(X, (4, 1)), abs=1e-6)


def test_inner_diagonals_do_not_stumble():
    """merge_coplanar=False: edges inside the slab's flat face cross the cube's, and still push it upward only."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_box("slab", size=(4, 4, 1), position=(0, 0, -0.5), fixed=True, material=ss.Material(0.0))
    scene.add_box("cube", size=(1, 1, 1), mass=1.0, position=(-0.6, -0.55, 0.499), velocity=(2, 1.9, 0),
                  material=ss.Material(0.0))
    sim = ss.Simulation(scene, make("springs", {"limit": 0.05, "merge_coplanar": False}), 1e-3)
    crossings = 0
    for _ in range(300):
        sim.step()
        crossings += len(sim.contacts) > 4
        for contact in sim.contacts:
            assert np.abs(contact.force[:2]).max() <= 1e-9 * max(1.0, contact.force[2])
    assert crossings > 0 and sim.bodies["cube"].velocity[:2] == pytest.approx([2, 1.9], abs=1e-9)


def overlap(frames, directions, shift):
    """Least depth of two turned unit cubes, the second shifted, along some directions."""
    corners, depths = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T, []
    for d in directions:
        a, b = corners @ frames[0].T @ d, corners @ frames[1].T @ d + shift @ d
        depths.append(min(a.max() - b.min(), b.max() - a.min()))
    return min(depths)


@pytest.mark.parametrize("keyword", ["springs", "springs:recommended"])
def test_shallow_pairs_of_cubes_are_found_and_parted(keyword):
    """Random pairs of cubes that overlap by 2 cm: a contact is always found, its force always parts them."""
    rng = np.random.default_rng(SEED)
    how = make(keyword, {"limit": 0.08})
    for _ in range(sample_count(25, 400)):
        turns = rng.normal(size=(2, 4))
        turns /= np.linalg.norm(turns, axis=1)[:, None]
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        # depth along every separating direction: the least overlap decides
        frames = [quaternion_to_matrix(turn) for turn in turns]
        directions = [*frames[0].T, *frames[1].T] + [np.cross(a, b) for a in frames[0].T for b in frames[1].T]
        directions = [d / np.linalg.norm(d) for d in directions if np.linalg.norm(d) > 1e-6]

        low, high = 0.0, 3.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if overlap(frames, directions, middle * axis) > 0.02 else (low, middle)
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_box("a", size=(1, 1, 1), mass=1.0, rotation=turns[0], material=ss.Material(0.0))
        scene.add_box("b", size=(1, 1, 1), mass=1.0, rotation=turns[1], position=low * axis, material=ss.Material(0.0))
        sim = ss.Simulation(scene, how, 1e-3)
        sim.step()
        assert len(sim.contacts) > 0
        apart = sim.bodies["b"].velocity - sim.bodies["a"].velocity
        assert apart @ axis > 0.0


# ---- joints ---------------------------------------------------------------------------------------------------------


def arm(**joint):
    scene = ss.Scene(gravity=(0, 0, 0))
    inertia = np.diag([0.4, 0.4, 0.1])
    scene.add_body("base", joint=ss.Joint("free"), inertial=ss.Inertial(2.0, (0, 0, 0), inertia))
    scene.add_body("arm", parent="base", position=(0, 0, 0.3), joint=ss.Joint("revolute", axis=(0, 1, 0), **joint),
                   inertial=ss.Inertial(1.0, (0, 0, 0.5), inertia))
    return scene


def test_a_joints_torque_is_a_couple():
    """Forces add up to nothing, moments to +-tau n."""
    sim = ss.Simulation(arm(), "springs", 1e-3)
    sim.step()
    bodies = sim.work.bodies
    bodies.force[:] = 0.0
    push_dof(sim.model, bodies, 1, 0, 0.7)
    assert bodies.force[:2, :3] == pytest.approx(np.zeros((2, 3)))
    assert bodies.force[1, 3:] == pytest.approx([0, 0.7, 0], abs=1e-9)
    assert bodies.force[0, 3:] == pytest.approx([0, -0.7, 0], abs=1e-9)


def test_angle_goes_on_beyond_pi():
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", joint=ss.Joint("revolute", axis=(0, 0.6, 0.8), velocity=[7.0]),
                   inertial=ss.Inertial(1.0, (0, 0, 0), 0.2 * np.eye(3)))
    sim = ss.Simulation(scene, "springs", 1e-3)
    sim.step(2000)
    assert sim.joints["wheel"].position == pytest.approx(14.0, rel=1e-6)


def test_a_limit_holds_with_two_k_r_squared():
    """A torque beyond the limit turns the joint by tau / (2 k r^2); leaving it costs nothing."""
    k, r, tau = 1e4, 0.2, 4.0
    scene = arm(lower=-1.0, upper=0.5, position=[0.5])
    scene.add_loop("weld", "base", None)
    scene.add_actuator("arm", "torque", target=tau)
    how = make("springs", {"joint_stiffness": k, "joint_damping": 30.0, "joint_width": r, "joint_limit": 0.1,
                           "static_damping": "isotropic"})
    sim = ss.Simulation(scene, how, 1e-3)
    sim.step(3000)
    assert sim.joints["arm"].position - 0.5 == pytest.approx(tau / (2 * k * r * r), rel=0.05)
    sim.actuators["arm"].target = -tau
    sim.step(300)
    assert sim.joints["arm"].position < 0.4


@pytest.mark.parametrize("keyword", ["springs", "springs:recommended"])
def test_a_stop_keeps_a_fast_joint_within_its_limit(keyword):
    """Beyond the limit by no more than the springs' limit over their arm."""
    scene = arm(lower=-1.0, upper=0.5, velocity=[20.0])
    sim = ss.Simulation(scene, make(keyword, {"joint_width": 0.2, "joint_limit": 0.004}), 1e-3)
    worst = 0.0
    for _ in range(400):
        sim.step()
        worst = max(worst, sim.joints["arm"].position - 0.5)
    assert worst < 1.3 * 0.004 / 0.2


def test_joint_friction_brings_to_rest_and_holds():
    """Kinetic: constant deceleration tau / I. Static: a smaller torque does not move it, a larger one does."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", joint=ss.Joint("revolute", axis=(0, 0, 1), static_friction=0.3, velocity=[2.0]),
                   inertial=ss.Inertial(1.0, (0, 0, 0), np.diag([0.2, 0.2, 0.3])))
    scene.add_actuator("wheel", "torque")
    sim = ss.Simulation(scene, "springs", 1e-3)
    sim.step(1000)
    assert sim.joints["wheel"].velocity == pytest.approx(1.0, abs=2e-3)
    sim.step(1500)
    place = sim.joints["wheel"].position
    assert place == pytest.approx(2.0, abs=0.01) and abs(sim.joints["wheel"].velocity) < 1e-2
    sim.actuators["wheel"].target = 0.25
    sim.step(1000)
    assert sim.joints["wheel"].position == pytest.approx(place, abs=0.01)
    sim.actuators["wheel"].target = 0.5
    sim.step(1000)
    assert sim.joints["wheel"].position > place + 0.2


# ---- friction -------------------------------------------------------------------------------------------------------


def slope(keyword, tangent, rise=0.0):
    """Places and speeds over 2 s of a block on a slope whose pull grows over `rise` seconds."""
    angle, dt = np.arctan(tangent), 2e-3
    scene = ss.Scene(gravity=(0, 0, -G * np.cos(angle)))
    scene.add_ground(material=ss.Material(0.5))
    scene.add_box("block", size=(2, 2, 0.2), mass=1.0, position=(0, 0, 0.1), material=ss.Material(0.5))
    sim = ss.Simulation(scene, keyword, dt)
    rows = []
    for _ in range(1000):
        pull = G * np.sin(angle) * (min(1.0, sim.time / rise) if rise > 0.0 else 1.0)
        sim.apply_force("block", (pull, 0, 0))
        sim.step()
        rows.append((sim.bodies["block"].position[0], sim.bodies["block"].velocity[0]))
    return np.array(rows)


@pytest.mark.parametrize("keyword", ["springs", "springs:recommended"])
def test_block_slides_on_a_steep_slope(keyword):
    """mu = 0.5 on a slope of 0.6: g (sin - mu cos)."""
    angle = np.arctan(0.6)
    speeds = slope(keyword, 0.6)[:, 1]
    assert speeds[-1] - speeds[499] == pytest.approx(G * (np.sin(angle) - 0.5 * np.cos(angle)), rel=0.03)


def test_block_rests_on_a_gentle_slope():
    """mu = 0.5 on a slope of 0.4. Held anchors need the pull to grow: a sudden one overshoots, breaks them, and they
    begin again without load, so the block creeps; dragged anchors hold a sudden pull as well."""
    held, sudden, dragged = slope("springs", 0.4, 1.0), slope("springs", 0.4), slope("springs:recommended", 0.4)
    assert abs(held[-1, 0] - held[499, 0]) < 1e-3
    assert abs(dragged[-1, 0] - dragged[499, 0]) < 1e-4
    assert 2e-3 < sudden[-1, 0] - sudden[499, 0] < 0.05
