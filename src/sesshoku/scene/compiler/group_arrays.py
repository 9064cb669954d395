"""Which trees of links loops and mimics join: the constraints of a model, sorted by groups of trees.

Within a group loops and mimics that share a joint form a **cluster**: only rows of one cluster can depend on each other
(`dynamics.independent`). Two legs with a linkage each are two clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model.arrays import KINEMATIC, LOOP_ROWS


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
    tendon_trees = tendons_trees(arrays)
    for trees in loop_trees + mimic_trees + tendon_trees:
        for tree in trees[1:]:
            leader[find(tree)] = find(trees[0])
    owners = {
        "limited": [find(int(link_tree[dof_link[k]])) for k in arrays["limited_dofs"]],
        "rubbing": [find(int(link_tree[dof_link[k]])) for k in arrays["rubbing_dofs"]],
        "tendon": [find(trees[0]) for trees in tendon_trees],
        "mimic": [find(trees[0]) for trees in mimic_trees], "loop": [find(trees[0]) for trees in loop_trees],
    }
    members = {"limited": ["limited_dofs"], "rubbing": ["rubbing_dofs"], "tendon": ["rowed_tendons"],
               "mimic": ["mimic_dof", "mimic_source", "mimic_ratio", "mimic_offset"],
               "loop": ["loop_kind", "loop_link", "loop_position", "loop_rotation", "loop_correction"]}
    groups = {tree: g for g, tree in enumerate(sorted(set().union(*owners.values())))}
    result: dict[str, Any] = {"group_count": len(groups)}
    numbers = {key: np.array([groups[tree] for tree in trees], dtype=np.int64) for key, trees in owners.items()}
    clusters, chains = _clusters(arrays, numbers["mimic"], numbers["loop"])
    for key in owners:
        order = np.argsort(clusters.get(key, numbers[key]), kind="stable")  # clusters are numbered group by group
        for name in members[key]:
            result[name] = np.asarray(arrays[name])[order] if len(order) else arrays[name]
        result[f"group_{key}"] = np.searchsorted(numbers[key][order], np.arange(len(groups) + 1))
        if key in clusters:
            result[f"cluster_{key}"] = np.searchsorted(clusters[key][order], np.arange(len(chains) + 1))
        if key == "loop":
            result["loop_order"] = order
    of_group = np.zeros(len(chains), dtype=np.int64)
    for key in clusters:
        of_group[clusters[key]] = numbers[key]
    return result | {"cluster_count": len(chains),
                     "group_cluster": np.searchsorted(of_group, np.arange(len(groups) + 1)),
                     **_cluster_rows(arrays, result, chains)}


def _clusters(arrays: dict[str, Any], mimic_group: np.ndarray,
              loop_group: np.ndarray) -> tuple[dict[str, np.ndarray], list[list[int]]]:
    """The cluster of every mimic and loop, and of every cluster the dofs its rows reach: with all their ancestors."""
    rows, starts = np.asarray(arrays["row_dof"]), np.asarray(arrays["dof_row"])

    def chain(dof: int) -> set[int]:
        return set() if dof < 0 else set(rows[starts[dof]:starts[dof + 1]].tolist())

    both = [({int(k), int(n)}, chain(int(k)) | chain(int(n)))
            for k, n in zip(arrays["mimic_dof"], arrays["mimic_source"], strict=True)]
    for pair in arrays["loop_link"]:
        a, b = (chain(_last_dof(arrays, int(link))) for link in pair)
        both.append((a ^ b, a | b))  # what both ends hang on moves neither against the other
    group = [*mimic_group.tolist(), *loop_group.tolist()]
    label = list(range(len(both)))
    for n, (moved, _) in enumerate(both):
        for other in range(n):
            if moved & both[other][0] and label[other] != label[n]:
                old, new = label[n], label[other]
                label = [new if value == old else value for value in label]
    order = sorted(set(label), key=lambda value: (group[value], value))
    number = np.array([order.index(value) for value in label], dtype=np.int64)
    chains = [sorted(set().union(*(both[n][1] for n in np.flatnonzero(number == c)))) for c in range(len(order))]
    return {"mimic": number[:len(mimic_group)], "loop": number[len(mimic_group):]}, chains


def _last_dof(arrays: dict[str, Any], link: int) -> int:
    """The last dof on the way from the root to a link, -1 where nothing moves it."""
    while link >= 0 and arrays["link_dof_count"][link] == 0:
        link = int(arrays["link_parent"][link])
    return -1 if link < 0 else int(arrays["link_dof"][link] + arrays["link_dof_count"][link] - 1)


def _cluster_rows(arrays: dict[str, Any], result: dict[str, Any], chains: list[list[int]]) -> dict[str, Any]:
    """Each cluster's dofs behind the ancestor chains, and where its rows, their numbers and their factor lie."""
    first = len(arrays["row_dof"])
    ends = np.concatenate([[0], np.cumsum([len(chain) for chain in chains])]).astype(np.int64)
    loop_rows = np.concatenate([[0], np.cumsum([LOOP_ROWS[kind] for kind in result["loop_kind"]])]).astype(np.int64)
    rows = np.diff(loop_rows[result["cluster_loop"]]) + np.diff(result["cluster_mimic"])
    sizes = np.column_stack([rows, rows * np.diff(ends), rows * rows]).reshape(-1, 3)
    return {"row_dof": np.concatenate([arrays["row_dof"], *chains]).astype(np.int64),
            "cluster_dofs": np.column_stack([first + ends[:-1], np.diff(ends)]).astype(np.int64).reshape(-1, 2),
            "cluster_start": np.concatenate([np.zeros((1, 3)), np.cumsum(sizes, axis=0)]).astype(np.int64)}


def tendons_trees(arrays: dict[str, Any]) -> list[list[int]]:
    """The trees of the joints of every tendon with limits or friction."""
    link_tree, dof_link = np.asarray(arrays["link_tree"]), np.asarray(arrays["dof_link"])
    start, dofs = arrays["tendon_drive"], arrays["tendon_dof"]
    return [[int(link_tree[dof_link[k]]) for k in dofs[start[n]:start[n + 1]]] for n in arrays["rowed_tendons"]]


def joined_trees(arrays: dict[str, Any]) -> np.ndarray:
    """For each tree the first of those that loops, mimics and tendons join with it; the world and scripts join none."""
    joined = np.arange(arrays["tree_count"])
    tree, kind, dof_link = (np.asarray(arrays[name]) for name in ("link_tree", "link_joint", "dof_link"))
    mimics = zip(arrays["mimic_dof"], arrays["mimic_source"], strict=True)
    start, dofs = arrays["tendon_drive"], arrays["tendon_dof"]
    tendons = [(dof_link[dofs[start[n]]], dof_link[k]) for n in arrays["rowed_tendons"]
               for k in dofs[start[n] + 1:start[n + 1]]]
    for a, b in [*arrays["loop_link"], *((dof_link[k], dof_link[n]) for k, n in mimics), *tendons]:
        if a >= 0 and b >= 0 and kind[a] != KINEMATIC and kind[b] != KINEMATIC:
            pair = joined[tree[a]], joined[tree[b]]
            joined[joined == max(pair)] = min(pair)
    return joined
