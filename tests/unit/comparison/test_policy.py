"""Policies: what their contracts say is what they see and do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.comparison.audit.contract import Contract, Observation, read_contract
from sesshoku.comparison.audit.drive import Drive, add_drives
from sesshoku.comparison.audit.networks import load_network
from sesshoku.comparison.audit.observe import QUANTITIES
from sesshoku.comparison.audit.policy import Policy, load_policy

CONTRACT = """
file = "cart.npz"
decimation = 5
dt = 0.002
time = 0.5
[default]
rail = 0.1
[[observation]]
name = "joint_position"
[[observation]]
name = "joint_velocity"
scale = 0.5
[action]
joints = ["rail"]
scale = 2.0
kind = "torque"
"""


def cart(kind: str | None = None) -> ss.Scene:
    """A cart of 2 kg on a rail; nothing touches."""
    scene = ss.Scene(name="cart")
    scene.add_body("cart", joint=ss.Joint("prismatic", axis=(1, 0, 0), name="rail"),
                   inertial=ss.Inertial(2.0, np.zeros(3), np.eye(3)))
    if kind is not None:
        scene.add_actuator("rail", kind, **({"kp": 30.0, "kd": 4.0} if kind == "position" else {}))
    return scene


def weights(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "cart.npz", **{"w0": np.array([[-3.0, -2.0]]), "b0": np.array([0.25])} | arrays)
    (folder / "cart.toml").write_text(CONTRACT)
    return folder / "cart.toml"


def driven(policy: Policy, scene: ss.Scene, steps: int = 100) -> np.ndarray:
    policy.prepare_scene(scene)
    sim = ss.Simulation(scene, "none", 2e-3)
    places = []
    for _ in range(steps):
        policy(sim)
        sim.step()
        places.append(sim.joints["rail"].position)
    return np.array(places)


def test_a_policy_does_what_its_contract_says(tmp_path: Path) -> None:
    """Bit for bit what a controller written by hand does."""
    found = driven(load_policy(weights(tmp_path)), cart())
    sim = ss.Simulation(cart("torque"), "none", 2e-3)
    expected = []
    for n in range(100):
        if n % 5 == 0:
            q, v = sim.joints["rail"].position - 0.1, 0.5 * sim.joints["rail"].velocity
            sim.actuators["rail"].target = float(2.0 * (np.array([[-3.0, -2.0]]) @ np.array([q, v]) + 0.25)[0])
        sim.step()
        expected.append(sim.joints["rail"].position)
    np.testing.assert_array_equal(found, expected)
    assert np.ptp(found) > 1e-3


def test_a_network_beside_its_contract(tmp_path: Path) -> None:
    weights(tmp_path)
    np.testing.assert_array_equal(driven(load_policy(tmp_path / "cart.npz"), cart()),
                                  driven(load_policy(tmp_path / "cart.toml"), cart()))


def test_servos_of_the_policy_and_of_the_model_agree(tmp_path: Path) -> None:
    """PD by the robot's computer on torque motors, explicit, comes near the servo that the model has."""
    weights(tmp_path)
    text = CONTRACT.replace('kind = "torque"', 'kind = "position"\nkp = 30.0\nkd = 4.0\neffort = 100.0')
    (tmp_path / "cart.toml").write_text(text)
    motors = driven(load_policy(tmp_path / "cart.toml"), cart("torque"))
    servos = driven(load_policy(tmp_path / "cart.toml"), cart("position"))
    added = driven(load_policy(tmp_path / "cart.toml"), cart())
    np.testing.assert_array_equal(servos, added)
    np.testing.assert_allclose(motors, servos, atol=0.03 * np.abs(servos).max())
    (tmp_path / "cart.toml").write_text(text.replace("kp = 30.0", "kp = 31.0"))
    with pytest.raises(ss.SceneError, match="servo has kp 30, the contract says 31"):
        driven(load_policy(tmp_path / "cart.toml"), cart("position"))


@pytest.mark.parametrize(("by", "newest", "expected"), [
    ("observation", False, [1, 10, 1, 10, 2, 20]), ("observation", True, [2, 20, 1, 10, 1, 10]),
    ("quantity", False, [1, 1, 2, 10, 10, 20]), ("quantity", True, [2, 1, 1, 20, 10, 10])])
