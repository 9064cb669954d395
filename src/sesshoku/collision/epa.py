"""Depth of overlapping cores: the expanding polytope algorithm (van den Bergen 2001).

A polytope inside the Minkowski difference D = A - B grows at its face nearest to the origin until that face lies on
D's own boundary. Its distance then is the depth and its normal the shortest way out: exact for polyhedra (a finite
number of faces), to `CONVERGED` of the size for curved shapes. Every tried direction n gives a valid depth, the
support of D along n; the least is kept, so that even a full table returns a translation that separates.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.gjk import add_corner, nearest_on_triangle
from sesshoku.compiled.jit import jit

CONVERGED = 1e-12  # of the size
FIRST_FACES = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))
FLAT = 1e-9  # of the size: a first tetrahedron lower than this is replaced


@jit
def add_face(V, plane, corner, count, i, j, k):
    """Append the face i, j, k, counter-clockwise from outside."""
    ux, uy, uz = V[j, 0] - V[i, 0], V[j, 1] - V[i, 1], V[j, 2] - V[i, 2]
    vx, vy, vz = V[k, 0] - V[i, 0], V[k, 1] - V[i, 1], V[k, 2] - V[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = sqrt(nx * nx + ny * ny + nz * nz)
    scale = sqrt((ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz))
    row = plane[count]
    if length > 1e-14 * scale:
        row[0], row[1], row[2] = nx / length, ny / length, nz / length
        row[3] = row[0] * V[i, 0] + row[1] * V[i, 1] + row[2] * V[i, 2]
    else:  # a sliver has no normal: it closes the surface, but nobody grows there
        row[0], row[1], row[2], row[3] = 0.0, 0.0, 0.0, inf
    corner[count, 0], corner[count, 1], corner[count, 2] = i, j, k


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
def span_tetrahedron(model, contacts, a, b, cx, cy, cz, count, size):
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
            add_corner(model, contacts, a, b, cx, cy, cz, s * (d % 3 == 0), s * (d % 3 == 1), s * (d % 3 == 2), V, 4)
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
            add_corner(model, contacts, a, b, cx, cy, cz, s * ((e == 0) - along * ux), s * ((e == 1) - along * uy),
                       s * ((e == 2) - along * uz), V, 4)
            nx, ny, nz = face_cross(V, 4)
            best = keep_better(V, 4, 2, best, nx * nx + ny * ny + nz * nz)
        count = 3
    if count == 3:
        nx, ny, nz = face_cross(V, 2)
        best = 0.0
        for d in range(2):
            s = 1.0 if d == 0 else -1.0
            add_corner(model, contacts, a, b, cx, cy, cz, s * nx, s * ny, s * nz, V, 4)
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
def open_up(contacts, faces, wx, wy, wz, tolerance):
    """Remove the faces that see the point w; their outline goes into epa_edge. Faces left, edges (-1: no room)."""
    plane, corner, edge = contacts.epa_plane, contacts.epa_corner, contacts.epa_edge
    edges, f = 0, 0
    while f < faces:
        if plane[f, 0] * wx + plane[f, 1] * wy + plane[f, 2] * wz - plane[f, 3] <= tolerance:
            f += 1
            continue
        for e in range(3):
            i, j = corner[f, e], corner[f, (e + 1) % 3]
            twin = -1
            for g in range(edges):
                if edge[g, 0] == j and edge[g, 1] == i:
                    twin = g
                    break
            if twin >= 0:
                edges -= 1
                edge[twin, 0], edge[twin, 1] = edge[edges, 0], edge[edges, 1]
            elif edges < len(edge):
                edge[edges, 0], edge[edges, 1] = i, j
                edges += 1
            else:
                return faces, -1
        faces -= 1
        for e in range(4):
            plane[f, e] = plane[faces, e]
        for e in range(3):
            corner[f, e] = corner[faces, e]
    return faces, edges


@jit
def nearest_face_points(contacts, faces, reach):
    """Nearest points into `witness`, from the face (of those within `reach`) above which the origin really lies."""
    V, plane, corner, witness = contacts.epa_vertex, contacts.epa_plane, contacts.epa_corner, contacts.witness
    least = inf
    for f in range(faces):
        if plane[f, 3] <= reach:
            i, j, k = corner[f, 0], corner[f, 1], corner[f, 2]
            wi, wj, wk, d2 = nearest_on_triangle(V, i, j, k)
            if d2 < least:
                least = d2
                for e in range(3):
                    witness[0, e] = wi * V[i, 3 + e] + wj * V[j, 3 + e] + wk * V[k, 3 + e]
                    witness[1, e] = witness[0, e] - (wi * V[i, e] + wj * V[j, e] + wk * V[k, e])


@jit
def epa(model, contacts, a, b, cx, cy, cz, count, size):
    """Depth of the overlap and its unit normal (from a to b), from the simplex of GJK: (depth, nx, ny, nz).

    Nearest points in `witness`. A negative depth: just apart. Depth inf: D is flat, no normal was found.
    """
    V, plane, corner = contacts.epa_vertex, contacts.epa_plane, contacts.epa_corner
    for i in range(count):
        for e in range(6):
            V[i, e] = contacts.simplex[i, e]
    if not span_tetrahedron(model, contacts, a, b, cx, cy, cz, count, size):
        return inf, 0.0, 0.0, 1.0
    # counter-clockwise from outside; corner 3 above 0, 1, 2 means that these are so from inside
    below = height(V) < 0.0
    for f in range(4):
        i, j, k = FIRST_FACES[f]
        add_face(V, plane, corner, f, i, j if below else k, k if below else j)
    faces, vertices = 4, 4
    depth, nx, ny, nz = inf, 0.0, 0.0, 1.0
    while vertices < len(V):
        nearest = 0
        for f in range(1, faces):
            if plane[f, 3] < plane[nearest, 3]:
                nearest = f
        x, y, z, d = plane[nearest, 0], plane[nearest, 1], plane[nearest, 2], plane[nearest, 3]
        if d == inf:
            break
        add_corner(model, contacts, a, b, cx, cy, cz, x, y, z, V, vertices)
        wx, wy, wz = V[vertices, 0], V[vertices, 1], V[vertices, 2]
        reach = wx * x + wy * y + wz * z
        if reach < depth:
            depth, nx, ny, nz = reach, x, y, z
        if reach - d <= CONVERGED * size:
            break
        faces, edges = open_up(contacts, faces, wx, wy, wz, 0.1 * CONVERGED * size)
        if edges < 0 or faces + edges > len(plane):
            break
        for e in range(edges):
            add_face(V, plane, corner, faces, contacts.epa_edge[e, 0], contacts.epa_edge[e, 1], vertices)
            faces += 1
        vertices += 1
    nearest_face_points(contacts, faces, depth + 10.0 * CONVERGED * size)
    return depth, nx, ny, nz
