"""Tendons: their length, how it changes with the dofs, and how fast.

A tendon's rate is the sum of arm * v over its dofs. Over joints (a fixed tendon) the arms are given, and its length is
the sum of arm * q. A **spatial** tendon is a path through places on links: straight from site to site, round shapes in
between (wrapping.py); a pulley begins a new branch, whose length counts by 1 over its divisor. A straight part from a
to b along the unit vector u changes by u . (b' - a'), so that dofs that carry both ends do not count; a part that lies
on a shape moves with it. What scripted roots give to the rate is apart (`tendon_drift`).
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.wrapping import wrap_cylinder, wrap_sphere
from sesshoku.model.arrays import KINEMATIC, NO_SIDE, PATH_PULLEY, PATH_SITE, PATH_SPHERE
from sesshoku.spatial.algebra import cross


@jit
def is_spatial(model, n):
    """Whether tendon n is a path through space."""
    return model.tendon_path[n + 1] > model.tendon_path[n]


@jit
def arms_of(model, data, n):
    """Dofs of tendon n, and its arms in the present pose of the links."""
    first, last = model.tendon_drive[n], model.tendon_drive[n + 1]
    if is_spatial(model, n):
        return model.tendon_dof[first:last], data.tendon_arm[first:last]
    return model.tendon_dof[first:last], model.tendon_arm[first:last]


@jit
def tendon_motion(model, data, n, q, v):
    """Length of tendon n and its rate, at q (of a spatial one: at the pose of the links) and v."""
    dofs, arms = arms_of(model, data, n)
    if not is_spatial(model, n):
        return length_and_speed(model, dofs, arms, q, v)
    speed = data.tendon_drift[n]
    for e in range(len(dofs)):
        speed += arms[e] * v[dofs[e]]
    return data.tendon_length[n], speed


@jit
def length_and_speed(model, dofs, arms, q, v):
    """Sum of arm * q, and of arm * v, over some dofs: length of a tendon over joints, or position of a joint."""
    length = speed = 0.0
    for n in range(len(dofs)):
        k = dofs[n]
        length += arms[n] * q[model.dof_coordinate[k]]
        speed += arms[n] * v[k]
    return length, speed


@jit
def tendon_mass(model, data, n):
    """What moves with tendon n, each joint by itself, kg: a scale."""
    if not is_spatial(model, n):
        return model.tendon_inertia[n]
    dofs, arms = arms_of(model, data, n)
    total = 0.0
    for e in range(len(dofs)):
        total += arms[e] * arms[e] / model.dof_inertia[dofs[e]]
    return 1.0 / total if total > 0.0 else inf


@jit
def place_tendons(model, data):
    """Length, drift and arms of every spatial tendon along which something acts. Needs poses and joint axes."""
    for n in range(model.tendon_count):
        if is_spatial(model, n) and model.tendon_acts[n]:
            place_tendon(model, data, n)


@jit
def place_tendon(model, data, n):
    """The same of tendon n."""
    first, last, reach = model.tendon_drive[n], model.tendon_drive[n + 1], data.tendon_reach
    for e in range(first, last):
        reach[model.tendon_dof[e]] = 0.0
    data.tendon_length[n] = data.tendon_drift[n] = 0.0
    follow_path(model, data, n)
    for e in range(first, last):
        data.tendon_arm[e] = reach[model.tendon_dof[e]]


@jit
def follow_path(model, data, n):
    """Add up tendon n along its path."""
    kind, i, last, share = model.path_kind, model.tendon_path[n], model.tendon_path[n + 1] - 1, 1.0
    while i < last:
        if kind[i] == PATH_PULLEY:
            share = 1.0 / model.path_size[i]
            i += 1
        elif kind[i + 1] == PATH_PULLEY:
            i += 1
        elif kind[i + 1] == PATH_SITE:
            straight(model, data, n, (i, place(model, data, i)), (i + 1, place(model, data, i + 1)), share)
            i += 1
        else:
            bent(model, data, n, i, share)
            i += 2


@jit
def place(model, data, i):
    """Where place i of the paths is in the world."""
    return point_on(model, data, model.path_link[i], model.path_position[i])


@jit
def point_on(model, data, link, p):
    """The world point of p (3) in a link's frame."""
    if link < 0:
        return p[0], p[1], p[2]
    R, r, o = data.rotation[link], data.offset[link], data.tree_origin[model.link_tree[link]]
    return (o[0] + r[0] + R[0, 0] * p[0] + R[0, 1] * p[1] + R[0, 2] * p[2],
            o[1] + r[1] + R[1, 0] * p[0] + R[1, 1] * p[1] + R[1, 2] * p[2],
            o[2] + r[2] + R[2, 0] * p[0] + R[2, 1] * p[1] + R[2, 2] * p[2])


