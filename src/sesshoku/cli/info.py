"""The command `info`: what a robot or scene consists of."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.tree import Tree

from sesshoku.cli.console import out, print_json
from sesshoku.cli.options import FixedBase, Json, Pose, Repair, SceneFile
from sesshoku.cli.reading import read
from sesshoku.model.arrays import Model
from sesshoku.scene.scene import Scene


def info(file: SceneFile, fixed_base: FixedBase = False, pose: Pose = None, repair_inertia: Repair = False,
         verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List all that is not supported.")] = False,
         json: Json = False) -> None:
    """Show the tree of a robot or scene: bodies, masses, joints, limits, and what is not supported.

    Example: `sesshoku info models/humanoid_small.urdf`
    """
    from sesshoku.scene.compiler import compile_scene

    scene = read(file, fixed_base, pose, repair_inertia)
    model = compile_scene(scene).model
    masses = {body.name: body.inertial.mass if body.inertial else 0.0 for body in scene.bodies.values()}
    if json:
        print_json(_facts(scene, model, masses))
    else:
        _print_tree(scene, model, masses)
        _print_lists(scene, verbose)


def _facts(scene: Scene, model: Model, masses: dict[str, float]) -> dict[str, Any]:
    """All of it in plain values."""
    moving = [body for body in scene.bodies.values() if body.joint.kind != "fixed"]
    return {
        "name": scene.name, "bodies": masses, "total_mass": sum(masses.values()),
        "degrees_of_freedom": model.dof_count,
        "joints": {str(body.joint.name): _joint_facts(body) for body in moving},
        "actuators": list(scene.actuators), "loops": list(scene.loops), "mimics": list(scene.mimics),
        "shapes": model.shape_count, "gravity": scene.gravity.tolist(),
        "fluid": asdict(scene.medium), "notes": scene.notes,
        "unsupported": scene.unsupported,
    }


def _print_tree(scene: Scene, model: Model, masses: dict[str, float]) -> None:
    root = Tree(f"[bold]{escape(scene.name)}[/]  {len(masses)} bodies, {model.link_count} links, "
                f"{model.dof_count} degrees of freedom, {sum(masses.values()):.4g} kg, "
                f"{model.shape_count} collision shapes")
    branches: dict[str | None, Tree] = {None: root}
    for body in scene.bodies.values():
        branches[body.name] = branches[body.parent].add(_body_line(body, masses[body.name]))
    out.print(root)


def _print_lists(scene: Scene, verbose: bool) -> None:
    """Actuators, loops and mimics; notes; what is not supported."""
    from sesshoku.scene.io.unsupported import summary

    for title, items in (("actuators", scene.actuators), ("loops", scene.loops), ("mimics", scene.mimics)):
        if items:
            out.print(f"{title} ({len(items)}): {', '.join(list(items)[:8])}{' ...' if len(items) > 8 else ''}",
                      markup=False)
    for note in scene.notes:
        out.print(f"note: {note}", markup=False)
    for line in summary(scene.unsupported, verbose=True) if verbose else ():
        out.print(f"not supported: {line}", markup=False, highlight=False, soft_wrap=True)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _joint_facts(body: Any) -> dict[str, Any]:
    joint = body.joint
    return {"kind": joint.kind, "body": body.name, "lower": _finite(joint.lower), "upper": _finite(joint.upper),
            "effort": _finite(joint.effort)}


def _body_line(body: Any, mass: float) -> str:
    """One line of `info`: the body and how it moves."""
    joint, parts = body.joint, [f"[cyan]{escape(body.name)}[/]", f"{mass:.4g} kg"]
    if body.kinematic:
        parts.append("scripted")
    elif joint.kind != "fixed":
        parts.append(f"{joint.kind} joint [green]{escape(joint.name)}[/]")
        if joint.kind not in ("free", "spherical"):
            parts.append("axis " + " ".join(f"{x:.3g}" for x in joint.axis))
        if _finite(joint.lower) is not None or _finite(joint.upper) is not None:
            parts.append(f"{joint.lower:.4g} .. {joint.upper:.4g}")
        if _finite(joint.effort) is not None:
            parts.append(f"effort {joint.effort:.4g}")
    shapes = [geometry.shape.kind for geometry in body.geometries if geometry.collides]
    if shapes:
        parts.append("shapes: " + ", ".join(sorted(set(shapes))))
    return ", ".join(parts)
