"""Files that lead readers into crashes, endless devices and bombs: refused at once, with the file and the element."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.geometry import mesh
from sesshoku.scene.io import files
from sesshoku.scene.io.mjcf import guard, trial

BODY = '<body name="b"><geom size="0.1"/></body>'


def written(folder: Path, text: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refused(path: Path, said: str) -> None:
    with pytest.raises(ss.SceneError, match=said) as caught:
        ss.Scene().load(path)
    assert str(caught.value).startswith(str(path))


def attaching(file: str, count: int = 1) -> str:
    attaches = "".join(f'<attach model="m" body="b" prefix="p{n}"/>' for n in range(count))
    return (f'<mujoco><asset><model name="m" file="{file}"/></asset><worldbody>{attaches}{BODY}</worldbody></mujoco>')


# ---- MJCF that leads to itself


def test_a_model_that_attaches_itself(tmp_path):
    refused(written(tmp_path, attaching("robot.xml")), "<model> 'm': the file is part of itself .got 'robot.xml'.")


def test_models_that_attach_each_other(tmp_path):
    written(tmp_path, attaching("robot.xml"), "other.xml")
    refused(written(tmp_path, attaching("other.xml")), "<model> 'm': the file is part of itself")


def test_a_link_to_itself(tmp_path):
    path = written(tmp_path, attaching("link.xml"))
    (tmp_path / "link.xml").symlink_to(path)
    refused(path, "part of itself")


def test_an_include_of_itself(tmp_path):
    refused(written(tmp_path, '<mujoco><include file="robot.xml"/></mujoco>'), "<include>: the file is part of itself")


def test_a_model_attached_again_and_again(tmp_path):
    """Thirty files that each attach the next one ten times: 10^30 bodies."""
    for n in range(30):
        written(tmp_path, attaching(f"m{n + 1}.xml", 10), f"m{n}.xml")
    written(tmp_path, f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", "m30.xml")
    refused(tmp_path / "m0.xml", "the file makes more than 200000 elements")


def test_good_attachments_are_read(tmp_path):
    written(tmp_path, f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", "part.xml")
    robot = ss.Scene().load(written(tmp_path, attaching("part.xml", 2)))
    assert {"b", "p0b", "p1b"} <= set(robot.bodies)


# ---- files that are none


@pytest.mark.parametrize("text", [
    '<mujoco><include file="{}"/></mujoco>',
    '<mujoco><asset><model name="m" file="{}"/></asset></mujoco>',
    '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>',
    '<mujoco><asset><hfield name="m" file="{}" size="1 1 1 1"/></asset></mujoco>'])
@pytest.mark.parametrize("device", ["zero", "pipe"])
def test_devices_and_pipes_are_no_files(tmp_path, text, device):
    place = Path("/dev/zero")
    if device == "pipe":
        place = tmp_path / "pipe.stl"
        os.mkfifo(place)
    elif not place.exists():
        pytest.skip("no /dev/zero here")
    refused(written(tmp_path, text.format(place)), "it is a device or a pipe, not a file")


@pytest.mark.parametrize("name", ["pipe.xml", "pipe.urdf", "pipe.body", "pipe.usda"])
def test_a_robot_that_is_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    refused(tmp_path / name, "device or a pipe|usd-core")


@pytest.mark.parametrize("name", ["pipe.toml", "pipe.wrl"])
def test_a_scene_or_shape_that_is_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ss.SceneError, match="device or a pipe"):
        if name.endswith("toml"):
            ss.Scene.read(tmp_path / name)
        else:
            from sesshoku.scene.io.vrml.read import read_vrml

            read_vrml(tmp_path / name)


def test_meshes_and_elevations_that_are_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(ss.SceneError, match="no such file|device"):
        mesh.read(tmp_path / "pipe.stl")
    text = '{"asset": {"version": "2.0"}, "buffers": [{"uri": "pipe.stl", "byteLength": 9}]}'
    gltf = written(tmp_path, text, "a.gltf")
    with pytest.raises(ss.SceneError, match="device or a pipe"):
        mesh.read(gltf)


def test_a_file_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    monkeypatch.setattr(files.check_file, "__defaults__", (100,))
    monkeypatch.setattr(files.read_file, "__defaults__", (100,))
    refused(written(tmp_path, f"<mujoco>{' ' * 200}</mujoco>"), "larger than 0 MB")


# ---- bombs


@pytest.mark.parametrize(("text", "said"), [
    (f'<replicate count="3000000">{BODY}</replicate>', "<replicate>: replicates make more than 4096 copies"),
    (f'<replicate count="100"><replicate count="100">{BODY}</replicate></replicate>', "more than 4096 copies"),
    (f'<replicate count="1e9">{BODY}</replicate>', "more than 4096 copies"),
    (f'<replicate count="4000">{BODY * 60}</replicate>', "more than 200000 elements"),
    (f'<replicate count="3000">{BODY}</replicate><replicate count="3000">{BODY}</replicate>', "more than 4096 copies"),
    ('<body><composite type="cable" count="900000 1 1"/></body>', "more than 200000 elements"),
    ('<flexcomp name="f" type="grid" count="900 900 900"/>', "more than 200000 elements"),
])
def test_copies_are_bounded(tmp_path, text, said):
    refused(written(tmp_path, f"<mujoco><worldbody>{text}</worldbody></mujoco>"), said)


@pytest.mark.parametrize("text", [
    '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
    '<custom><numeric name="n" size="2000000000"/></custom>', '<size nuserdata="2000000000"/>',
    '<size nuser_body="2000000000"/>'])
def test_sizes_are_bounded(tmp_path, text):
    refused(written(tmp_path, f"<mujoco>{text}</mujoco>"), "asks for more than 25000000 numbers")


def test_elements_too_deep_in_each_other(tmp_path):
    refused(written(tmp_path, "<mujoco><worldbody>" + "<body>" * 100_000), "deeper than 500")
    refused(written(tmp_path, "<robot>" + "<link>" * 100_000, "robot.urdf"), "deeper than 500")


def test_too_many_elements(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_XML_ELEMENTS", 50)
    refused(written(tmp_path, f"<mujoco>{'<a/>' * 200}</mujoco>"), "more than 50 elements")


def test_entities_that_multiply(tmp_path):
    lines = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    text = f'<!DOCTYPE mujoco [<!ENTITY e0 "ha">{lines}]><mujoco model="&e12;"/>'
    refused(written(tmp_path, text), "not well-formed XML")


def test_replicates_within_bounds_are_read(tmp_path):
    text = f'<mujoco><worldbody><replicate count="12" offset="1 0 0">{BODY}</replicate></worldbody></mujoco>'
    assert len(ss.Scene().load(written(tmp_path, text)).bodies) >= 12


@pytest.mark.parametrize("text", [
    "{} = 1", "[{}]", "[[{}]]", 'body = [{{ {} = 1 }}]', "x = 1\n  {} = 2"])
@pytest.mark.parametrize("dots", [100, 5_000, 100_000])
@pytest.mark.parametrize("part", ["a", '"b c"', "'d'"])
def test_keys_of_many_dots(tmp_path, text, dots, part):
    path = tmp_path / "scene.toml"
    path.write_text(text.format(".".join([part] * dots)))
    with pytest.raises(ss.SceneError, match=r"scene.toml: line [12]: a key has more than 64 dots"):
        ss.Scene.read(path)


def test_long_words_and_texts_with_dots_are_no_deep_keys(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(f'name = "{"a" * 1_000_000}"\n# {"." * 500} {"1.5, " * 500} {"One. Two three. " * 100}\n')
    assert len(ss.Scene.read(path).name) == 1_000_000


# ---- the trial


def test_a_parser_that_crashes_or_hangs_is_an_error_of_ours(tmp_path, monkeypatch):
    """The guard looks away: what the parser does of itself must not reach this process."""
    path = written(tmp_path, attaching("robot.xml"))
    monkeypatch.setattr(guard.Guard, "_enter", lambda *_: 1)
    refused(path, "MuJoCo's parser (crashes .signal|takes more)")


def test_a_parser_that_takes_too_long(tmp_path):
    path = written(tmp_path, f'<mujoco><worldbody><replicate count="9000000">{BODY}</replicate></worldbody></mujoco>')
    with pytest.raises(ss.SceneError, match="takes more than 2 s"):
        trial.try_parsing(path, seconds=2.0)


def test_only_unclear_files_take_a_process_of_their_own(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr("sesshoku.scene.io.mjcf.read.try_parsing", tried.append)
    written(tmp_path, f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", "part.xml")
    ss.Scene().load(written(tmp_path, '<mujoco><include file="part.xml"/></mujoco>'))
    assert not tried
    ss.Scene().load(written(tmp_path, attaching("part.xml")))
    assert len(tried) == 1


# ---- meshes in other encodings

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def latin_mesh(kind: str) -> bytes:
    if kind == "obj":
        lines = ["# Größe: 5 µm", "o Körper", *(f"v {x} {y} {z}" for x, y, z in CORNERS),
                 *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES)]
    elif kind == "off":
        lines = ["OFF", "# Größe", "4 4 6", *(f"{x} {y} {z}" for x, y, z in CORNERS),
                 *(f"3 {a} {b} {c}" for a, b, c in FACES)]
    elif kind == "ply":
        lines = ["ply", "format ascii 1.0", "comment Größe", "element vertex 4", "property float x", "property float y",
                 "property float z", "element face 4", "property list uchar int vertex_indices", "end_header",
                 *(f"{x} {y} {z}" for x, y, z in CORNERS), *(f"3 {a} {b} {c}" for a, b, c in FACES)]
    else:
        lines = ["solid Größe"]
        for face in FACES:
            corners = ["vertex {} {} {}".format(*CORNERS[k]) for k in face]
            lines += ["facet normal 0 0 0", "outer loop", *corners, "endloop", "endfacet"]
        lines.append("endsolid Größe")
    return ("\n".join(lines) + "\n").encode("latin-1")


@pytest.mark.parametrize("kind", ["obj", "off", "ply", "stl"])
def test_text_meshes_of_any_encoding_are_read(tmp_path, kind):
    path = tmp_path / f"part.{kind}"
    path.write_bytes(latin_mesh(kind))
    vertices, faces = mesh.read(path)
    assert sorted(map(tuple, vertices.tolist())) == sorted(CORNERS) and len(faces) == 4


def test_a_binary_stl_with_any_header_is_read(tmp_path):
    header = "solid Größe".encode("latin-1").ljust(80, b"\xff")
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel([CORNERS[k] for k in face]), 0) for face in FACES)
    (tmp_path / "part.stl").write_bytes(header + struct.pack("<I", 4) + rows)
    vertices, faces = mesh.read(tmp_path / "part.stl")
    assert len(vertices) == 4 and len(faces) == 4
