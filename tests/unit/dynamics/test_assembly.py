"""Assembly and disassembly: against the articulated-body algorithm, against dense systems, in any order."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.aba import forward_dynamics, gyroscopic_force
from sesshoku.dynamics.assembly.assemble import assembly_dynamics, kept_response
from sesshoku.dynamics.assembly.tree import assemble_tree, disassemble_tree, dof_row, handle_rows
from sesshoku.dynamics.assembly.work import joint_links, make_assembly, symbolic, tree_joints
from sesshoku.dynamics.jacobian import point_jacobian, point_jacobian_rate
from sesshoku.dynamics.rnea import bias_force
from sesshoku.errors import SceneError
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from support import sample_count
from trees import BASES, Posed, add_tree, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck
TOLERANCE = 1e-9


def orders(rng: np.random.Generator, joints: int) -> list:
    return ["leaves", "root", "balanced", rng.permutation(joints)]


def random_state(posed: Posed, rng: np.random.Generator) -> np.ndarray:
    d = posed.data
    d.external_force[:] = rng.normal(size=d.external_force.shape)
    d.kinematic_acceleration[:] = rng.normal(size=d.kinematic_acceleration.shape)
    return rng.normal(size=posed.model.dof_count)


@pytest.mark.nojit
def test_any_order_gives_the_articulated_body_algorithms_accelerations(rng: np.random.Generator) -> None:
    """Trees of every joint kind, floating, fixed and scripted bases, rotor inertias and implicit drives."""
    for _ in range(sample_count(3, 100)):
        posed = Posed(random_scene(rng, bases=(*BASES, "kinematic")))
        m, d = posed.model, posed.data
        force = random_state(posed, rng)
        d.implicit_diagonal[:] = rng.uniform(0, 2, size=m.dof_count)
        wanted = nan(m.dof_count)
        forward_dynamics(m, d, d.q, d.v, force, wanted)
        for order in orders(rng, len(tree_joints(m))):
            assembly, found = make_assembly(m, order), nan(m.dof_count)
            assert assembly_dynamics(m, d, assembly, d.q, d.v, force, found)
            assert relative_error(found, wanted) < TOLERANCE


def test_laws_of_rigid_joints(rng: np.random.Generator) -> None:
    """Without rotors and drives: W Lambda W = W, S^T f = tau, motion only along S; Phi symmetric, not negative."""
    posed = Posed(random_scene(rng, armature=0.0))
    m, d = posed.model, posed.data
    force, found = random_state(posed, rng), nan(m.dof_count)
    tree, order = tree_joints(m), rng.permutation(len(tree_joints(m)))
    keep = [int(link) for link in rng.choice(m.link_count, 3, replace=False)]
    assembly = make_assembly(m, order, keep=keep)
    assert assembly_dynamics(m, d, assembly, d.q, d.v, force, found)
    for j, i in enumerate(tree):
        W, S = assembly.W[j], assembly.axis[m.link_dof[i] : m.link_dof[i] + m.link_dof_count[i]]
        assert np.allclose(W, W.T, atol=1e-9 * np.abs(W).max())
        assert np.linalg.eigvalsh(0.5 * (W + W.T)).min() > -1e-9 * np.abs(W).max()
        assert np.abs(S @ W).max() < 1e-9 * np.abs(W).max()
        tau = force[m.link_dof[i] : m.link_dof[i] + m.link_dof_count[i]]
        assert S @ assembly.force[j] == pytest.approx(tau, abs=1e-9 * max(1.0, np.abs(assembly.force[j]).max()))
        parent = m.link_parent[i]
        relative = assembly.acceleration[i] - (assembly.acceleration[parent] if parent >= 0 else 0.0)
        o = d.tree_origin[m.link_tree[i]] - assembly.origin
        c = d.velocity_product[i].copy()
        c[:3] += np.cross(o, c[3:])
        moved = S.T @ found[m.link_dof[i] : m.link_dof[i] + m.link_dof_count[i]]
        assert np.abs(relative - c - moved).max() < 1e-8 * max(1.0, np.abs(relative).max())
    Phi = nan(18, 18)
    kept_response(m, assembly, np.array(keep), Phi)
    assert np.abs(Phi - Phi.T).max() < 1e-9 * np.abs(Phi).max()
    assert np.linalg.eigvalsh(0.5 * (Phi + Phi.T)).min() > -1e-9 * np.abs(Phi).max()


def spatial_jacobian(posed: Posed, link: int, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J (6, V) of the spatial velocity of a link at `origin`, and J' v, world axes."""
    m, d = posed.model, posed.data
    J = np.zeros((6, m.dof_count))
    if link < 0:
        return J, np.zeros(6)
    point_jacobian(m, d, link, origin, J)
    rate, bias = nan(6, m.dof_count), np.zeros(6)
    point_jacobian_rate(m, d, link, origin, rate)
    bias = rate @ d.v
    velocity = J @ d.v
    bias[:3] -= np.cross(velocity[3:], velocity[:3])  # of the point in space, not of the one carried along
    return J, bias


