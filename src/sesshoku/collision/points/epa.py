"""Depth of overlapping cores: the expanding polytope algorithm (van den Bergen 2001).

A polytope inside the Minkowski difference D = A - B grows at its face nearest to the origin until that face lies on
D's own boundary. Its distance then is the depth and its normal the shortest way out: exact for polyhedra (a finite
number of faces), to `CONVERGED` of the size for curved shapes. Every tried direction n gives a valid depth, the
support of D along n; the least is kept, so that even a full table returns a translation that separates.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.points.gjk import add_corner, nearest_on_triangle
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_CYLINDER, SHAPE_ELLIPSOID

CONVERGED = 1e-12  # of the size: two polyhedra
CURVED = 1e-10  # of the size: with something round; the slivers of a finer polytope have no usable normals any more
FIRST_FACES = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))
NEARLY = 1e-6  # of the size: faces this near the nearest one may hold its foot, when faces are slivers
STATE, STANDS, GONE = 6, 1, 0  # column of epa_face, and its values
FLAT = 1e-9  # of the size: a first tetrahedron lower than this is replaced


@jit
def set_face(V, plane, face, f, i, j, k):
    """Make face f of the corners i, j, k, counter-clockwise from outside."""
    ux, uy, uz = V[j, 0] - V[i, 0], V[j, 1] - V[i, 1], V[j, 2] - V[i, 2]
    vx, vy, vz = V[k, 0] - V[i, 0], V[k, 1] - V[i, 1], V[k, 2] - V[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = sqrt(nx * nx + ny * ny + nz * nz)
    scale = sqrt((ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz))
    row = plane[f]
    if length > 1e-14 * scale:
        row[0], row[1], row[2] = nx / length, ny / length, nz / length
        row[3] = row[0] * V[i, 0] + row[1] * V[i, 1] + row[2] * V[i, 2]
    else:  # a sliver has no normal: nobody grows there, and it goes when a neighbour goes
        row[0], row[1], row[2], row[3] = 0.0, 0.0, 0.0, inf
    face[f, 0], face[f, 1], face[f, 2], face[f, STATE] = i, j, k, STANDS


@jit
def off_point(V, at):
    """Squared distance of point `at` from point 0."""
    x, y, z = V[at, 0] - V[0, 0], V[at, 1] - V[0, 1], V[at, 2] - V[0, 2]
    return x * x + y * y + z * z


@jit
def face_cross(V, at):
    """(point 1 - point 0) x (point `at` - point 0)."""
    ux, uy, uz = V[1, 0] - V[0, 0], V[1, 1] - V[0, 1], V[1, 2] - V[0, 2]
    vx, vy, vz = V[at, 0] - V[0, 0], V[at, 1] - V[0, 1], V[at, 2] - V[0, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@jit
def height(V):
    """Signed height of point 3 over the plane of points 0, 1, 2."""
    nx, ny, nz = face_cross(V, 2)
    length = sqrt(nx * nx + ny * ny + nz * nz)
    volume = nx * (V[3, 0] - V[0, 0]) + ny * (V[3, 1] - V[0, 1]) + nz * (V[3, 2] - V[0, 2])
    return volume / length if length > 0.0 else 0.0


@jit
def keep_better(V, found, at, best, merit):
    """Copy row `found` to row `at` if its merit is the best yet."""
    if merit > best:
        for e in range(6):
            V[at, e] = V[found, e]
        return merit
    return best


@jit
def span_tetrahedron(model, contacts, a, b, offset, count, size):
    """Make four corners of `count` of them, the farthest that a few directions find; False if D is flat."""
    V = contacts.epa_vertex
    if count == 4 and abs(height(V)) <= FLAT * size:
        count = 3
    if count == 3:
        nx, ny, nz = face_cross(V, 2)
        longest = max(off_point(V, 1), off_point(V, 2))
        if nx * nx + ny * ny + nz * nz <= FLAT * FLAT * longest * longest:
            count = 2
    if count == 2 and off_point(V, 1) <= (FLAT * size) ** 2:
        count = 1
    if count <= 1:
        best = 0.0
        for d in range(6):
            s = 1.0 if d < 3 else -1.0
            add_corner(model, contacts, (a, b), offset, (s * (d % 3 == 0), s * (d % 3 == 1), s * (d % 3 == 2)), V, 4)
            best = keep_better(V, 4, 1, best, off_point(V, 4))
        if best == 0.0:
            return False
        count = 2
    if count == 2:
        best = 0.0
        ux, uy, uz = V[1, 0] - V[0, 0], V[1, 1] - V[0, 1], V[1, 2] - V[0, 2]
        length = sqrt(ux * ux + uy * uy + uz * uz)
        ux, uy, uz = ux / length, uy / length, uz / length
        for d in range(6):  # across the segment, along the axes and against them
            s, e = 1.0 if d < 3 else -1.0, d % 3
            along = ux if e == 0 else uy if e == 1 else uz
            add_corner(model, contacts, (a, b), offset,
                       (s * ((e == 0) - along * ux), s * ((e == 1) - along * uy), s * ((e == 2) - along * uz)), V, 4)
            nx, ny, nz = face_cross(V, 4)
            best = keep_better(V, 4, 2, best, nx * nx + ny * ny + nz * nz)
        count = 3
    if count == 3:
        nx, ny, nz = face_cross(V, 2)
        best = 0.0
        for d in range(2):
            s = 1.0 if d == 0 else -1.0
            add_corner(model, contacts, (a, b), offset, (s * nx, s * ny, s * nz), V, 4)
            for e in range(6):  # height() reads row 3
                V[5, e], V[3, e] = V[3, e], V[4, e]
            merit = abs(height(V))
            if merit > best:
                best = merit
            else:
                for e in range(6):
                    V[3, e] = V[5, e]
    return abs(height(V)) > 1e-14 * size


@jit
def open_up(contacts, start, wx, wy, wz, tolerance):
    """Take away the faces that see the point w, from face `start` on to its neighbours; edges around the hole.

    Only what hangs together goes, so the surface stays one closed surface whatever rounding does. The outline, with the
    face beyond each edge, goes into epa_edge. -1: no room.
    """
    plane, face, edge, stack = contacts.epa_plane, contacts.epa_face, contacts.epa_edge, contacts.epa_stack
    edges, waiting = 0, 1
    stack[0] = start
    face[start, STATE] = GONE
    while waiting > 0:
        waiting -= 1
        f = stack[waiting]
        for e in range(3):
            g = face[f, 3 + e]
            if face[g, STATE] != STANDS:
                continue
            above = plane[g, 0] * wx + plane[g, 1] * wy + plane[g, 2] * wz - plane[g, 3]
            if above > tolerance or plane[g, 3] == inf:
                face[g, STATE] = GONE
                stack[waiting] = g
                waiting += 1
            elif edges < len(edge):
                edge[edges, 0], edge[edges, 1], edge[edges, 2] = face[f, e], face[f, 0 if e == 2 else e + 1], g
                edges += 1
            else:
                return -1
    return edges


@jit
def close_up(contacts, slots, edges, apex):
    """Faces from every edge of the outline to the corner `apex`: number of face slots used, -1 if they do not close."""
    V, plane, face, edge, stack = (contacts.epa_vertex, contacts.epa_plane, contacts.epa_face, contacts.epa_edge,
                                   contacts.epa_stack)
    free = 0
    for n in range(edges):  # a slot for each: those set free, then new ones
        while free < slots and face[free, STATE] != GONE:
            free += 1
        if free == len(face):
            return -1
        stack[n] = free
        slots = max(slots, free + 1)
        free += 1
    for n in range(edges):
        i, j, beyond, f = edge[n, 0], edge[n, 1], edge[n, 2], stack[n]
        set_face(V, plane, face, f, i, j, apex)
        face[f, 3] = beyond
        for e in range(3):
            if face[beyond, e] == j and face[beyond, 0 if e == 2 else e + 1] == i:
                face[beyond, 3 + e] = f
        after = before = -1
        for m in range(edges):
            if edge[m, 0] == j:
                after = stack[m]
            if edge[m, 1] == i:
                before = stack[m]
        if after < 0 or before < 0:
            return -1
        face[f, 4], face[f, 5] = after, before
    return slots


@jit
def nearest_face_points(contacts, slots, reach):
    """Nearest points into `witness`, from the face (of those within `reach`) above which the origin really lies."""
    V, plane, face, witness = contacts.epa_vertex, contacts.epa_plane, contacts.epa_face, contacts.witness
    least = inf
    for f in range(slots):
        if face[f, STATE] == STANDS and plane[f, 3] <= reach:
            i, j, k = face[f, 0], face[f, 1], face[f, 2]
            wi, wj, wk, d2 = nearest_on_triangle(V, i, j, k)
            if d2 < least:
                least = d2
                for e in range(3):
                    witness[0, e] = wi * V[i, 3 + e] + wj * V[j, 3 + e] + wk * V[k, 3 + e]
                    witness[1, e] = witness[0, e] - (wi * V[i, e] + wj * V[j, e] + wk * V[k, e])


@jit
def first_faces(V, plane, face):
    """The four faces of the first tetrahedron. Corner 3 above 0, 1, 2 means that these are clockwise from outside."""
    below = height(V) < 0.0
    for f in range(4):
        i, j, k = FIRST_FACES[f]
        set_face(V, plane, face, f, i, j if below else k, k if below else j)
    for f in range(4):
        for e in range(3):
            i, j = face[f, e], face[f, 0 if e == 2 else e + 1]
            for g in range(4):
                for h in range(3):
                    if face[g, h] == j and face[g, 0 if h == 2 else h + 1] == i:
                        face[f, 3 + e] = g


@jit
def epa(model, contacts, a, b, offset, count, size):
    """Depth of the overlap and its unit normal (from a to b), from the simplex of GJK: (depth, nx, ny, nz).

    Nearest points in `witness`. A negative depth: just apart. Depth inf: D is flat, no normal was found.
    """
    V, plane, face = contacts.epa_vertex, contacts.epa_plane, contacts.epa_face
    for i in range(count):
        for e in range(6):
            V[i, e] = contacts.simplex[i, e]
    if not span_tetrahedron(model, contacts, a, b, offset, count, size):
        return inf, 0.0, 0.0, 1.0
    kind_a, kind_b = model.shape_type[a], model.shape_type[b]
    curved = (kind_a == SHAPE_CYLINDER or kind_b == SHAPE_CYLINDER or kind_a == SHAPE_ELLIPSOID
              or kind_b == SHAPE_ELLIPSOID)
    tolerance = (CURVED if curved else CONVERGED) * size
    first_faces(V, plane, face)
    slots, vertices = 4, 4
    depth, nx, ny, nz = inf, 0.0, 0.0, 1.0
    while vertices < len(V):
        nearest, d = -1, inf
        for f in range(slots):
            if face[f, STATE] == STANDS and plane[f, 3] < d:
                nearest, d = f, plane[f, 3]
        if nearest < 0:
            break
        x, y, z = plane[nearest, 0], plane[nearest, 1], plane[nearest, 2]
        add_corner(model, contacts, (a, b), offset, (x, y, z), V, vertices)
        wx, wy, wz = V[vertices, 0], V[vertices, 1], V[vertices, 2]
        reach = wx * x + wy * y + wz * z
        if reach < depth:
            depth, nx, ny, nz = reach, x, y, z
        if reach - d <= tolerance:
            break
        edges = open_up(contacts, nearest, wx, wy, wz, 0.1 * tolerance)
        slots = close_up(contacts, slots, edges, vertices) if edges >= 3 else -1
        if slots < 0:
            break
        vertices += 1
    nearest_face_points(contacts, slots, depth + NEARLY * size)
    return depth, nx, ny, nz
