"""`Overlaps`: what the overlap of two convex shapes is to the method `volume`.

Overlap k stands beside contact k of `Contacts`, which holds what every method has: shapes, links, `point` (here the
barycentre of the overlap), `normal` from a to b, `tangent` (e1, e2; with the normal a right-handed frame), `gap` (minus
the depth), material, id, previous, islands. A list without points: one contact per pair of shapes.

The contact plane goes through the barycentre, normal to `normal`; points on it have coordinates (r1, r2) along e1, e2.
"""

from __future__ import annotations

from sesshoku.collision.contacts import Contacts
from sesshoku.collision.overlap.polyhedra import Polyhedra
from sesshoku.compiled.table import Record, array, scalar

# kinds of overlap. AREA: with a polygon. POINT: without one, a contact at the barycentre that bears no torque
AREA, POINT = range(2)
# which integral makes the moments (`depth_integral`)
FACES, THICKNESS, SECTION = range(3)
# places in `counts`: nested pairs left out (one inside the other, no normal), overlaps whose polygon or polyhedron did
# not fit (left out too, and added to contacts.counts[OVERFLOW])
DEGENERATE, UNFIT = range(2)

POLYGON_ROOM = 12  # corners per overlap that the pool of polygons has room for on average


class Overlaps(Record):
    """C overlaps (as many as contacts fit), K corners of all polygons; N, F, H: see clip.py."""

    polygon_capacity = scalar()
    counts = array(int, 2)  # DEGENERATE, UNFIT
    kind = array(int, "C", saved=True, within=(AREA, POINT))  # AREA or POINT
    volume = array(float, "C", saved=True)  # m^3
    surface = array(float, "C")  # m^2, area of all faces
    area_vector = array(float, "C", 2, 3)  # m^2, sum of outward area vectors of the faces of a, of b (not flush ones)
    depth = array(float, "C", saved=True)  # m, how thick the overlap is along the normal
    polygon_start = array(int, "C + 1", saved=True, within=(0, "K"))  # ranges of polygon; empty for POINT
    # m, corners (r1, r2) about the barycentre, counter-clockwise seen from +normal
    polygon = array(float, "K", 2, saved=True)
    polygon_area = array(float, "C", saved=True)  # m^2
    polygon_radius = array(float, "C", saved=True)  # m, distance of the farthest corner
    area_moment = array(float, "C", 6)  # int 1, r1, r2, r1 r1, r1 r2, r2 r2 over the projected faces
    depth_moment = array(float, "C", 3)  # int h, h r1, h r2

    # ---- work space of one pair: a polyhedron before and after a cut, in two buffers (clip.py)
    state = array(int, 4)  # which buffer holds it, its vertices, its faces, the first face of the last cut
    vertex = array(float, 2, "N", 3)  # m, from `origin`, world axes
    loop_start = array(int, 2, "F + 1")  # ranges of loop
    loop = array(int, 2, "H")  # vertex numbers, face by face, counter-clockwise seen from outside
    owner = array(int, 2, "F")  # 0: face of a, 1: of b, 2: of both (flush)
    origin = array(float, 3)  # m, world: middle of the shape that is cut
    turn = array(float, 2, 3, 3)  # rotations in which the smaller and the larger shape are cut, if balls
    center = array(float, 3)  # m, the barycentre from there
    height = array(float, "N")  # m, of the vertices above the plane that cuts
    number = array(int, "N")  # of a kept vertex in the other buffer
    first_crossing = array(int, "N")  # of the edges from a kept vertex, -1: none
    # far vertex, next crossing from the same kept vertex, next one around the new face, and whether the face
    # that made it walks the edge to the kept vertex (1) or from it (0), -1 once the face beyond has found it too
    crossing = array(int, "N", 4)
    plane = array(float, "faces", 4)  # planes that cut: outward normal, offset from `origin`
    projected = array(float, "N", 3)  # vertices in plane axes: r1, r2 and height above the contact plane
    face = array(float, "N", 3)  # corners of one face, projected
    clipped = array(float, 2, "2 * N", 3)  # the same, being cut by the polygon


def make_overlaps(contacts: Contacts, polyhedra: Polyhedra, polygon_capacity: int | None = None) -> Overlaps:
    """Room for as many overlaps as contacts, and for cutting any two of the polyhedra.

    A polyhedron of F faces has less than 2 F vertices and 3 F edges; the rest is slack for faces that rounding adds.
    """
    C, F = contacts.capacity, 2 * polyhedra.most_faces + 32
    K = POLYGON_ROOM * C + F if polygon_capacity is None else polygon_capacity
    sizes = {"C": C, "K": K, "N": 2 * F, "F": F, "H": 6 * F, "faces": polyhedra.most_faces}
    return Overlaps.sized(sizes, polygon_capacity=K)
