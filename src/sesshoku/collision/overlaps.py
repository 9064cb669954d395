"""`Overlaps`: what the overlap of two convex shapes is to the method `volume`.

Overlap k stands beside contact k of `Contacts`, which holds what every method has: shapes, links, `point` (here the
barycentre of the overlap), `normal` from a to b, `tangent` (e1, e2; with the normal a right-handed frame), `gap` (minus
the depth), material, id, previous, islands. A list without points: one contact per pair of shapes.

The contact plane goes through the barycentre, normal to `normal`; points on it have coordinates (r1, r2) along e1, e2.
"""

from __future__ import annotations

import numpy as np

from sesshoku.collision.contacts import Contacts
from sesshoku.collision.overlap_polyhedra import Polyhedra
from sesshoku.compiled.table import Record, array, scalar, viewer

# kinds of overlap. AREA: a polygon of three corners or more. POINT: no polygon, a contact at the barycentre without torque
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

    # ---- work space of one pair: the polyhedron being cut, in two buffers (from, to)
    vertex = array(float, 3)  # (2, N, 3) relative to `origin`, world axes
    height = array(float, 1)  # (N) above the plane that cuts
    number = array(int, 1)  # (N) of a vertex in the other buffer
    crossing = array(int, 2)  # (N, 4)
    loop_start = array(int, 2)  # (2, F + 1)
    loop = array(int, 2)  # (2, H)
    owner = array(int, 2)  # (2, F)
    plane = array(float, 2)  # (F, 4)
    origin = array(float, 1)  # (3) world
    work = array(float, 3)  # (2, N, 3) polygons


as_overlaps = viewer(Overlaps)