def test_history(by: Any, newest: bool, expected: list[float]) -> None:
    contract = Contract(rate=50.0, history=3, history_by=by, newest_first=newest,
                        observation=[Observation(name="joint_position"), Observation(name="joint_velocity")])
    sim = ss.Simulation(cart("position"), "none", 2e-3)
    drive = Drive(contract, sim.scene)
    for n in (1.0, 2.0):
        sim.joints["rail"].position, sim.joints["rail"].velocity = n, 10 * n
        found = drive.observe(sim)
    np.testing.assert_array_equal(found, expected)


def test_every_quantity_is_the_same_in_one_world_and_in_many() -> None:
    """And what it says: against the simulation's own numbers."""
    scene = ss.Scene()
    scene.add_ground()
    scene.load(ss.robots.path("humanoid_small.xml"), pose="stand")
    scene.add_imu("imu", "torso")
    said = {name: {"name": name} for name in QUANTITIES}
    said["clock"]["period"] = 0.7  # type: ignore[assignment]
    said["command"]["value"] = [0.5, 0.25]  # type: ignore[assignment]
    said["sensor"]["sensor"] = "imu"
    for name in ("touching", "body_position", "body_rotation", "body_velocity", "body_angular_velocity"):
        said[name]["bodies"] = ["left_foot", "right_foot"]  # type: ignore[assignment]
    sim, batch = ss.Simulation(scene, "exact", 2e-3), ss.Batch(scene, 2, "exact", 2e-3)
    sim.step(20), batch.step(20)
    sizes = {}
    for name, one in said.items():
        contract = Contract(rate=50.0, observation=[Observation(**one)])
        alone, many = Drive(contract, scene).observe(sim), Drive(contract, scene, 2).observe(batch)
        np.testing.assert_array_equal(many, [alone, alone], err_msg=name)
        sizes[name] = len(alone)
    assert sizes["joint_position"] == 20 and sizes["base_rotation"] == 4 and sizes["body_rotation"] == 8
    assert sizes["clock"] == 2 and sizes["touching"] == 2 and sizes["sensor"] == 6 and sizes["base_height"] == 1
    R = sim.bodies["torso"].rotation_matrix
    drive = Drive(Contract(rate=50.0, observation=[Observation(name="projected_gravity")]), scene)
    np.testing.assert_allclose(drive.observe(sim), R.T @ [0, 0, -1], atol=1e-15)


def test_onnx_gives_what_its_weights_give(tmp_path: Path) -> None:
    """policies/cart.onnx: the weights above in a network of ONNX."""
    pytest.importorskip("onnxruntime")
    network = load_network(Path(__file__).parents[2] / "data" / "policies" / "cart.onnx")
    plain = load_network(weights(tmp_path).with_name("cart.npz"))
    for observation in np.random.default_rng(0).normal(size=(5, 2)):
        np.testing.assert_allclose(network(observation), plain(observation), rtol=1e-6, atol=1e-6)
    with pytest.raises(ss.SceneError, match="does not take 3 numbers"):
        network(np.zeros(3))
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    with pytest.raises(ss.SceneError, match="not a network that onnxruntime reads"):
        load_network(tmp_path / "bad.onnx")


