"""Composite-rigid-body algorithm: the mass matrix in rows by ancestor chain."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import FREE
from sesshoku.spatial.algebra import inertia_times


@jit
def mass_matrix(model, data, matrix_out):
    """H (rows by ancestor chain, armature on the diagonal). Needs `kinematics`."""
    S, I, composite = data.axis, data.inertia, data.composite
    depth, row, row_dof, armature = model.dof_depth, model.dof_row, model.row_dof, model.dof_armature
    for i in range(model.link_count):
        for a in range(10):
            composite[i, a] = I[i, a]
    for i in range(model.link_count - 1, -1, -1):
        parent, first = model.link_parent[i], model.link_dof[i]
        if parent >= 0:
            for a in range(10):
                composite[parent, a] += composite[i, a]
        free_root = model.link_joint[model.tree_link[model.link_tree[i]]] == FREE
        for k in range(first, first + model.link_dof_count[i]):
            fx, fy, fz, nx, ny, nz = inertia_times(
                composite, i, S[k, 0], S[k, 1], S[k, 2], S[k, 3], S[k, 4], S[k, 5])
            start, e = row[k], 0
            if free_root and depth[k] >= 6:  # the root's axes are the identity
                (matrix_out[start], matrix_out[start + 1], matrix_out[start + 2], matrix_out[start + 3],
                 matrix_out[start + 4], matrix_out[start + 5]) = fx, fy, fz, nx, ny, nz  # fmt: skip
                e = 6
            while e <= depth[k]:
                j = row_dof[start + e]
                matrix_out[start + e] = (S[j, 0] * fx + S[j, 1] * fy + S[j, 2] * fz
                                         + S[j, 3] * nx + S[j, 4] * ny + S[j, 5] * nz)  # fmt: skip
                e += 1
            matrix_out[start + depth[k]] += armature[k]
