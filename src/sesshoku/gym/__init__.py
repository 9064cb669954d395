"""Environments for reinforcement learning, by the interface of Gymnasium (extra `learn`).

    import gymnasium
    import sesshoku.gym                                        # registers the environments below
    env = gymnasium.make("sesshoku/Push-v0", method="exact")
    envs = gymnasium.make_vec("sesshoku/Push-v0", num_envs=64)   # on `ss.Batch`

`sesshoku/Balance-v0`, `Walk-v0`, `Reach-v0`, `Grasp-v0`, `Push-v0`, `Crane-v0`. A robot of one's own is a `Task`
(scene, contract, reward) in `RobotEnv` or `RobotVectorEnv`. What a policy observes and does is a contract
(`comparison.audit.contract`), so that what is trained here is audited as it is: `task.save_contract("policy.toml")`.

In: a task, a law and a seed. Out: observations, rewards and endings, for any learner.
"""

from __future__ import annotations

from sesshoku.errors import from_extra

with from_extra("learn", "sesshoku.gym"):
    import gymnasium

from sesshoku.gym.crane import CraneEnv
from sesshoku.gym.env import RobotEnv
from sesshoku.gym.task import Task
from sesshoku.gym.tasks.arm import Grasp, Reach
from sesshoku.gym.tasks.humanoid import Balance, Walk
from sesshoku.gym.tasks.push import Push
from sesshoku.gym.vector import RobotVectorEnv

TASKS: dict[str, type[Task]] = {"Balance": Balance, "Walk": Walk, "Reach": Reach, "Grasp": Grasp, "Push": Push}


def register() -> None:
    """Make the environments known to Gymnasium; importing this package does it."""
    for name, task in TASKS.items():
        if f"sesshoku/{name}-v0" not in gymnasium.registry:
            gymnasium.register(f"sesshoku/{name}-v0", entry_point="sesshoku.gym.env:make_env",
                               vector_entry_point="sesshoku.gym.vector:make_vector_env", kwargs={"task": task})
    if "sesshoku/Crane-v0" not in gymnasium.registry:
        gymnasium.register("sesshoku/Crane-v0", entry_point="sesshoku.gym.crane:CraneEnv")


register()

__all__ = ["TASKS", "Balance", "CraneEnv", "Grasp", "Push", "Reach", "RobotEnv", "RobotVectorEnv", "Task", "Walk",
           "register"]
