"""A robot that is not ours walks: TALOS or G1 of example-robot-data (extra `peers`), from URDF to twelve steps.

    python examples/walk_your_robot.py talos        # or g1; writes out/walk_talos.png

What a robot needs: the names of its leg joints, a posture with bent knees, and servos. Everything else follows.
"""

from __future__ import annotations

import sys
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np

import sesshoku as ss
from sesshoku import control

FOLDER = "cmeel.prefix/share/example-robot-data/robots"
TURN = np.deg2rad(10.0)
#: file, leg map, pose, waist joints, gait
ROBOTS = {
    "talos": {
        "file": "talos_data/robots/talos_reduced_box.urdf",
        "legs": control.LegMap.named("leg_left_{}_joint", "leg_right_{}_joint", ("1", "2", "3", "4", "5", "6")),
        "bent": (0.0, 0.0, -0.4, 0.8, -0.4, 0.0),
        "pose": {"arm_left_2_joint": 0.3, "arm_right_2_joint": -0.3, "arm_left_4_joint": -0.6,
                 "arm_right_4_joint": -0.6},
        "strong": ("torso_1_joint", "torso_2_joint"), "height": 0.84, "ahead": 0.0, "swing": 0.05, "single": 0.70,
        "steps": [(0.15, 0, 0)] * 8 + [(0.08, 0, TURN)] * 3 + [(0, 0, 0)],
    },
    "g1": {
        "file": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        "legs": control.LegMap.named("left_{}_joint", "right_{}_joint", (
            "hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")),
        "bent": (-0.3, 0.0, 0.0, 0.6, -0.3, 0.0),
        "pose": {"left_shoulder_roll_joint": 0.2, "right_shoulder_roll_joint": -0.2, "left_elbow_joint": 0.6,
                 "right_elbow_joint": 0.6},
        "strong": ("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"), "height": 0.62, "ahead": 0.03,
        "swing": 0.04, "single": 0.60,
        "steps": [(0.10, 0, 0)] * 8 + [(0.08, 0, TURN)] * 3 + [(0, 0, 0)],
    },
}


def prepare(name: str, folder: Path) -> tuple[ss.Scene, control.Biped, control.Gait]:
    """Scene, legs and gait of a robot."""
    chosen = ROBOTS[name]
    scene = ss.Scene(gravity=(0, 0, -9.8), name=name)
    scene.add_ground(material=ss.Material(0.8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.errors.UnsupportedFeature)
        robot = scene.load(folder / chosen["file"], position=(0, 0, 1.1), package_paths=folder.parents[1])
    legs = chosen["legs"]
    feet = [body for body in robot.bodies if scene.bodies[body].joint.name in (legs.left[-1], legs.right[-1])]
    for body in robot.bodies:  # only soles touch
        for geometry in scene.bodies[body].geometries:
            geometry.collides = geometry.collides and body in feet
    for side in (legs.left, legs.right):
        for joint, value in zip(side, chosen["bent"]):
            scene.joint(joint).position[:] = value
    for joint, value in chosen["pose"].items():
        scene.joint(joint).position[:] = value
    control.add_servos(scene, robot, legs, strong=chosen["strong"])
    biped = control.Biped(scene, legs)
    gait = control.Gait(chosen["height"], biped.width, chosen["ahead"], single=chosen["single"], double=0.15,
                        swing_height=chosen["swing"])
    return scene, biped, gait


def main(name: str) -> None:
    folder = Path(str(metadata.distribution("example-robot-data").locate_file(FOLDER)))
    scene, biped, gait = prepare(name, folder)
    pattern = control.walk(biped, ROBOTS[name]["steps"], gait)
    print(f"{name}: {biped.mass:.1f} kg, legs in closed form: {biped.analytic}, feet {biped.width:.3f} m apart")
    for joint, margin in list(pattern.margins().items())[:6]:
        print(f"  {joint:28} limit {margin['limit']:.2f} rad away, {margin['torque']:6.1f} N m "
              f"({100 * margin['effort']:3.0f} % of its effort)")
    for stabiliser in (False, True):
        log = control.record_walk(ss.Simulation(scene), control.Walker(pattern, stabiliser))
        found = log.summary()
        end = "upright" if log.completed else f"fell in step {log.fell[1]}"
        print(f"{'with' if stabiliser else 'without'} stabiliser: {len(pattern.steps)} steps, {end}; "
              f"tilt {1e3 * found['tilt']:.1f} mrad, ZMP rms {1e3 * found['zmp_rms_x']:.1f} and "
              f"{1e3 * found['zmp_rms_y']:.1f} mm, peak {found['peak_force']:.2f} of the weight")
    Path("out").mkdir(exist_ok=True)
    from sesshoku.recording.picture import strip

    picks = [log.poses[round(i * (len(log.poses) - 1) / 5)] for i in range(6)]
    strip(scene, picks, f"out/walk_{name}.png")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "talos")
