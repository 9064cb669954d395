"""The two sweeps of a step: which features of two polyhedra cross, and when.

L0, `sweep_motion`: shrunken shapes on their way from one pose to another. A crossing means that penetration is about to
exceed what the shrinking allows, however far the bodies move in the step.
L1, `sweep_inflate`: at one pose, from the shrunken to the original shapes. A crossing means contact, and says which
features met first.

Both: boxes of the shapes, pairs of shapes from the broad phase and the scene's filters, then tree against tree, then
the primitive tests of `crossing`. Only shapes with a partner are placed and have their trees refitted. A crossing
needs, beside its primitive test, that the swept boxes of the two features overlap and that neither lies outside the
slabs of the other: so the outcome is that of all features tried against all, whatever the trees are like.
"""

from __future__ import annotations

from sesshoku.collision.broadphase import find_pairs
from sesshoku.collision.contacts import PAIR_OVERFLOW, PAIRS
from sesshoku.collision.swept.brep import Breps
from sesshoku.collision.swept.crossing import CUBIC, LINEAR, PARAMETERS, WORK, edge_edge, vertex_face
from sesshoku.collision.swept.events import (
    EDGE_EDGE,
    EVENTS,
    FOUND,
    LOST,
    PAIRS_LOST,
    VERTEX_FACE,
    Events,
    as_events,
    make_events,
    write_events,
)
from sesshoku.collision.swept.tree import (
    EDGE,
    FACE,
    VERTEX,
    boxes_overlap,
    edge_slabs,
    face_slabs,
    outside_slabs,
    refit,
    width,
)
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array, scalar, viewer

__all__ = ["BOX_TESTS", "BOX_UPDATES", "CUBIC", "EDGE_EDGE", "EVENTS", "LINEAR", "LOST", "PAIRS_LOST",
           "PRIMITIVE_TESTS", "VERTEX_FACE", "Events", "Sweeps", "as_events", "as_sweeps", "make_events", "make_sweeps",
           "sweep_inflate", "sweep_motion"]

# places in Sweeps.work_counts, N_v, N_p, N_u of the cost model: overlap tests, primitive tests, boxes refitted
BOX_TESTS, PRIMITIVE_TESTS, BOX_UPDATES = range(3)
PAIRS_PER_SHAPE = 64
LARGER = 4.0  # a leaf must be, than a node, for the slab filter to be worth its while
SLABS = 256  # leaves whose slabs are remembered, a power of two
GRAZE = 0.01  # depth that counts as touch, by the pad of the smaller shape's boxes: 1e-11 of its size


class Sweeps(Record):
    """Work space of a sweep. S shapes, V vertices, N tree nodes, P pairs of shapes."""

    pair_capacity = scalar()
    bucket_count = scalar()
    counts = array(int, 8)  # of the broad phase
    work_counts = array(int, 3)  # of the last sweep, by BOX_TESTS .. BOX_UPDATES
    shape_position = array(float, 0, 3)  # asked for planes only, of which there are none
    shape_rotation = array(float, 0, 3, 3)
    shape_low = array(float, "S", 3)  # box around the sweep, world
    shape_high = array(float, "S", 3)
    shape_fresh = array(int, "S")  # 1: placed and refitted in this sweep
    start = array(float, "V", 3)  # world, at the beginning of the sweep
    end = array(float, "V", 3)
    vertex_box = array(float, "V", 6)  # low, high of the way of a vertex
    node_box = array(float, "N", 6)  # low, high
    slab = array(float, SLABS, 4, 5)  # slabs of leaves asked for lately: normal, low, high
    slab_leaf = array(int, SLABS)  # whose they are, -1: nobody's
    slab_count = array(int, SLABS)
    pair = array(int, "P", 2)
    stack = array(int, "depth", 2)  # nodes to look at
    work = array(float, WORK)  # of the primitive tests
    level_size = array(float, "levels")
    level_scale = array(float, "levels")
    level_members = array(int, "levels")
    grid_start = array(int, "buckets + 1")
    grid_shape = array(int, "S")
    grid_key = array(int, "S")
    iwork = array(int, "work")


as_sweeps = viewer(Sweeps)


