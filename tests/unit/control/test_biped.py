"""Legs of the shipped robots: closed form against the engine's kinematics, soles, bushes, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sesshoku import robots
from sesshoku.control.biped import HUMANOID, Biped, LegMap
from sesshoku.control.humanoids import stage
from sesshoku.control.leg_angles import leg_angles
from sesshoku.control.posture import posture, rotation_of, velocity_table
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.errors import SceneError
from sesshoku.integrate.position import move
from sesshoku.scene.elements import Joint, Material
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import matrix_to_quaternion, rotation_vector
from support import SEED, sample_count


def scene_of(kind: str, **options: object) -> Scene:
    scene = Scene(gravity=(0, 0, -9.8), name=kind)
    scene.add_ground(material=Material(0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene.load(robots.path(f"humanoid_{kind}.xml"), pose="stand", **options)
    return scene


@pytest.fixture(scope="module", params=["small", "large", "large_bush"])
def biped(request):
    return Biped(scene_of(request.param), HUMANOID)


def sole(biped: Biped, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the engine has the sole: `kinematics` was called."""
    link, legs, data = biped.legs.foot_link[side], biped.legs, biped.data
    place = data.tree_origin[legs.tree] + data.offset[link] + data.rotation[link] @ legs.sole_position[side]
    return place, data.rotation[link] @ legs.sole_rotation[side]


def test_what_is_found_of_the_shipped_robots(biped):
    small = biped.scene.name == "small"
    length, box = ((0.10, 0.10, 0.04), (-0.04, 0.06, -0.03, 0.03)) if small else \
        ((0.30, 0.30, 0.11), (-0.09, 0.15, -0.07, 0.07))
    assert biped.analytic
    for side in range(2):
        assert biped.legs.length[side] == pytest.approx(length, abs=1e-12)
        assert biped.legs.sole_box[side] == pytest.approx(box, abs=1e-12)
    assert biped.width == pytest.approx(0.08 if small else 0.18)
    bush = biped.scene.name == "large_bush"
    assert biped.on_bushes == bush
    if bush:
        assert biped.stiffness == pytest.approx(np.array([[400.0, 768.0, 2.4e5]] * 2))
        assert biped.legs.pivot[0] == pytest.approx([0.03, 0.0, 0.03], abs=1e-12)
        assert len(biped.legs.free_dof) == 6


def test_closed_form_round_trip(biped):
    """Random angles -> the engine's kinematics -> closed form -> the same angles."""
    rng = np.random.default_rng(SEED)
    legs, q = biped.legs, biped.legs.home.copy()
    low = np.array([-0.7, -0.6, -2.0, 0.05, -1.2, -0.6])
    high = np.array([0.7, 0.6, 0.7, 2.5, 0.8, 0.6])
    found, R_base, worst = np.zeros(6), np.zeros((3, 3)), 0.0
    for _ in range(sample_count(400, 20_000)):
        angles = rng.uniform(low, high, (2, 6))
        turn = rng.uniform(-0.5, 0.5, 3)
        rotation_of(*turn, R_base)
        at = legs.root_coordinate
        q[at:at + 3] = rng.uniform(-1.0, 1.0, 3)
        q[at + 3:at + 7] = matrix_to_quaternion(R_base)
        q[legs.coordinate] = angles
        kinematics(biped.model, biped.data, q)
        for side in range(2):
            place, R_foot = sole(biped, side)
            hip = q[at:at + 3] + R_base @ legs.hip[side]
            ankle = place + R_foot @ [0.0, 0.0, legs.length[side, 2]]
            excess = leg_angles(*legs.length[side, :2], hip, R_base, ankle, R_foot, found)
            assert excess == 0.0
            # digits are lost towards a straight knee, and where the hip lies on the axis of the ankle's roll
            r = R_foot.T @ (hip - ankle)
            lost = min(1.0, angles[side, 3]) * np.hypot(r[1], r[2]) / np.linalg.norm(r)
            worst = max(worst, float(np.abs(found - angles[side]).max() * lost))
    assert worst < 1e-12


def test_out_of_reach_is_told(biped):
    legs, found = biped.legs, np.zeros(6)
    A, B = legs.length[0, :2]
    excess = leg_angles(A, B, np.array([0.0, 0.0, A + B + 0.01]), np.eye(3), np.zeros(3), np.eye(3), found)
    assert excess == pytest.approx(0.01, abs=1e-3 * (A + B))
    assert found[3] == pytest.approx(0.03)
    with pytest.raises(SceneError, match="out of reach"):
        biped.posture(np.array([0.0, 0.0, 2.0]), np.zeros((2, 6)))


def test_postures_meet_their_targets(biped):
    rng = np.random.default_rng(SEED)
    scale = float(biped.legs.length[0, 0])
    for analytic in (1, 0):
        legs = _as_numeric(biped) if analytic == 0 else biped.legs
        for _ in range(5):
            feet = np.zeros((2, 6))
            feet[0, :2], feet[1, :2] = (0.0, 0.5 * biped.width), (0.0, -0.5 * biped.width)
            feet[:, :3] += 0.2 * scale * rng.uniform(0.0, 1.0, (2, 3))
            feet[:, 3:] = rng.uniform(-0.15, 0.15, (2, 3))
            com = np.array([*(0.1 * scale * rng.uniform(-1, 1, 2)), biped.home_height - 0.2 * scale])
            base, q = rng.uniform(-0.1, 0.1, 3), biped.legs.home.copy()
            error, excess = posture(biped.model, biped.data, legs, q, com, base, feet, 400, 1e-12)
            assert error < 1e-11 and excess == 0.0
            assert biped.center_of_mass(q) == pytest.approx(com, abs=1e-10)
            wanted = np.zeros((3, 3))
            for side in range(2):
                place, R = sole(biped, side)
                rotation_of(*feet[side, 3:], wanted)
                assert place == pytest.approx(feet[side, :3], abs=1e-9)
                assert rotation_vector(wanted @ R.T) == pytest.approx(np.zeros(3), abs=1e-7)