def test_layers_and_activations(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    W, V, b, x = rng.normal(size=(4, 3)), rng.normal(size=(2, 4)), rng.normal(size=4), rng.normal(size=3)
    np.savez(tmp_path / "net.npz", w0=W, b0=b, w1=V, mean=np.ones(3), std=np.full(3, 2.0),
             activation=np.array("relu"), output=np.array("tanh"))
    expected = np.tanh(V @ np.maximum(W @ ((x - 1.0) / 2.0) + b, 0.0))
    np.testing.assert_allclose(load_network(tmp_path / "net.npz")(x), expected, rtol=1e-14)
    for arrays, said in (({"v0": W}, "no weights"), ({"w0": W[0]}, "not a matrix"),
                         ({"w0": W, "activation": np.array("gelu")}, "names an activation")):
        np.savez(tmp_path / "net.npz", **arrays)
        with pytest.raises(ss.SceneError, match=said):
            load_network(tmp_path / "net.npz")


@pytest.mark.parametrize(("old", "new", "said"), [
    ("decimation = 5", "rate = 50.0\ndecimation = 5", "acts at a rate"), ("dt = 0.002", "", "say dt"),
    ("scale = 0.5", "scale = [0.5, 0.5]", "1 numbers and 2 scales"), ("decimation", "decimatoin", "did you mean"),
    ("joint_velocity", "joint_velocty", "did you mean 'joint_velocity'"), ('"rail"]', '"rial"]', "no such joint.*rail"),
    ("scale = 2.0", "scale = [1.0, 2.0]", "2 numbers for 1 joints"), ('"cart.npz"', '"nothing.npz"', "no such file"),
    ('"cart.npz"', '"cart.h5"', "no such kind of policy"), ('file = "cart.npz"', "", "names no network"),
])
def test_contracts_that_will_not_do(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = weights(tmp_path)
    path.write_text(CONTRACT.replace(old, new))
    with pytest.raises(ss.SceneError, match=said):
        driven(load_policy(path), cart(), 1)


def test_what_a_network_and_its_contract_disagree_on(tmp_path: Path) -> None:
    with pytest.raises(ss.SceneError, match="takes 3 numbers"):
        driven(load_policy(weights(tmp_path, w0=np.ones((1, 3)))), cart(), 1)
    with pytest.raises(ss.SceneError, match="gives 2 numbers for 1 joints"):
        driven(load_policy(weights(tmp_path, w0=np.ones((2, 2)), b0=np.zeros(2))), cart(), 1)
    with pytest.raises(ss.SceneError, match="needs its contract"):
        read_contract(tmp_path / "other.toml")
    with pytest.raises(ss.SceneError, match="no gains"):
        contract = Contract(rate=50.0, observation=[Observation(name="time")], action={"joints": ["rail"]})
        add_drives(cart(), contract)


def test_a_policy_is_audited(tmp_path: Path) -> None:
    path = weights(tmp_path)
    cart().save(tmp_path / "cart_scene.toml")
    result = ss.audit(path, robot=tmp_path / "cart_scene.toml", laws=["exact", "lcp"], seeds=1, workers=0,
                      progress=False)
    assert not result.depends and result.share("exact").count == 1 and result.case is not None
    assert result.study[0]["time"] == pytest.approx(0.5)  # the contract's time
    again = {"robot": tmp_path / "cart_scene.toml", "laws": ["exact", "lcp"], "seeds": 1, "workers": 0,
             "progress": False, "path": tmp_path / "runs.jsonl"}
    ss.audit(path, **again), ss.audit(path, **again)
    weights(tmp_path, b0=np.array([0.5]))
    with pytest.raises(ss.RecordingError, match="another code"):  # of another policy
        ss.audit(path, **again)


def test_policies_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of Stable-Baselines3, by a stand-in; without the packages the error names them."""
    import sys
    from types import SimpleNamespace

    class Ppo:
        @staticmethod
        def load(path: str, device: str) -> Any:
            assert path.endswith("policy.zip") and device == "cpu"
            return SimpleNamespace(predict=lambda observation, deterministic: (
                -2.0 * observation[:1] if deterministic and observation.dtype == np.float32 else None, None))

    for name in ("policy.zip", "policy.pt"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, "stable_baselines3", SimpleNamespace(PPO=Ppo))
    np.testing.assert_array_equal(load_network(tmp_path / "policy.zip")(np.array([0.5, 1.0])), [-1.0])
    with pytest.raises(ss.SceneError, match="no such algorithm"):
        load_network(tmp_path / "policy.zip", "DQN2")
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    for name, package in (("policy.zip", "stable-baselines3"), ("policy.pt", "torch")):
        with pytest.raises(ss.SceneError, match=f"pip install {package}"):
            load_network(tmp_path / name)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ss.MissingExtra, match=r"sesshoku\[learn\]"):
        load_network(Path(__file__).parents[2] / "data" / "policies" / "cart.onnx")
