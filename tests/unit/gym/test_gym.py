"""Environments: Gymnasium's own checks, seeds, many worlds, laws."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import sesshoku.gym as gym  # noqa: E402
from sesshoku.comparison.audit.policy import load_policy  # noqa: E402

NAMES = [*gym.TASKS, "Crane"]


class Slide(gym.Task):
    """A block on a floor, pushed by a motor on a rail: small enough for closed forms."""

    dt, decimation, duration, noise = 2e-3, 5, 0.1, 0.0
    observation = [{"name": "joint_position"}, {"name": "joint_velocity"}, {"name": "command"}]  # noqa: RUF012
    action = {"joints": ["rail"], "scale": 10.0, "kind": "torque"}  # noqa: RUF012

    def make_scene(self) -> ss.Scene:
        scene = ss.Scene(gravity=(0, 0, -10))
        scene.add_ground(material=ss.Material(0.5))
        scene.add_body("block", joint=ss.Joint("prismatic", axis=(1, 0, 0), name="rail"), position=(0, 0, 0.5),
                       inertial=ss.Inertial(2.0, np.zeros(3), np.eye(3)))
        return scene

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.uniform(0.0, 1.0, 1))

    def reward(self, world: Any, command: np.ndarray) -> Any:
        return -np.abs(world.bodies["block"].position[..., 0] - command[..., 0])

    def failed(self, world: Any, command: np.ndarray) -> Any:
        return world.bodies["block"].position[..., 0] > 0.02


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_nothing_wrong(name: str) -> None:
    env = gymnasium.make(f"sesshoku/{name}-v0", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in (".*infinity.*", ".*not within the observation space.*", ".*recommend.*"):
            warnings.filterwarnings("ignore", message=known)
        check_env(env.unwrapped, skip_render_check=name != "Push")
    assert env.observation_space.contains(env.reset(seed=1)[0])
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_what_happens_follows_from_the_seed(name: str) -> None:
    runs = []
    for seed in (5, 5, 6):
        env = gymnasium.make(f"sesshoku/{name}-v0")
        observed, _ = env.reset(seed=seed)
        actions = np.random.default_rng(0).uniform(-1, 1, (8, *env.action_space.shape)).astype(np.float32)
        found = [observed, *(env.step(action)[0] for action in actions)]
        runs.append(np.array(found))
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0][0], runs[2][0])


def test_an_action_is_a_force_and_a_reward_a_distance() -> None:
    """2 kg under 10 N: x = 5/2 t^2."""
    env = gym.RobotEnv(Slide(), method="none")
    _, info = env.reset(seed=2)
    observed, reward, failed, truncated, _ = env.step(np.array([1.0]))
    t = 0.01
    assert observed[1] == pytest.approx(5.0 * t, rel=1e-6) and observed[2] == np.float32(env.command[0])
    assert observed[0] == pytest.approx(2.5 * t * t, rel=0.25)  # first order in the step
    assert reward == pytest.approx(-abs(observed[0] - env.command[0]), rel=1e-6) and info["law"] == "none"
    assert not failed and not truncated


def test_episodes_end_by_time_or_by_failure() -> None:
    env = gym.RobotEnv(Slide(), method="none")
    env.reset(seed=0)
    ends = [env.step(np.array([0.0]))[2:4] for _ in range(10)]
    assert ends == [(False, False)] * 9 + [(False, True)]
    env.reset(seed=0)
    ends = [env.step(np.array([1.0]))[2] for _ in range(10)]
    assert ends.index(True) == next(n for n in range(10) if 2.5 * (0.01 * (n + 1))**2 > 0.02 - 1e-3)


def test_many_worlds_do_what_one_does() -> None:
    """The same starts, commands and actions: the same numbers, bit for bit, also after a world begins anew."""
    task = gym.Push()
    many = gym.RobotVectorEnv(task, 3, method="exact")
    observed, _ = many.reset(seed=4)
    one = gym.RobotEnv(gym.Push(), method="exact")
    one.reset(seed=0)
    group, world = many.groups[0], 1
    one.command = one.drive.command = group.command[world].copy()
    one.sim.set_state(group.batch.q[world], group.batch.v[world])
    one.drive.begin()
    np.testing.assert_array_equal(one._observe(), observed[world])
    rng = np.random.default_rng(1)
    for _ in range(5):
        actions = rng.uniform(-1, 1, (3, 2))
        observed, rewards, *_ = many.step(actions)
        alone, reward, *_ = one.step(actions[world])
        np.testing.assert_array_equal(observed[world], alone)
        assert rewards[world] == reward


def test_a_world_that_is_over_begins_anew_in_the_next_step() -> None:
    env = gym.RobotVectorEnv(Slide(), 2, method="none")
    env.reset(seed=1)
    before = env.groups[0].command.copy()
    over = []
    for _ in range(12):
        observed, rewards, failed, truncated, _ = env.step(np.array([[1.0], [0.0]]))
        over.append((bool(failed[0]), bool(truncated[1])))
        if len(over) > 1 and over[-2][0]:
            assert observed[0, 0] == 0.0 and rewards[0] == 0.0 and not failed[0]  # its action was not heeded
    first = [one for one, _ in over].index(True)
    assert [one for one, _ in over].count(True) >= 1 and over[9] == (over[9][0], True) and first < 9
    after = env.groups[0].command
    assert after[0, 0] != before[0, 0]  # a new goal
    with pytest.raises(ss.SceneError, match="finite numbers"):
        env.step(np.zeros((3, 1)))


def test_vector_environments_by_name_and_seeds() -> None:
    runs = []
    for seed in (3, 3, 4):
        env = gymnasium.make_vec("sesshoku/Push-v0", num_envs=4, vectorization_mode="vector_entry_point")
        observed, _ = env.reset(seed=seed)
        runs.append(np.concatenate([observed, env.step(np.zeros(env.action_space.shape))[0]]))
        assert env.observation_space.contains(observed)
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    few = gymnasium.make_vec("sesshoku/Push-v0", num_envs=2, vectorization_mode="vector_entry_point")
    np.testing.assert_array_equal(few.reset(seed=3)[0], runs[0][:2])  # of fewer worlds the first


def test_every_episode_draws_a_law() -> None:
    env = gymnasium.make("sesshoku/Push-v0", laws=["exact", "lcp:recommended", "multipoint"])
    seen = {env.reset(seed=seed)[1]["law"] for seed in range(12)}
    assert seen == {"exact", "lcp:recommended", "multipoint"}
    many = gym.RobotVectorEnv(gym.Push(), 5, laws=["exact", "lcp:recommended"])
    assert [(group.law.label, len(group.rows)) for group in many.groups] == [("exact", 3), ("lcp:recommended", 2)]
    many.reset(seed=1)
    assert many.step(np.ones((5, 2)))[0].shape == (5, 16)
    with pytest.raises(ss.SceneError, match="either a method or several laws"):
        gym.RobotEnv(gym.Push(), method="exact", laws=["lcp"])


def test_every_episode_draws_what_varies() -> None:
    env = gym.RobotEnv(gym.Push(), vary={"friction": (0.2, 0.9), "mass": 0.1})
    drawn = []
    for seed in (1, 2, 1):
        env.reset(seed=seed)
        drawn.append(env.sim.scene.bodies["box"].geometries[0].material.static_friction)
    assert drawn[0] == drawn[2] != drawn[1] and all(0.2 <= friction <= 0.9 for friction in drawn)


def test_pushes_on_a_standing_humanoid() -> None:
    """Without pushes it stands; pushed hard it falls, and the episode ends."""
    for push, falls in ((0.0, False), (30.0, True)):
        env = gymnasium.make("sesshoku/Balance-v0", push=push).unwrapped
        env.reset(seed=1)
        ended = False
        for _ in range(100):
            ended = env.step(np.zeros(10))[2]
            if ended:
                break
        assert ended == falls


def test_a_picture() -> None:
    env = gym.RobotEnv(gym.Push(), render_mode="rgb_array")
    env.reset(seed=0)
    shown = env.render()
    assert shown is not None and shown.shape == (480, 480, 3) and shown.dtype == np.uint8 and shown.std() > 5.0
    with pytest.raises(ss.SceneError, match="no such way to render"):
        gym.RobotEnv(gym.Push(), render_mode="ascii")


def test_what_is_trained_is_audited_as_it_is(tmp_path: Path) -> None:
    """The contract of a task, read back, makes a policy that sees and does what the environment showed and did."""
    task = gym.Push()
    weights = 0.3 * np.random.default_rng(0).normal(size=(2, 16))
    np.savez(tmp_path / "push.npz", w0=weights, output=np.array("tanh"))
    task.save_contract(tmp_path / "push.toml", "push.npz", command=[0.2, 0.1])
    policy = load_policy(tmp_path / "push.toml")
    sim = ss.Simulation(gym.Push().scene, "exact", task.dt)
    for _ in range(50):
        policy(sim)
        sim.step()
    env = gym.RobotEnv(task, method="exact")
    env.reset(seed=0)
    env.sim.reset()
    env.command = env.drive.command = np.array([0.2, 0.1])
    env.drive.begin()
    for _ in range(5):
        env.step(np.tanh(weights @ env.drive.observe(env.sim)))
    np.testing.assert_allclose(env.sim.q, sim.q, atol=1e-12)
    assert abs(sim.joints["finger_x"].position + 0.16) > 1e-3


def test_without_the_extra_the_error_names_it() -> None:
    import subprocess

    code = "import sys; sys.modules['gymnasium'] = None\nimport sesshoku.gym"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.returncode == 1 and "pip install 'sesshoku[learn]'" in said.stderr