def test_kept_handles_are_the_delassus_matrix_of_unit_wrenches(rng: np.random.Generator) -> None:
    for bases in (("free",), ("fixed", "kinematic")):
        posed = Posed(random_scene(rng, trees=2, bases=bases))
        m, d = posed.model, posed.data
        links = [int(link) for link in rng.choice(m.link_count, 4, replace=False)]
        assembly = make_assembly(m, "balanced", keep=links)
        assert assembly_dynamics(m, d, assembly, d.q, d.v, np.zeros(m.dof_count), nan(m.dof_count))
        Phi = nan(24, 24)
        kept_response(m, assembly, np.array(links), Phi)
        J = np.concatenate([spatial_jacobian(posed, link, assembly.origin)[0] for link in links])
        assert relative_error(Phi, J @ np.linalg.solve(posed.H, J.T)) < TOLERANCE


def test_contact_joints_of_tree_links_solve_the_dense_system(rng: np.random.Generator) -> None:
    """(M + sum J^T G J) q'' = tau - bias + sum J^T (f* - G J' v), between links of one tree, of two, and the world."""
    for _ in range(sample_count(3, 40)):
        posed = Posed(random_scene(rng, trees=2, size=7))
        m, d = posed.model, posed.data
        force = random_state(posed, rng)
        posed.refresh()
        pairs = [(-1, 3), (5, 2), (1, m.link_count - 1)]
        joints = len(tree_joints(m)) + len(pairs)
        bias = nan(m.dof_count)
        bias_force(m, d, d.v, bias)
        laws = []
        for _ in pairs:
            A = rng.normal(size=(6, 6))
            laws.append((A @ A.T * 10 ** rng.uniform(-2, 3), rng.normal(size=6)))
        for order in orders(rng, joints):
            assembly, found = make_assembly(m, order, contact_links=pairs), nan(m.dof_count)
            origin = d.tree_origin[0]
            H, right = posed.H, force - bias
            for n, ((a, b), (G, f)) in enumerate(zip(pairs, laws, strict=True)):
                assembly.contact_matrix[n], assembly.contact_force[n] = flipped(G), f[[3, 4, 5, 0, 1, 2]]
                G, f = flipped(G), f[[3, 4, 5, 0, 1, 2]]
                (Ja, ra), (Jb, rb) = (spatial_jacobian(posed, link, origin) for link in (a, b))
                J, rate = Jb - Ja, rb - ra
                H, right = H + J.T @ G @ J, right + J.T @ (f - G @ rate)
            assert assembly_dynamics(m, d, assembly, d.q, d.v, force, found)
            assert relative_error(found, np.linalg.solve(H, right)) < TOLERANCE


def flipped(G: np.ndarray) -> np.ndarray:
    return G[np.ix_([3, 4, 5, 0, 1, 2], [3, 4, 5, 0, 1, 2])]


def test_contact_joint_without_stiffness_is_an_external_wrench_and_with_endless_stiffness_a_rigid_joint(
        rng: np.random.Generator) -> None:
    scene = Scene(gravity=(0.3, -0.2, -9.8))
    for name in "ab":
        add_tree(scene, rng, name, 1, "free")
    posed = Posed(scene)
    m, d = posed.model, posed.data
    found, wanted, wrench = nan(12), nan(12), rng.normal(size=6)
    assembly = make_assembly(m, contact_links=[(0, 1)])
    assembly.contact_force[0] = wrench
    assembly_dynamics(m, d, assembly, d.q, d.v, np.zeros(12), found)
    o = d.tree_origin
    at_b = np.concatenate([wrench[:3], wrench[3:] - np.cross(o[1] - o[0], wrench[:3])])
    forward_dynamics(m, d, d.q, d.v, np.concatenate([-wrench, at_b]), wanted)
    assert relative_error(found, wanted) < 1e-12
    # a weld as a loop against a contact joint with G = g 1
    assembly.contact_matrix[0] = 1e8 * 3.0 * np.eye(6)
    v = asm_rate(d, assembly)
    assembly.contact_force[0] = assembly.contact_matrix[0] @ v
    assembly_dynamics(m, d, assembly, d.q, d.v, np.zeros(12), found)
    J = spatial_jacobian(posed, 1, o[0])[0] - spatial_jacobian(posed, 0, o[0])[0]
    bias, K = nan(12), np.zeros((18, 18))
    bias_force(m, d, d.v, bias)
    K[:12, :12], K[:12, 12:], K[12:, :12] = posed.H, -J.T, J
    rate = spatial_jacobian(posed, 1, o[0])[1] - spatial_jacobian(posed, 0, o[0])[1]
    rigid = np.linalg.solve(K, np.concatenate([-bias, v - rate]))[:12]
    assert relative_error(found, rigid) < 1e-6


