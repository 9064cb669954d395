"""Which pushes does a standing humanoid survive, and on which ground? Many worlds at once, each with its own.

    python examples/push_recovery.py                   # 256 humanoids; writes out/push_recovery.png
    python examples/push_recovery.py --worlds 4096

Every world has its own friction, its own masses (10 % more or less) and a push of its own size and direction on the
chest, a tenth of a second long. Servos hold the stance. `policy` is where a network goes: it sees tensors of PyTorch
that share their memory with the batch where PyTorch is installed, NumPy's arrays where not.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss

try:
    import torch

    tensor: Any = torch.from_dlpack
except ImportError:
    tensor = np.asarray

DT, REPEAT = 2e-3, 5  # s; steps for each action: the policy acts at 100 Hz
PUSH = 0.1  # s
LARGEST = 60.0  # N s
FRICTION = (0.05, 0.8)


def standing() -> tuple[ss.Scene, ss.Robot]:
    """The large humanoid on flat ground."""
    scene = ss.Scene(name="push recovery")
    scene.add_ground()
    return scene, scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")


def policy(q: Any, v: Any, stance: Any) -> Any:
    """Commands (worlds, A) from positions and velocities (worlds, n). Here: the servos hold the stance."""
    return stance + 0.0 * q[:, :1] + 0.0 * v[:, :1]


def study(worlds: int, threads: int | None = None, seed: int = 0) -> dict[str, np.ndarray]:
    """Friction, size of the push (N s) and whether the humanoid still stands, of every world."""
    scene, robot = standing()
    batch = ss.Batch(scene, worlds, "lcp:recommended", DT, threads=threads, seed=seed,
                     vary={"friction": FRICTION, "mass": 0.1, "joint_position": 0.01})
    rng = np.random.default_rng(seed)
    size, angle = rng.uniform(0.0, LARGEST, worlds), rng.uniform(0.0, 2.0 * np.pi, worlds)
    force = (size / PUSH)[:, None] * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    humanoid = batch.robots[robot]
    stance, height = tensor(humanoid.command), humanoid.base.position[:, 2]
    for n in range(round(2.5 / (REPEAT * DT))):
        now = n * REPEAT * DT
        if 0.5 <= now < 0.5 + PUSH:
            batch.apply_force("chest", force)
        humanoid.command = np.asarray(policy(tensor(batch.q), tensor(batch.v), stance))
        batch.step(REPEAT)
    stands = (humanoid.base.position[:, 2] > 0.8 * height) & ~batch.diverged
    return {"friction": batch.varied["friction"][:, 0, 0], "push": size, "stands": stands}


def picture(found: dict[str, np.ndarray], path: Path) -> None:
    """Share of the humanoids that stand, over friction and push."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bins = max(2, min(16, round(np.sqrt(len(found["push"]) / 6))))
    edges = np.linspace(*FRICTION, bins + 1), np.linspace(0.0, LARGEST, bins + 1)
    count, *_ = np.histogram2d(found["friction"], found["push"], edges)
    stood, *_ = np.histogram2d(found["friction"], found["push"], edges, weights=found["stands"].astype(float))
    share = np.divide(stood, count, out=np.full_like(stood, np.nan), where=count > 0)
    figure, axes = plt.subplots(figsize=(5.5, 4.0), layout="constrained")
    shown = axes.pcolormesh(*edges, share.T, cmap="viridis", vmin=0.0, vmax=1.0)
    axes.set(xlabel="friction of the ground and the soles", ylabel="push [N s]",
             title=f"{len(found['push'])} humanoids, pushed at the chest")
    figure.colorbar(shown, label="share that stands")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("out/push_recovery.png"))
    given = parser.parse_args()
    begin = time.perf_counter()
    found = study(given.worlds, given.threads)
    print(f"{given.worlds} humanoids, 2.5 s each, in {time.perf_counter() - begin:.0f} s: "
          f"{found['stands'].mean():.0%} stand")
    picture(found, given.out)
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()
