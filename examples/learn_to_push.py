"""A finger learns to push a box to a goal, in minutes, by the cross-entropy method on `sesshoku.gym`; then audit it.

    pip install 'sesshoku[learn]'
    python examples/learn_to_push.py --law lcp:recommended
    cd examples && sesshoku audit policies/push_policy.toml --over friction=0.2..0.8 --html audit.html

A linear policy of velocities. Every generation draws policies around a middle, tries each in some worlds, and takes the
mean and the spread of the best fifth for the next. Nothing but NumPy learns here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

GOAL = (0.30, 0.05)  # m
TRIES = 4  # worlds in which each policy is tried


def make_task() -> Any:
    from sesshoku.gym import Push

    class Across(Push):
        """Push with one goal, ahead of the finger and a little aside, from starts that differ."""

        def draw(self, rng: np.random.Generator) -> np.ndarray:
            return np.array(GOAL)

        def start(self, compiled: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
            q, v = compiled.q.copy(), compiled.v.copy()
            at = int(compiled.model.link_coordinate[compiled.joint_link["finger_y"]])
            q[at] += rng.uniform(-0.02, 0.02)
            return q, v

    return Across()


def episodes(env: Any, weights: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean reward and success of a policy in each world, weights (worlds, m, n)."""
    task = env.task
    observed, info = env.reset(seed=seed)
    steps = round(task.duration / (task.dt * task.decimation))
    alive, reward, reached = np.ones(env.num_envs, dtype=bool), np.zeros(env.num_envs), info["success"]
    for n in range(steps):
        action = np.tanh(np.einsum("wmn,wn->wm", weights, observed))
        observed, got, failed, _, info = env.step(action)
        alive &= ~failed
        late = 1.0 + 2.0 * (n > 0.7 * steps)  # where it ends counts more than how it gets there
        reward += np.where(alive, late * got, -1.0) / steps
        reached = alive & info["success"]
    return reward, reached


def learn(law: str, generations: int, worlds: int, seed: int,
          threads: int | None) -> tuple[dict[str, Any], list[dict[str, float]], Any]:
    """Weights, reward and success of every generation, and the task."""
    from sesshoku.gym import RobotVectorEnv

    task, rng, worlds = make_task(), np.random.default_rng(seed), worlds - worlds % TRIES
    env = RobotVectorEnv(task, worlds, method=law, threads=threads)
    m, n = env.single_action_space.shape[0], env.single_observation_space.shape[0]
    middle, spread, curve = np.zeros((m, n)), np.full((m, n), 1.5), []
    tries, start = worlds // TRIES, time.perf_counter()
    elite = max(tries // 5, 2)
    for generation in range(generations):
        tried = middle + spread * rng.normal(size=(tries, m, n))
        tried[0] = middle
        reward, reached = episodes(env, np.repeat(tried, TRIES, axis=0), 1000 * seed + generation)
        best = tried[np.argsort(-reward.reshape(tries, TRIES).mean(axis=1))[:elite]]
        middle, spread = best.mean(axis=0), 0.6 * spread + 0.4 * best.std(axis=0) + 0.005
        curve.append({"reward": round(float(reward.mean()), 4), "success": round(float(reached.mean()), 4)})
        print(f"generation {generation + 1}: reward {reward.mean():.3f}, {100 * reached.mean():.0f} % reach the goal, "
              f"{time.perf_counter() - start:.0f} s", flush=True)
    _, reached = episodes(env, np.repeat(middle[None], worlds, axis=0), 10**6 + seed)
    print(f"the last middle in {worlds} worlds: {100 * reached.mean():.0f} % reach the goal")
    return {"w0": middle, "output": np.array("tanh")}, curve, task


def near(sim: Any) -> bool:
    """Success of an audit: the goal lies under the box."""
    box = sim.bodies["box"]
    away = box.rotation_matrix.T @ (np.array([*GOAL, 0.03]) - box.position)
    return bool(np.abs(away[:2]).max() < 0.06)


def scene() -> Any:
    """The scene of an audit: floor, box, finger."""
    return make_task().scene


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--law", default="lcp:recommended")
    parser.add_argument("--generations", type=int, default=80)
    parser.add_argument("--worlds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("push_policy.npz"))
    given = parser.parse_args()
    network, curve, task = learn(given.law, given.generations, given.worlds, given.seed, given.threads)
    np.savez(given.out, **network)
    task.save_contract(given.out.with_suffix(".toml"), given.out.name, robot="learn_to_push:scene",
                       success="learn_to_push:near", command=GOAL)
    given.out.with_suffix(".json").write_text(json.dumps(
        {"law": given.law, "seed": given.seed, "worlds": given.worlds, "generations": curve}) + "\n")


if __name__ == "__main__":
    main()