@jit
def straight(model, data, n, start, end, share):
    """Add a straight part of tendon n between two world points, each with the place of its path it moves with."""
    (i, (ax, ay, az)), (j, (bx, by, bz)) = start, end
    link_a, link_b = model.path_link[i], model.path_link[j]
    x, y, z = bx - ax, by - ay, bz - az
    size = sqrt(x * x + y * y + z * z)
    data.tendon_length[n] += share * size
    if size == 0.0 or link_a == link_b:
        return
    pull = share * x / size, share * y / size, share * z / size
    k, m, reach = model.path_dof[i], model.path_dof[j], data.tendon_reach
    while k != m:  # up to where one dof carries both: parents come first
        if k > m:
            reach[k] -= along(model, data, k, start[1], pull)
            k = model.dof_parent[k]
        else:
            reach[m] += along(model, data, m, end[1], pull)
            m = model.dof_parent[m]
    data.tendon_drift[n] += script_speed(model, data, link_b, end[1], pull)
    data.tendon_drift[n] -= script_speed(model, data, link_a, start[1], pull)


@jit
def along(model, data, k, p, u):
    """Velocity along u that unit speed of dof k gives a world point p which it carries."""
    S, o = data.axis[k], data.tree_origin[model.link_tree[model.dof_link[k]]]
    x, y, z = cross(S[3], S[4], S[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return u[0] * (S[0] + x) + u[1] * (S[1] + y) + u[2] * (S[2] + z)


@jit
def script_speed(model, data, link, p, u):
    """Velocity along u that a scripted root gives a world point p of a link."""
    if link < 0:
        return 0.0
    t = model.link_tree[link]
    root, o = model.tree_link[t], data.tree_origin[t]
    if model.link_joint[root] != KINEMATIC:
        return 0.0
    w = data.kinematic_velocity[root]
    x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return u[0] * (w[0] + x) + u[1] * (w[1] + y) + u[2] * (w[2] + z)


@jit
def bent(model, data, n, i, share):
    """Add the part of tendon n from site i round the shape behind it to the next site."""
    a, c, b = place(model, data, i), place(model, data, i + 1), place(model, data, i + 2)
    sided = model.path_side_link[i + 1] != NO_SIDE
    p, q = into_axes(model, data, i + 1, c, a), into_axes(model, data, i + 1, c, b)
    s = 0.0, 0.0, 0.0
    if sided:
        s = into_axes(model, data, i + 1, c,
                      point_on(model, data, model.path_side_link[i + 1], model.path_side[i + 1]))
    if model.path_kind[i + 1] == PATH_SPHERE:
        arc, meets, leaves = wrap_sphere(p, q, model.path_size[i + 1], sided, s)
    else:
        arc, meets, leaves = wrap_cylinder(p, q, model.path_size[i + 1], sided, s)
    if arc < 0.0:
        straight(model, data, n, (i, a), (i + 2, b), share)
        return
    data.tendon_length[n] += share * arc
    straight(model, data, n, (i, a), (i + 1, out_of_axes(model, data, i + 1, c, meets)), share)
    straight(model, data, n, (i + 1, out_of_axes(model, data, i + 1, c, leaves)), (i + 2, b), share)


@jit
def into_axes(model, data, i, c, p):
    """World point p in the frame of shape i of the paths, whose centre is at c."""
    link, G = model.path_link[i], model.path_rotation[i]
    x, y, z = p[0] - c[0], p[1] - c[1], p[2] - c[2]
    if link >= 0:
        R = data.rotation[link]
        x, y, z = (R[0, 0] * x + R[1, 0] * y + R[2, 0] * z, R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
                   R[0, 2] * x + R[1, 2] * y + R[2, 2] * z)
    return (G[0, 0] * x + G[1, 0] * y + G[2, 0] * z, G[0, 1] * x + G[1, 1] * y + G[2, 1] * z,
            G[0, 2] * x + G[1, 2] * y + G[2, 2] * z)


@jit
def out_of_axes(model, data, i, c, p):
    """The other way."""
    link, G = model.path_link[i], model.path_rotation[i]
    x, y, z = (G[0, 0] * p[0] + G[0, 1] * p[1] + G[0, 2] * p[2], G[1, 0] * p[0] + G[1, 1] * p[1] + G[1, 2] * p[2],
               G[2, 0] * p[0] + G[2, 1] * p[1] + G[2, 2] * p[2])
    if link >= 0:
        R = data.rotation[link]
        x, y, z = (R[0, 0] * x + R[0, 1] * y + R[0, 2] * z, R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
                   R[2, 0] * x + R[2, 1] * y + R[2, 2] * z)
    return c[0] + x, c[1] + y, c[2] + z
