"""Elements changed after they were added are checked again before a scene is compiled or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms import everything
from sesshoku.errors import SceneError
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.scene.recheck import recheck
from sesshoku.scene.scene import Scene


def chain() -> Scene:
    """Three bodies a - b - c on hinges, a motor on b, c following b, a loop."""
    scene = Scene()
    for name, parent in (("a", None), ("b", "a"), ("c", "b")):
        scene.add_body(name, parent=parent, joint=Joint("revolute", lower=-1, upper=1),
                       inertial=Inertial(2.0, (0, 0, 0), np.eye(3)), geometries=[Geometry(Sphere(0.1))],
                       position=(0, 0, 0.5))
    scene.add_actuator("b", name="motor")
    scene.add_mimic("c", "b")
    scene.add_loop("ball", "c", "a", name="rope")
    return scene


def set_to(path: str, value: Any) -> Any:
    def change(scene: Scene) -> None:
        owner, _, attribute = path.rpartition(".")
        setattr(eval(f"scene.{owner}" if owner else "scene", {"scene": scene}), attribute, value)
    return change


@pytest.mark.parametrize(("change", "message"), [
    (set_to("joint('b').lower", 5.0), "joint 'b': lower limit 5 is above upper limit 1"),
    (set_to("joint('b').viscous", np.nan), "joint 'b': viscous is not finite"),
    (set_to("joint('b').position", np.array([7.0])), "joint 'b': the start position is outside the limits"),
    (set_to("joint('b').kind", "rotary"), "joint 'b': unknown joint kind"),
    (set_to("joint('b').kind", "fixed"), "joint"),
    (set_to("joint('b').name", "x"), "body 'b': its joint was renamed"),
    (set_to("bodies['b'].joint", "revolute"), "body 'b': joint is not a Joint"),
    (set_to("bodies['a'].parent", "b"), "body 'a': the parents form a circle .*a -> b -> a"),
    (set_to("bodies['a'].parent", "z"), "body 'a': unknown parent"),
    (set_to("bodies['a'].name", "z"), "body 'a': the body was renamed"),
    (set_to("bodies['a'].position", (0, 0, np.inf)), "body 'a': position is not finite"),
    (set_to("bodies['a'].inertial.mass", -1.0), "mass must be at least 0"),
    (set_to("bodies['a'].geometries", "box"), "body 'a': geometries is not a list"),
    (set_to("bodies['a'].geometries[0].material", "rubber"), "material is not a Material"),
    (set_to("material", "rubber"), "scene: material is not a Material"),
    (set_to("actuators['motor'].joint", "z"), "actuator 'motor': names no joint"),
    (set_to("actuators['motor'].kp", np.nan), "actuator 'motor': kp is not finite"),
    (set_to("loops['rope'].body_a", "z"), "loop 'rope': no such body"),
    (set_to("loops['rope'].correction", 2.0), "loop 'rope': correction must be at most 1"),
    (set_to("mimics['c'].source", "c"), "circle"),
    (set_to("mimics['c'].source", "z"), "mimic of joint 'c': names no joint"),
    (set_to("name", ""), "name of the scene must be"),
    (set_to("time_step", -1e-3), "scene: time_step must be greater than 0"),
    (set_to("pair_friction", {("a", "b"): 0.5}), "friction of a pair is not a Material"),
    (set_to("pair_friction", {("a", "z"): Material()}), "pair .*: no such body"),
    (set_to("excluded_pairs", {("a", "z")}), "pair .*: no such body"),
])
@pytest.mark.filterwarnings("ignore:MJCF cannot say")
def test_a_bad_change_is_named(change: Any, message: str, tmp_path: Path) -> None:
    """By whatever reads the scene; nothing is written."""
    scene = chain()
    compile_scene(scene)
    scene.save(tmp_path / "good.toml")
    scene.to_mjcf()
    change(scene)
    for use in (lambda: compile_scene(scene), lambda: scene.save(tmp_path / "bad.toml"), scene.to_mjcf):
        with pytest.raises(SceneError, match=message):
            use()
    assert not (tmp_path / "bad.toml").exists()


def test_a_body_before_its_parent_is_named() -> None:
    scene = chain()
    scene.bodies["a"].parent, scene.bodies["b"].parent = "c", None
    scene.bodies["c"].parent = None
    with pytest.raises(SceneError, match="body 'a': the parent comes later"):
        compile_scene(scene)


def test_a_good_scene_stays_as_it_is() -> None:
    scene = everything()
    before = compile_scene(scene)
    elements = [repr(body) for body in scene.bodies.values()]
    recheck(scene)
    assert [repr(body) for body in scene.bodies.values()] == elements
    after = compile_scene(scene)
    np.testing.assert_array_equal(before.q, after.q)
    np.testing.assert_array_equal(before.model.link_inertia, after.model.link_inertia)
