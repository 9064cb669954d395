"""The small humanoid learns to go ahead, in minutes, by the cross-entropy method on `sesshoku.gym`; then audit it.

    pip install 'sesshoku[learn]'
    python examples/learn_to_walk.py --law implicit:recommended --generations 80
    sesshoku audit walk_policy.toml --law exact --law implicit:recommended --law mujoco --html audit.html

A linear policy with a clock. Every generation draws policies around a middle, tries each in two worlds, and takes the
mean and the spread of the best fifth for the next. Nothing but NumPy learns here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

SPEED = 0.06  # m/s ahead that is asked for
TRIES = 2  # worlds in which each policy is tried


def make_task() -> Any:
    from sesshoku.gym import Walk

    class Ahead(Walk):
        """Walk with one command."""

        def draw(self, rng: np.random.Generator) -> np.ndarray:
            return np.array([SPEED])

    return Ahead()


def episodes(env: Any, weights: np.ndarray, seed: int) -> np.ndarray:
    """Fitness of a policy in each world, weights (worlds, m, n).

    Fitness: share of the time on its feet, and where it stays on them share of the way that was asked for.
    """
    task = env.task
    observed, _ = env.reset(seed=seed)
    steps = round(task.duration / (task.dt * task.decimation))
    alive, fitness = np.ones(env.num_envs, dtype=bool), np.zeros(env.num_envs)
    way = np.zeros(env.num_envs)
    for _ in range(steps):
        action = np.tanh(np.einsum("wmn,wn->wm", weights, observed))
        observed, _, failed, truncated, _ = env.step(action)
        places = np.concatenate([group.batch.bodies["torso"].position for group in env.groups])
        alive &= ~failed
        way = np.where(alive, np.clip(places[:, 0] / (SPEED * task.duration), -1.0, 1.0), 0.0)
        fitness += alive / steps
        if not alive.any() or truncated.all():
            break
    return fitness + way


def learn(law: str, generations: int, worlds: int, seed: int,
          threads: int | None) -> tuple[dict[str, Any], list[float], Any]:
    """Weights, the mean fitness of every generation, and the task.

    Which of the last best policies is taken is decided by trying each in all worlds.
    """
    from sesshoku.gym import RobotVectorEnv

    task, rng = make_task(), np.random.default_rng(seed)
    worlds -= worlds % TRIES
    env = RobotVectorEnv(task, worlds, method=law, threads=threads)
    m, n = env.single_action_space.shape[0], env.single_observation_space.shape[0]
    middle, spread, curve = np.zeros((m, n)), np.full((m, n), 0.2), []
    tries = worlds // TRIES
    elite, start = max(tries // 5, 2), time.perf_counter()
    for generation in range(generations):
        tried = middle + spread * rng.normal(size=(tries, m, n))
        tried[0] = middle
        found = episodes(env, np.repeat(tried, TRIES, axis=0), 1000 * seed + generation)
        fitness = found.reshape(tries, TRIES).mean(axis=1)
        best = tried[np.argsort(-fitness)[:elite]]
        middle, spread = best.mean(axis=0), 0.7 * spread + 0.3 * best.std(axis=0) + 0.003
        curve.append(float(fitness.mean()))
        print(f"generation {generation + 1}: mean {fitness.mean():.3f}, best {fitness.max():.3f}, "
              f"{time.perf_counter() - start:.0f} s", flush=True)
    last = [middle, *best]
    proven = [float(episodes(env, np.repeat(one[None], worlds, axis=0), 10**6 + seed).mean()) for one in last]
    print(f"proven in {worlds} worlds: " + ", ".join(f"{one:.3f}" for one in proven))
    return {"w0": last[int(np.argmax(proven))], "output": np.array("tanh")}, curve, task


def went_ahead(sim: Any) -> bool:
    """Success of an audit: it went at least half of the way that was asked for, and stands."""
    torso = sim.bodies["torso"]
    return bool(torso.position[0] > 0.5 * SPEED * sim.time and torso.rotation_matrix[2, 2] > 0.7)


def robot() -> Any:
    """The scene of an audit: the humanoid on its ground."""
    return make_task().scene


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--law", default="implicit:recommended")
    parser.add_argument("--generations", type=int, default=80)
    parser.add_argument("--worlds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("walk_policy.npz"))
    given = parser.parse_args()
    network, curve, task = learn(given.law, given.generations, given.worlds, given.seed, given.threads)
    np.savez(given.out, **network)
    task.save_contract(given.out.with_suffix(".toml"), given.out.name, robot="learn_to_walk:robot",
                       success="learn_to_walk:went_ahead", command=[SPEED])
    given.out.with_suffix(".json").write_text(json.dumps(
        {"law": given.law, "seed": given.seed, "worlds": given.worlds, "fitness": [round(one, 4) for one in curve]}))


if __name__ == "__main__":
    main()
