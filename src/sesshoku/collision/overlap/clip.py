"""Cutting a convex polyhedron by a plane: faces keep their owner, the cut is a new face of the plane's owner.

The polyhedron is a closed surface of loops of vertices. A cut asks once per vertex whether it is above the plane, and
does everything else by numbers: an edge between a kept and a cut-off vertex gets one new vertex, which both its faces
use, and every new vertex has one follower around the new face. So **whatever rounding says about the vertices, the
result is a closed surface** whose vertices lie within rounding of all planes; volume and area vectors are as good as
the vertices. (Clipping each face by itself, the common way, loses or doubles faces that are nearly in one plane.)
Rounding can only add faces of no area.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit

BUFFER, VERTICES, FACES, NEW_FACE = range(4)  # places in overlaps.state
EMPTY, WHOLE, CUT, UNFIT_CUT = range(4)  # what `cut` left: nothing, all, a part; there was no room
BOTH = 2  # owner of a flush face


@jit
def start_polyhedron(polyhedra, shape, owner, R, overlaps):
    """Copy a shape turned by R, its middle in the origin, into the buffer."""
    first, last = polyhedra.vertex_start[shape], polyhedra.vertex_start[shape + 1]
    center, given, vertex = polyhedra.center[shape], polyhedra.vertex, overlaps.vertex[0]
    for i in range(first, last):
        x, y, z = given[i, 0] - center[0], given[i, 1] - center[1], given[i, 2] - center[2]
        for k in range(3):
            vertex[i - first, k] = R[k, 0] * x + R[k, 1] * y + R[k, 2] * z
    face, last_face = polyhedra.face_start[shape], polyhedra.face_start[shape + 1]
    start, loop, owners = overlaps.loop_start[0], overlaps.loop[0], overlaps.owner[0]
    base, given_start, corner = polyhedra.corner_start[face], polyhedra.corner_start, polyhedra.corner
    for f in range(face, last_face + 1):
        start[f - face] = given_start[f] - base
    for f in range(last_face - face):
        owners[f] = owner
    for e in range(base, given_start[last_face]):
        loop[e - base] = corner[e]
    state = overlaps.state
    state[BUFFER], state[VERTICES], state[FACES] = 0, last - first, last_face - face


@jit
def cut(overlaps, n0, n1, n2, offset, owner, flush):
    """Cut off what lies above the plane n . x = offset: EMPTY, WHOLE, CUT or UNFIT_CUT (no room).

    Faces within `flush` (m) of the plane that look the same way are marked as owned by both.
    """
    state, height = overlaps.state, overlaps.height
    vertex, count = overlaps.vertex[state[BUFFER]], state[VERTICES]
    above, top = 0, -1e300
    for i in range(count):
        h = n0 * vertex[i, 0] + n1 * vertex[i, 1] + n2 * vertex[i, 2] - offset
        height[i] = h
        if h > 0.0:
            above += 1
        if h > top:
            top = h
    if above == count:
        return EMPTY
    marked = 0.0
    if top >= -flush:
        marked = mark_flush(overlaps, n0, n1, n2, owner, flush)
    if above == 0:
        return WHOLE
    result = cut_loops(overlaps, owner)
    if marked > 0.0 and result == CUT:
        share_new_faces(overlaps, marked)
    return result


@jit
def mark_flush(overlaps, n0, n1, n2, owner, flush):
    """Mark the faces that lie in the plane, within `flush`, and look its way as owned by both; their area."""
    state, height = overlaps.state, overlaps.height
    which, marked = state[BUFFER], 0.0
    start, loop, owners = overlaps.loop_start[which], overlaps.loop[which], overlaps.owner[which]
    vertex = overlaps.vertex[which]
    for f in range(state[FACES]):
        first, last = start[f], start[f + 1]
        if owners[f] == owner:
            continue
        near = True
        for e in range(first, last):
            if abs(height[loop[e]]) > flush:
                near = False
                break
        if not near:
            continue
        x, y, z = area_vector(vertex, loop, first, last)
        along = n0 * x + n1 * y + n2 * z
        if along > 0.0 and along * along > 0.99 * (x * x + y * y + z * z):
            owners[f] = BOTH
            marked += along
    return marked


@jit
def share_new_faces(overlaps, marked):
    """Rounding has cut a flush face: the new face is part of it, unless it is larger (then that is a mere facet)."""
    state = overlaps.state
    which = state[BUFFER]
    start, loop, owners = overlaps.loop_start[which], overlaps.loop[which], overlaps.owner[which]
    for f in range(state[NEW_FACE], state[FACES]):
        x, y, z = area_vector(overlaps.vertex[which], loop, start[f], start[f + 1])
        if sqrt(x * x + y * y + z * z) < 2.0 * marked:
            owners[f] = BOTH


@jit
def area_vector(vertex, loop, first, last):
    """Area vector (m^2) of the face whose corners are loop[first:last]."""
    p, x, y, z = vertex[loop[first]], 0.0, 0.0, 0.0
    q = vertex[loop[first + 1]]
    a0, a1, a2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    for e in range(first + 2, last):
        q = vertex[loop[e]]
        b0, b1, b2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        x += a1 * b2 - a2 * b1
        y += a2 * b0 - a0 * b2
        z += a0 * b1 - a1 * b0
        a0, a1, a2 = b0, b1, b2
    return 0.5 * x, 0.5 * y, 0.5 * z


@jit
def cut_loops(overlaps, owner):
    """Write the part below the plane, by the signs of `height`, into the other buffer, and turn to that."""
    state, height, number, first_crossing = overlaps.state, overlaps.height, overlaps.number, overlaps.first_crossing
    old = state[BUFFER]
    new = 1 - old
    vertex, vertex_out = overlaps.vertex[old], overlaps.vertex[new]
    start, start_out = overlaps.loop_start[old], overlaps.loop_start[new]
    loop, loop_out = overlaps.loop[old], overlaps.loop[new]
    owners, owners_out = overlaps.owner[old], overlaps.owner[new]
    crossing, room, most = overlaps.crossing, len(loop_out), len(vertex_out)
    kept = 0
    for i in range(state[VERTICES]):
        if height[i] <= 0.0:
            vertex_out[kept, 0], vertex_out[kept, 1], vertex_out[kept, 2] = vertex[i, 0], vertex[i, 1], vertex[i, 2]
            number[i] = kept
            first_crossing[i] = -1
            kept += 1
    faces, corners, total = 0, 0, kept
    for f in range(state[FACES]):
        first, last, begin = start[f], start[f + 1], corners
        if corners + 2 * (last - first) > room or total + last - first > most or faces + 1 >= len(owners_out):
            return UNFIT_CUT
        before = loop[last - 1]
        below_before = 1 if height[before] <= 0.0 else 0
        leaves, enters_first = -1, -1
        for e in range(first, last):
            here = loop[e]
            below = 1 if height[here] <= 0.0 else 0
            if below != below_before:
                kept_end, far_end = (here, before) if below == 1 else (before, here)
                c = first_crossing[kept_end]
                while c >= 0 and (crossing[c, 0] != far_end or crossing[c, 3] != 1 - below):
                    c = crossing[c, 1]
                if c < 0:  # the first face of this edge: a new vertex
                    c = total
                    total += 1
                    crossing[c, 3] = below
                    crossing[c, 0], crossing[c, 1] = far_end, first_crossing[kept_end]
                    first_crossing[kept_end] = c
                    t = height[kept_end] / (height[kept_end] - height[far_end])
                    for k in range(3):
                        vertex_out[c, k] = vertex[kept_end, k] + t * (vertex[far_end, k] - vertex[kept_end, k])
                else:
                    crossing[c, 3] = -1  # both faces have it
                loop_out[corners] = c
                corners += 1
                if below == 0:
                    leaves = c
                elif leaves >= 0:  # the new face runs along this edge the other way
                    crossing[c, 2] = leaves
                else:
                    enters_first = c
            if below == 1:
                loop_out[corners] = number[here]
                corners += 1
            before, below_before = here, below
        if enters_first >= 0:
            crossing[enters_first, 2] = leaves
        if corners > begin:
            start_out[faces] = begin
            owners_out[faces] = owners[f]
            faces += 1
    return close_cut(overlaps, owner, kept, total, faces, corners)


@jit
def close_cut(overlaps, owner, kept, total, faces, corners):
    """Add the new face (rounding may make it several) around the new vertices kept .. total, and finish the buffer."""
    state, crossing = overlaps.state, overlaps.crossing
    new = 1 - state[BUFFER]
    start_out, loop_out, owners_out = overlaps.loop_start[new], overlaps.loop[new], overlaps.owner[new]
    if corners + total - kept > len(loop_out):
        return UNFIT_CUT
    state[NEW_FACE] = faces
    for begin in range(kept, total):
        if crossing[begin, 2] < 0:
            continue
        if faces >= len(owners_out):
            return UNFIT_CUT
        start_out[faces] = corners
        owners_out[faces] = owner
        faces += 1
        c = begin
        while crossing[c, 2] >= 0:
            loop_out[corners] = c
            corners += 1
            following = crossing[c, 2]
            crossing[c, 2] = -1
            c = following
    start_out[faces] = corners
    state[BUFFER], state[VERTICES], state[FACES] = new, total, faces
    return CUT