def _as_numeric(biped: Biped) -> object:
    """The same legs, not known to have a closed form."""
    values = {name: getattr(biped.legs, name) for name in biped.legs.fields}
    return type(biped.legs)(**{**values, "analytic": 0})


def test_velocities_are_what_moves_one_posture_into_the_next(biped):
    rng = np.random.default_rng(SEED)
    model, q = biped.model, np.tile(biped.legs.home, (2, 1))
    v, found = rng.normal(size=model.dof_count), np.zeros((2, model.dof_count))
    move(model, q[1], v, 1e-2)
    velocity_table(model, q, 1e-2, found)
    assert found[0] == pytest.approx(v, abs=1e-11)
    assert np.all(found[1] == found[0])


def test_wrong_maps_are_refused():
    scene = scene_of("small")
    with pytest.raises(SceneError, match="no such joint.*left_hip_yaw"):
        Biped(scene, LegMap(("hip", *HUMANOID.left[1:]), HUMANOID.right))
    with pytest.raises(SceneError, match="six joints"):
        Biped(scene, LegMap(HUMANOID.left[:5], HUMANOID.right[:5]))
    for nonsense in (None, "left_knee", 6):
        with pytest.raises(SceneError, match="a list of joint names"):
            LegMap(nonsense, HUMANOID.right)
    with pytest.raises(SceneError, match="no chain"):
        Biped(scene, LegMap((*HUMANOID.left[1::-1], *HUMANOID.left[2:]), HUMANOID.right))
    with pytest.raises(SceneError, match="no common free base"):
        Biped(scene_of("small", fixed_base=True), HUMANOID)
    scene = scene_of("small")
    del scene.actuators["left_knee"]
    with pytest.raises(SceneError, match="left_knee.*no position servo"):
        Biped(scene, HUMANOID)
    scene = scene_of("small")
    scene.bodies["left_foot"].geometries.clear()
    with pytest.raises(SceneError, match="left_foot.*no collision shape"):
        Biped(scene, HUMANOID)


def swapped(leg: tuple[str, ...], i: int, j: int) -> tuple[str, ...]:
    names = list(leg)
    names[i], names[j] = names[j], names[i]
    return tuple(names)


L, R = HUMANOID.left, HUMANOID.right
#: left leg, right leg, what the error names and how it helps
WRONG = {
    "misspelt": ((L[0], L[1], L[2], "left_kne", L[4], L[5]), R, "'left_kne'.*did you mean 'left_knee'"),
    "the wrong side's knee": ((*L[:3], "right_knee", *L[4:]), (*R[:3], "left_knee", *R[4:]),
                              "no chain.*left_hip_pitch.*right_knee"),
    "knee before hip": (swapped(L, 2, 3), R, "no chain.*'left_hip_roll', 'left_knee'.*to 'left_ankle_roll' the model "
                                             "has left_hip_yaw, left_hip_roll, left_hip_pitch, left_knee"),
    "ankle first": (L[::-1], R, "no chain.*from hip to ankle"),
    "a joint that does not turn": (("root", *L[1:]), R, "'root'.*a free joint, not a revolute one"),
    "an arm": ((*L[:5], "left_elbow"), R, "no chain.*'left_ankle_pitch', 'left_elbow'"),
    "a joint twice": ((*L[:5], L[4]), R, "left.*named twice.*left_ankle_pitch"),
    "five joints": (L[:5], R, "six joints.*left_hip_yaw.*not 5"),
    "a text": ("left_knee", R, "list of joint names.*left_knee"),
    "numbers": ((1, 2, 3, 4, 5, 6), R, "list of joint names"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_of_a_leg_map_name_the_joints_and_help(case):
    left, right, words = WRONG[case]
    scene = stage("small")
    root = next(body for body in scene.bodies.values() if body.joint.kind == "free")
    left = tuple(root.joint.name if name == "root" else name for name in left) if case.startswith("a joint that") \
        else left
    with pytest.raises(SceneError, match=words.replace("'root'", f"'{root.joint.name}'")):
        Biped(scene, LegMap(left, right))


def test_a_fixed_joint_and_arms_for_legs_are_told():
    scene = stage("small")
    scene.bodies["left_foot"].joint = Joint("fixed", name="left_ankle_roll")
    del scene.actuators["left_ankle_roll"]
    with pytest.raises(SceneError, match="'left_ankle_roll'.*a fixed joint, not a revolute one.*left_ankle_pitch"):
        Biped(scene, HUMANOID)
    arm = LegMap.named("left_{}", "right_{}", ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_yaw",
                                               "wrist_pitch"))
    with pytest.raises(SceneError, match="not on the base.*left_shoulder_pitch.*the model has waist_yaw, "):
        Biped(stage("large"), arm)


def test_legs_named_for_the_wrong_side_are_told():
    for left, right, text in ((HUMANOID.right, HUMANOID.left, "swap left and right"),
                              (HUMANOID.left, HUMANOID.left, "belongs to both legs")):
        with pytest.raises(SceneError, match=text):
            Biped(stage("small"), LegMap(left, right))
