"""A task that says too little is told so by name."""

from __future__ import annotations

import pytest

import sesshoku as ss
from sesshoku.gym.task import Task


def test_a_task_without_a_scene_or_a_reward_is_told_what_to_define() -> None:
    class Empty(Task):
        pass

    with pytest.raises(ss.SceneError, match="Empty: a task needs a scene; define make_scene"):
        Task.make_scene(Empty.__new__(Empty))
    with pytest.raises(ss.SceneError, match="Empty: a task needs a reward; define reward"):
        Task.reward(Empty.__new__(Empty), None, None)