def asm_rate(d, assembly) -> np.ndarray:
    """v_p x (v_c - v_p) at the common origin."""
    p, c = assembly.velocity
    u = c - p
    return np.concatenate([np.cross(p[3:], u[:3]) + np.cross(p[:3], u[3:]), np.cross(p[3:], u[3:])])


# ---- loops -----------------------------------------------------------------------------------------------------------


def looped(rng: np.random.Generator, kind: str, twice: bool = False) -> Posed:
    """A floating tree of eight links, with loops to itself and to another tree; the same again: redundant ones."""
    scene = Scene(gravity=(0.3, -0.2, -9.8))
    add_tree(scene, rng, "t", 8, "free", kinds=("revolute", "spherical", "prismatic"))
    add_tree(scene, rng, "u", 2, "free", kinds=("revolute",))
    for n in range(2 if twice else 1):
        scene.add_loop(kind, "t7", "t3", name=f"one{n}", position=(0.1, 0.2, 0.0))
        scene.add_loop(kind, "u1", "t5", name=f"two{n}", position=(0.0, 0.1, 0.1))
    return Posed(scene)


def loop_jacobian(posed: Posed) -> np.ndarray:
    """Rows (wrenches at the midpoint of the anchors, on b) of all loops over the dofs."""
    m, d = posed.model, posed.data
    rows = []
    for n in range(m.loop_count):
        point = d.loop_point[n].mean(axis=0)
        J = sum(sign * spatial_jacobian(posed, int(link), point)[0] for link, sign in
                zip(m.loop_link[n], (-1.0, 1.0), strict=True))
        axes, count = d.loop_frame[n, 0].T, (3, 5, 6)[m.loop_kind[n]]
        rows.append(np.concatenate([axes @ J[:3], axes @ J[3:]])[:count])
    return np.concatenate(rows)


def loop_rates(posed: Posed) -> np.ndarray:
    """T^T (J' v - c_J) of all loops, for velocities that keep them."""
    m, d = posed.model, posed.data
    rows = []
    for n in range(m.loop_count):
        point = d.loop_point[n].mean(axis=0)
        (Ja, ra), (Jb, rb) = (spatial_jacobian(posed, int(link), point) for link in m.loop_link[n])
        va, u = Ja @ d.v, Jb @ d.v - Ja @ d.v
        c = np.concatenate([np.cross(va[3:], u[:3]) + np.cross(va[:3], u[3:]), np.cross(va[3:], u[3:])])
        axes, count = d.loop_frame[n, 0].T, (3, 5, 6)[m.loop_kind[n]]
        rate = rb - ra - c
        rows.append(np.concatenate([axes @ rate[:3], axes @ rate[3:]])[:count])
    return np.concatenate(rows)


