"""Which trees of links loops and mimics join: the constraints of a model, sorted by groups of trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.model import KINEMATIC


def group_arrays(arrays: dict[str, Any]) -> dict[str, Any]:
    """Sort limits, joint frictions, mimics and loops by the group of trees they belong to, with each group's ranges."""
    leader = list(range(arrays["tree_count"]))  # union-find over trees

    def find(tree: int) -> int:
        while leader[tree] != tree:
            leader[tree] = leader[leader[tree]]
            tree = leader[tree]
        return tree

    link_tree, dof_link = np.asarray(arrays["link_tree"]), np.asarray(arrays["dof_link"])
    loop_trees = [[int(link_tree[link]) for link in pair if link >= 0] for pair in arrays["loop_link"]]
    mimic_trees = [[int(link_tree[dof_link[k]]) for k in pair]
                   for pair in zip(arrays["mimic_dof"], arrays["mimic_source"], strict=True)]
    for trees in loop_trees + mimic_trees:
        for tree in trees[1:]:
            leader[find(tree)] = find(trees[0])
    owners = {
        "limited": [find(int(link_tree[dof_link[k]])) for k in arrays["limited_dofs"]],
        "rubbing": [find(int(link_tree[dof_link[k]])) for k in arrays["rubbing_dofs"]],
        "mimic": [find(trees[0]) for trees in mimic_trees], "loop": [find(trees[0]) for trees in loop_trees],
    }
    members = {"limited": ["limited_dofs"], "rubbing": ["rubbing_dofs"],
               "mimic": ["mimic_dof", "mimic_source", "mimic_ratio", "mimic_offset"],
               "loop": ["loop_kind", "loop_link", "loop_position", "loop_rotation", "loop_correction"]}
    groups = {tree: g for g, tree in enumerate(sorted(set().union(*owners.values())))}
    result: dict[str, Any] = {"group_count": len(groups)}
    for key, trees in owners.items():
        numbers = np.array([groups[tree] for tree in trees], dtype=np.int64)
        order = np.argsort(numbers, kind="stable")
        for name in members[key]:
            result[name] = np.asarray(arrays[name])[order] if len(order) else arrays[name]
        result[f"group_{key}"] = np.searchsorted(numbers[order], np.arange(len(groups) + 1))
        if key == "loop":
            result["loop_order"] = order
    return result


def joined_trees(arrays: dict[str, Any]) -> np.ndarray:
    """For each tree the first of those that loops and mimics join with it. The world and scripts join nobody."""
    joined = np.arange(arrays["tree_count"])
    tree, kind, dof_link = (np.asarray(arrays[name]) for name in ("link_tree", "link_joint", "dof_link"))
    mimics = zip(arrays["mimic_dof"], arrays["mimic_source"], strict=True)
    for a, b in [*arrays["loop_link"], *((dof_link[k], dof_link[n]) for k, n in mimics)]:
        if a >= 0 and b >= 0 and kind[a] != KINEMATIC and kind[b] != KINEMATIC:
            pair = joined[tree[a]], joined[tree[b]]
            joined[joined == max(pair)] = min(pair)
    return joined
