"""`Overlaps`: what the overlap of two convex shapes is to the method `volume`.

Overlap k stands beside contact k of `Contacts`, which holds what every method has: shapes, links, `point` (here the
barycentre of the overlap), `normal` from a to b, `tangent` (e1, e2; with the normal a right-handed frame), `gap` (minus
the depth), material, id, previous, islands. A list without points: one contact per pair of shapes.

The contact plane goes through the barycentre, normal to `normal`; points on it have coordinates (r1, r2) along e1, e2.
"""

from __future__ import annotations

import numpy as np

from sesshoku.collision.contacts import Contacts
from sesshoku.collision.overlap.polyhedra import Polyhedra
from sesshoku.compiled.table import Record, array, scalar, viewer

# kinds of overlap. AREA: with a polygon. POINT: without one, a contact at the barycentre that bears no torque
AREA, POINT = range(2)
# which integral makes the moments (`depth_integral`)
FACES, THICKNESS, SECTION = range(3)
# places in `counts`: nested pairs left out (one inside the other, no normal), overlaps whose polygon or polyhedron did
# not fit (left out too, and added to contacts.counts[OVERFLOW])
DEGENERATE, UNFIT = range(2)

POLYGON_ROOM = 12  # corners per overlap that the pool of polygons has room for on average


class Overlaps(Record):
    """Shapes: C overlaps (as many as contacts fit), K corners of all polygons; N, F, H: see `overlap_clip`."""

    polygon_capacity = scalar()
    counts = array(int, 1)  # (2) DEGENERATE, UNFIT
    kind = array(int, 1)  # (C) AREA or POINT
    volume = array(float, 1)  # (C) m^3
    surface = array(float, 1)  # (C) m^2, area of all faces
    area_vector = array(float, 3)  # (C, 2, 3) m^2, sum of outward area vectors of the faces of a, of b (not flush ones)
    depth = array(float, 1)  # (C) m, how thick the overlap is along the normal
    polygon_start = array(int, 1)  # (C + 1) ranges of polygon; empty for POINT
    polygon = array(float, 2)  # (K, 2) m, corners (r1, r2) about the barycentre, counter-clockwise seen from +normal
    polygon_area = array(float, 1)  # (C) m^2
    polygon_radius = array(float, 1)  # (C) m, distance of the farthest corner
    area_moment = array(float, 2)  # (C, 6) int 1, r1, r2, r1 r1, r1 r2, r2 r2 over the projected faces
    depth_moment = array(float, 2)  # (C, 3) int h, h r1, h r2

    # ---- work space of one pair: a polyhedron before and after a cut, in two buffers (overlap_clip)
    state = array(int, 1)  # (4) which buffer holds it, its vertices, its faces, the first face of the last cut
    vertex = array(float, 3)  # (2, N, 3) m, from `origin`, world axes
    loop_start = array(int, 2)  # (2, F + 1) ranges of loop
    loop = array(int, 2)  # (2, H) vertex numbers, face by face, counter-clockwise seen from outside
    owner = array(int, 2)  # (2, F) 0: face of a, 1: of b, 2: of both (flush)
    origin = array(float, 1)  # (3) m, world: middle of the shape that is cut
    center = array(float, 1)  # (3) m, the barycentre from there
    height = array(float, 1)  # (N) m, of the vertices above the plane that cuts
    number = array(int, 1)  # (N) of a kept vertex in the other buffer
    first_crossing = array(int, 1)  # (N) of the edges from a kept vertex, -1: none
    # (N, 4) far vertex, next crossing from the same kept vertex, next one around the new face, and whether the face
    # that made it walks the edge to the kept vertex (1) or from it (0), -1 once the face beyond has found it too
    crossing = array(int, 2)
    plane = array(float, 2)  # (faces of a shape, 4) planes that cut: outward normal, offset from `origin`
    projected = array(float, 2)  # (N, 3) vertices in plane axes: r1, r2 and height above the contact plane
    face = array(float, 2)  # (N, 3) corners of one face, projected
    clipped = array(float, 3)  # (2, N, 3) the same, being cut by the polygon


as_overlaps = viewer(Overlaps)


def make_overlaps(contacts: Contacts, polyhedra: Polyhedra, polygon_capacity: int | None = None) -> Overlaps:
    """Room for as many overlaps as contacts, and for cutting any two of the polyhedra.

    A polyhedron of F faces has less than 2 F vertices and 3 F edges; the rest is slack for faces that rounding adds.
    """
    C, most = contacts.capacity, 2 * polyhedra.most_faces + 32
    N, H = 2 * most, 6 * most
    K = POLYGON_ROOM * C + most if polygon_capacity is None else polygon_capacity
    shapes = {
        "counts": 2, "kind": C, "volume": C, "surface": C, "area_vector": (C, 2, 3), "depth": C,
        "polygon_start": C + 1, "polygon": (K, 2), "polygon_area": C, "polygon_radius": C,
        "area_moment": (C, 6), "depth_moment": (C, 3),
        "state": 4, "vertex": (2, N, 3), "loop_start": (2, most + 1), "loop": (2, H), "owner": (2, most),
        "origin": 3, "center": 3,
        "height": N, "number": N, "first_crossing": N, "crossing": (N, 4), "plane": (polyhedra.most_faces, 4),
        "projected": (N, 3), "face": (N, 3), "clipped": (2, 2 * N, 3),
    }
    arrays = {name: np.zeros(shape, dtype=np.int64 if Overlaps.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    return Overlaps(polygon_capacity=K, **arrays)