def constrained(H: np.ndarray, J: np.ndarray, force: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """q'' of H q'' = force + J^T f, J q'' + rates = 0, by a basis of what J leaves free: J may repeat rows."""
    _, sizes, rows = np.linalg.svd(J)
    free = rows[int((sizes > 1e-9 * sizes[0]).sum()) :].T
    held = -np.linalg.pinv(J, rcond=1e-9) @ rates
    return held + free @ np.linalg.solve(free.T @ H @ free, free.T @ (force - H @ held))


@pytest.mark.parametrize("kind", ["ball", "hinge", "weld"])
@pytest.mark.parametrize("twice", [False, True], ids=["once", "redundant"])
def test_loops_solve_the_dense_kkt_system_in_any_order(kind: str, twice: bool, rng: np.random.Generator) -> None:
    for _ in range(sample_count(2, 30)):
        posed = looped(rng, kind, twice)
        m, d = posed.model, posed.data
        force, found = rng.normal(size=m.dof_count), nan(m.dof_count)
        assembly = make_assembly(m)
        assembly_dynamics(m, d, assembly, d.q, d.v, force, found)  # places the loops' anchors
        J = loop_jacobian(posed)
        d.v -= np.linalg.pinv(J) @ (J @ d.v)
        posed.refresh()
        bias = nan(m.dof_count)
        bias_force(m, d, d.v, bias)
        wanted = constrained(posed.H, J, force - bias, loop_rates(posed))
        for order in orders(rng, len(joint_links(m)[0])):
            assembly = make_assembly(m, order)
            assert assembly_dynamics(m, d, assembly, d.q, d.v, force, found)
            assert relative_error(found, wanted) < TOLERANCE


# ---- orders, room ----------------------------------------------------------------------------------------------------


def chain(links: int) -> Scene:
    scene, parent = Scene(), None
    for n in range(links):
        scene.add_body(f"link{n}", parent=parent, position=(0, 0, -0.1), joint=Joint("revolute", axis=(n % 2, 1, 0)),
                       inertial=Inertial(0.1, (0, 0, -0.05), 1e-4 * np.eye(3)))
        parent = f"link{n}"
    return scene


@pytest.mark.parametrize("links", [64, 200])
def test_balanced_order_has_logarithmic_depth_and_few_handles(links: int) -> None:
    posed = Posed(chain(links))
    m, d = posed.model, posed.data
    _, _, pairs = joint_links(m)
    depth = {}
    for order in ("leaves", "balanced"):
        assembly = make_assembly(m, order)
        needs = symbolic(pairs, assembly.order, m.link_count, ())
        depth[order] = needs["depth"]
        assert needs["most"] <= (1 if order == "leaves" else 2)
    assert depth["leaves"] == links
    assert depth["balanced"] <= 2 * np.ceil(np.log2(links)) + 1
    force, wanted, found = np.zeros(m.dof_count), nan(m.dof_count), nan(m.dof_count)
    forward_dynamics(m, d, d.q, d.v, force, wanted)
    assert assembly_dynamics(m, d, assembly, d.q, d.v, force, found)
    assert relative_error(found, wanted) < TOLERANCE


def test_what_cannot_be_an_order_is_refused(rng: np.random.Generator) -> None:
    model = Posed(random_scene(rng)).model
    for wrong in ("middle", [0, 0, 1], range(3)):
        with pytest.raises(SceneError, match="order of assembly"):
            make_assembly(model, wrong)  # type: ignore[arg-type]


def test_too_small_a_pool_and_massless_links_are_told() -> None:
    posed = Posed(chain(12))
    m, d = posed.model, posed.data
    small = make_assembly(m, "leaves")
    small.order[:] = [*range(1, 12, 2), *range(0, 12, 2)]  # two handles per part where there is room for one
    assert not assembly_dynamics(m, d, small, d.q, d.v, np.zeros(12), nan(12))
    assert small.counts[1] == 1
    scene = chain(3)
    scene.bodies["link1"].inertial = Inertial(0.0)
    posed = Posed(scene)
    m, d = posed.model, posed.data
    assert not assembly_dynamics(m, d, make_assembly(m), d.q, d.v, np.zeros(3), nan(3))


# ---- leaves to root, by inertias -------------------------------------------------------------------------------------


@pytest.mark.nojit
def test_leaves_to_root_with_stiffened_links_and_handles(rng: np.random.Generator) -> None:
    """World contacts in the inertias, rows of handles and dofs: the dense system and its Delassus matrix."""
    posed = Posed(random_scene(rng, bases=(*BASES, "kinematic")))
    m, d = posed.model, posed.data
    force = random_state(posed, rng)
    posed.refresh()
    bias_force(m, d, d.v, bias := nan(m.dof_count))
    at_rest = d.acceleration.copy()  # of the links at zero joint acceleration, scripts included, without gravity's part
    L, V = m.link_count, m.dof_count
    stiff, stiffened = np.zeros((L, 21)), np.zeros(L, dtype=np.int64)
    push, extra = rng.normal(size=(L, 6)), rng.uniform(size=V)
    H, right = posed.H + np.diag(extra), force - bias
    for i in range(L):
        J, _ = spatial_jacobian(posed, i, d.tree_origin[m.link_tree[i]])
        right = right + J.T @ push[i]
        if i % 3 == 1:
            A = rng.normal(size=(6, 3))
            G = 50.0 * A @ A.T
            stiff[i], stiffened[i] = G[np.tril_indices(6)], 1
            H, right = H + J.T @ G @ J, right - J.T @ G @ at_rest[i]
    own = np.zeros((L, 6))
    for i in range(L):
        gyroscopic_force(d, i, own)
    found = nan(V)
    for t in range(m.tree_count):
        assemble_tree(m, d, t, stiff, stiffened, d.implicit_diagonal, extra)
        disassemble_tree(m, d, t, own, push, force, np.zeros(V), found)
    assert relative_error(found, np.linalg.solve(H, right)) < TOLERANCE
    Hi = np.linalg.inv(H)
    for i in range(L):
        t = m.link_tree[i]
        count = m.tree_dof[t + 1] - m.tree_dof[t]
        if count == 0:
            continue
        z = nan(6 * count)
        handle_rows(m, d, i, count, z)
        J = spatial_jacobian(posed, i, d.tree_origin[t])[0]
        Z = z.reshape(6, count)
        assert relative_error(Z @ Z.T, J @ Hi @ J.T) < TOLERANCE
        k = int(rng.integers(m.tree_dof[t], m.tree_dof[t + 1]))
        dof_row(m, d, k, row := nan(count))
        assert relative_error(Z @ row, J @ Hi[:, k]) < TOLERANCE