def make_sweeps(breps: Breps) -> Sweeps:
    """Work space for the shapes of a scene."""
    S, V, N = breps.shape_count, breps.vertex_count, len(breps.node)
    P = min(S * (S - 1) // 2, PAIRS_PER_SHAPE * S)
    buckets = 1 if breps.pairs_listed else 1 << (2 * S).bit_length()
    sizes = {"S": S, "V": V, "N": N, "P": P, "depth": 2 * breps.tree_depth + 4, "levels": breps.level_count,
             "buckets": buckets, "work": max(4 * S, 4 * P) + 1024}
    return Sweeps.sized(sizes, pair_capacity=P, bucket_count=buckets)


# ---- the two sweeps -------------------------------------------------------------------------------------------------


@jit
def sweep_motion(breps, sweeps, events_out, motion, crossing):
    """L0: shrunken shapes from one set of body poses (B, 3), (B, 3, 3) to another. crossing: LINEAR or CUBIC."""
    position_before, rotation_before, position_after, rotation_after = motion
    bound_shapes(breps, sweeps, position_before, rotation_before, position_after, rotation_after)
    find_crossings(breps, sweeps, events_out, (breps.inner, breps.inner), motion, crossing)


@jit
def sweep_inflate(breps, sweeps, events_out, position, rotation, crossing):
    """L1: at one set of body poses (B, 3), (B, 3, 3), from shrunken to original shapes. crossing: LINEAR or CUBIC."""
    bound_shapes(breps, sweeps, position, rotation, position, rotation)
    find_crossings(breps, sweeps, events_out, (breps.inner, breps.vertex), (position, rotation, position, rotation),
                   crossing)


@jit
def sweep_core(breps, sweeps, events_out, position, rotation, crossing):
    """The same from the cores: overlaps too deep for L1, as a scene may begin with."""
    bound_shapes(breps, sweeps, position, rotation, position, rotation)
    find_crossings(breps, sweeps, events_out, (breps.core, breps.vertex), (position, rotation, position, rotation),
                   crossing)


@jit
def bound_shapes(breps, sweeps, position0, rotation0, position1, rotation1):
    """Boxes around the sweeps of whole shapes, from the boxes in their bodies' frames."""
    low, high = sweeps.shape_low, sweeps.shape_high
    for s in range(breps.shape_count):
        body, box, pad = breps.shape_body[s], breps.shape_box[s], breps.shape_pad[s]
        for k in range(3):
            R, Q = rotation0[body, k], rotation1[body, k]
            middle0 = position0[body, k] + R[0] * box[0, 0] + R[1] * box[0, 1] + R[2] * box[0, 2]
            middle1 = position1[body, k] + Q[0] * box[0, 0] + Q[1] * box[0, 1] + Q[2] * box[0, 2]
            half0 = abs(R[0]) * box[1, 0] + abs(R[1]) * box[1, 1] + abs(R[2]) * box[1, 2] + pad
            half1 = abs(Q[0]) * box[1, 0] + abs(Q[1]) * box[1, 1] + abs(Q[2]) * box[1, 2] + pad
            low[s, k] = min(middle0 - half0, middle1 - half1)
            high[s, k] = max(middle0 + half0, middle1 + half1)
        sweeps.shape_fresh[s] = 0


@jit
def find_crossings(breps, sweeps, events_out, vertices, motion, crossing):
    """Pairs of shapes whose boxes overlap, tree against tree; then events from the crossings found."""
    vertex0, vertex1 = vertices
    position0, rotation0, position1, rotation1 = motion
    sweeps.work_counts[:] = 0
    sweeps.slab_leaf[:] = -1
    events_out.counts[:] = 0
    find_pairs(breps, sweeps, 0.0)
    pair = sweeps.pair
    for k in range(sweeps.counts[PAIRS]):
        for side in range(2):
            s = pair[k, side]
            if sweeps.shape_fresh[s] == 0:
                sweeps.shape_fresh[s] = 1
                body = breps.shape_body[s]
                first, last = breps.shape_vertex[s, 0], breps.shape_vertex[s, 1]
                place(vertex0, first, last, position0[body], rotation0[body], sweeps.start)
                place(vertex1, first, last, position1[body], rotation1[body], sweeps.end)
                bound_ways(sweeps.start, sweeps.end, first, last, sweeps.vertex_box)
                refit(breps.node, (breps.shape_node[s, 0], breps.shape_node[s, 1]),
                      (breps.edge_vertex, breps.face_vertex), sweeps.vertex_box, breps.shape_pad[s], sweeps.node_box)
                sweeps.work_counts[BOX_UPDATES] += breps.shape_node[s, 1] - breps.shape_node[s, 0]  # (7.2), thesis: N_u
        a, b = pair[k, 0], pair[k, 1]
        walk_trees(breps, sweeps, events_out, breps.shape_node[a, 0], breps.shape_node[b, 0], crossing)
    events_out.counts[PAIRS_LOST] = sweeps.counts[PAIR_OVERFLOW]
    write_events(breps, sweeps.start, sweeps.end, events_out)


@jit
def place(vertex, first, last, x, R, world_out):
    """Vertices of one shape in the world."""
    for v in range(first, last):
        a, b, c = vertex[v, 0], vertex[v, 1], vertex[v, 2]
        for k in range(3):
            world_out[v, k] = x[k] + R[k, 0] * a + R[k, 1] * b + R[k, 2] * c


@jit
def bound_ways(start, end, first, last, box_out):
    """Boxes of the ways of vertices."""
    for v in range(first, last):
        for k in range(3):
            box_out[v, k] = min(start[v, k], end[v, k])
            box_out[v, 3 + k] = max(start[v, k], end[v, k])


# ---- tree against tree ----------------------------------------------------------------------------------------------


@jit
def walk_trees(breps, sweeps, events_out, root_a, root_b, crossing):
    """All pairs of primitives of two shapes whose boxes overlap; of two nodes the larger is opened."""
    node, box, stack = breps.node, sweeps.node_box, sweeps.stack
    stack[0, 0], stack[0, 1] = root_a, root_b
    height, tests = 1 if boxes_overlap(box, root_a, root_b) else 0, 1
    while height > 0:
        height -= 1
        a, b = stack[height, 0], stack[height, 1]
        leaf_a, leaf_b = node[a, 0] < 0, node[b, 0] < 0
        if leaf_a and leaf_b:
            try_primitives(breps, sweeps, events_out, a, b, crossing)
            continue
        size_a, size_b = width(box, a), width(box, b)
        open_b = leaf_a or (not leaf_b and size_b >= size_a)
        if leaf_a and size_a > LARGER * size_b and leaf_apart(breps, sweeps, a, b):
            continue
        if leaf_b and size_b > LARGER * size_a and leaf_apart(breps, sweeps, b, a):
            continue
        for child in range(2):
            c, d = (a, node[b, child]) if open_b else (node[a, child], b)
            tests += 1
            if boxes_overlap(box, c, d) and may_cross(node[c, 2], node[d, 2]):
                stack[height, 0], stack[height, 1] = c, d
                height += 1
    sweeps.work_counts[BOX_TESTS] += tests  # (7.2), thesis: N_v


@jit(into_callers=True)
def may_cross(kinds_a, kinds_b):
    """Whether two nodes hold a vertex and a face, or an edge each."""
    return (kinds_a & kinds_b & EDGE) | (kinds_a & VERTEX and kinds_b & FACE) | (kinds_a & FACE and kinds_b & VERTEX)


@jit
def leaf_apart(breps, sweeps, leaf, other):
    """The slab filter: whether a node's box lies outside the slabs of a leaf's sweep, which are kept for a while."""
    kind, f = breps.node[leaf, 2], breps.node[leaf, 3]
    if kind == VERTEX:
        return False
    at = leaf & (SLABS - 1)
    if sweeps.slab_leaf[at] != leaf:
        sweeps.slab_leaf[at] = leaf
        if kind == FACE:
            count = face_slabs(f, breps.face_vertex, sweeps.start, sweeps.end, sweeps.slab[at])
        else:
            count = edge_slabs(f, breps.edge_vertex, breps.edge_face, breps.face_vertex, sweeps.start, sweeps.end,
                               sweeps.slab[at])
        sweeps.slab_count[at] = count
    return outside_slabs(sweeps.slab[at], sweeps.slab_count[at], sweeps.node_box, other)


@jit
def try_primitives(breps, sweeps, events_out, a, b, crossing):
    """The primitive test of two leaves of the first and the second shape; a crossing is noted."""
    node, pad = breps.node, breps.shape_pad
    sweeps.work_counts[PRIMITIVE_TESTS] += 1  # (7.2), thesis: N_p
    if node[a, 2] == EDGE:
        one, other = node[a, 3], node[b, 3]
        graze = GRAZE * min(pad[breps.edge_shape[one]], pad[breps.edge_shape[other]])
        time = edge_edge((sweeps.start, sweeps.end), (one, other),
                         (breps.edge_vertex, breps.edge_face, breps.face_vertex), graze, crossing, sweeps.work)
        key = breps.vertex_count * breps.patch_count + one * breps.edge_count + other
    else:
        first = node[a, 2] == VERTEX
        one, other = node[a, 3] if first else node[b, 3], node[b, 3] if first else node[a, 3]
        t, graze = breps.face_vertex[other], GRAZE * min(pad[breps.vertex_shape[one]], pad[breps.face_shape[other]])
        time = vertex_face((sweeps.start, sweeps.end), one, (t[0], t[1], t[2]), graze, crossing, sweeps.work)
        key = one * breps.patch_count + breps.face_patch[other]
    if time < 0.0 or leaf_apart(breps, sweeps, a, b) or leaf_apart(breps, sweeps, b, a):
        return
    n = events_out.counts[FOUND]
    events_out.counts[FOUND] += 1
    if n < len(events_out.raw_key):
        events_out.raw_key[n] = key
        events_out.raw_time[n] = time
        events_out.raw_feature[n, 0] = one
        events_out.raw_feature[n, 1] = other
        for k in range(4):
            events_out.raw_parameter[n, k] = sweeps.work[PARAMETERS + k]
