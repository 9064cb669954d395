"""`schedule="balanced"`: the same laws, assembled by `dynamics.assembly` in an order of logarithmic depth.

All trees are one group; contacts with the world, pairs of links and loops are contact joints, assembled after the
trees. Where the assembly has no room, or links have no inertia of their own, or mimics are there, or contacts are too
stiff for it, the trees go from the leaves to the root as usual: the result is the same.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.assembly.assemble import assemble_all
from sesshoku.dynamics.assembly.work import CONTACT_JOINT, CONTACT_JOINTS, JOINTS, ROUGH
from sesshoku.methods.implicit.coupling import acts, has_pairs
from sesshoku.methods.implicit.problem import moves
from sesshoku.methods.implicit.work import PAIRS
from sesshoku.spatial.algebra import cross


@jit
def solve_by_schedule(model, data, work):
    """Accelerations under the laws of the present states, assembled in their own order. False where it cannot."""
    assembly = work.assembly
    if model.mimic_count > 0:
        return False
    coupled = has_pairs(work, 0)
    count, o0 = 0, data.tree_origin
    base = assembly.counts[JOINTS] - assembly.counts[CONTACT_JOINTS]
    # loops of the model are stiff laws here: leave out the rigid ones
    base -= model.loop_count
    O, g = o0[0], model.gravity
    for i in range(model.link_count):
        if work.stiffened[i] != 0 and moves(model, i):
            if count >= assembly.contact_capacity:
                return False
            G, f, S = assembly.contact_matrix[count], assembly.contact_force[count], work.stiff[i]
            for r in range(6):
                f[r] = work.push[i, r]
                for s in range(r + 1):
                    G[r, s] = G[s, r] = S[(r * (r + 1)) // 2 + s]
                for s in range(3):  # push is for accelerations without gravity's part
                    f[r] += S[(max(r, s) * (max(r, s) + 1)) // 2 + min(r, s)] * g[s]
            o = o0[model.link_tree[i]]
            shift_law(G, f, O[0] - o[0], O[1] - o[1], O[2] - o[2])
            name_joint(assembly, base + count, count, -1, i)
            count += 1
    if coupled:
        for p in range(work.counts[PAIRS]):
            if acts(work, p):
                if count >= assembly.contact_capacity:
                    return False
                schedule_pair(model, data, work, p, count)
                name_joint(assembly, base + count, count, work.pair_link[p, 0], work.pair_link[p, 1])
                count += 1
    assembly.counts[CONTACT_JOINTS] = count
    assembly.counts[JOINTS] = base + count
    for k in range(model.dof_count):
        data.work[k] = data.joint_force[k] + work.extra_force[k]
        data.stage_v[k] = data.implicit_diagonal[k] + work.extra[k]
    done = assemble_all(model, data, assembly, data.work, data.stage_v, data.free_acceleration)
    assembly.counts[JOINTS] = base + count + model.loop_count
    done = done and assembly.counts[ROUGH] == 0
    if done and coupled:
        pair_wrenches(model, data, work, base + count)
    return done


@jit
def pair_wrenches(model, data, work, end):
    """Wrenches of the pairs, which are the last of the joints before `end`, at the origins of their links' trees."""
    assembly = work.assembly
    O, j = data.tree_origin[0], end
    for p in range(work.counts[PAIRS] - 1, -1, -1):
        if not acts(work, p):
            continue
        j -= 1
        f = assembly.force[j]
        for side in range(2):
            o, out = data.tree_origin[model.link_tree[work.pair_link[p, side]]], work.pair_force[p, side]
            sign = 1.0 if side == 1 else -1.0
            nx, ny, nz = cross(O[0] - o[0], O[1] - o[1], O[2] - o[2], f[0], f[1], f[2])
            out[0], out[1], out[2] = sign * f[0], sign * f[1], sign * f[2]
            out[3], out[4], out[5] = sign * (f[3] + nx), sign * (f[4] + ny), sign * (f[5] + nz)


@jit
def name_joint(assembly, place, contact, parent, child):
    """Contact joint number `contact` as joint `place`, assembled in its turn."""
    assembly.kind[place], assembly.index[place], assembly.order[place] = CONTACT_JOINT, contact, place
    assembly.link[place, 0], assembly.link[place, 1] = parent, child


@jit
def shift_law(G, f, x, y, z):
    """G and f* of a wrench law seen from a point (x, y, z) away: torques lose r x force."""
    nx, ny, nz = cross(x, y, z, f[0], f[1], f[2])
    f[3], f[4], f[5] = f[3] - nx, f[4] - ny, f[5] - nz
    for c in range(6):  # columns are wrenches
        nx, ny, nz = cross(x, y, z, G[0, c], G[1, c], G[2, c])
        G[3, c], G[4, c], G[5, c] = G[3, c] - nx, G[4, c] - ny, G[5, c] - nz
    for r in range(6):
        nx, ny, nz = cross(x, y, z, G[r, 0], G[r, 1], G[r, 2])
        G[r, 3], G[r, 4], G[r, 5] = G[r, 3] - nx, G[r, 4] - ny, G[r, 5] - nz


@jit
def schedule_pair(model, data, work, p, count):
    """Pair p as a contact joint: K_bb seen from the common origin, and f* with the references of both links."""
    assembly = work.assembly
    a, b = work.pair_link[p, 0], work.pair_link[p, 1]
    G, f, bb, ba = assembly.contact_matrix[count], assembly.contact_force[count], work.pair_bb[p], work.pair_ba[p]
    for r in range(6):
        f[r] = work.pair_push[p, 1, r]
        for s in range(6):
            g = model.gravity[s] if s < 3 else 0.0
            G[r, s] = bb[6 * r + s]
            f[r] += bb[6 * r + s] * (work.reference[b, s] + g) - ba[6 * r + s] * (work.reference[a, s] + g)
    o, O = data.tree_origin[model.link_tree[b]], data.tree_origin[0]
    shift_law(G, f, O[0] - o[0], O[1] - o[1], O[2] - o[2])
