"""The life of contact springs (section 5.6.2): made where features cross, kept while they do, gone when they don't.

A spring is named by the crossing's key and the rule that attached it. Its anchors are found anew every step while it is
kinetic; static ones are held in both bodies. L1 at the end of a step gives the set of the next one; L0 within a step
adds springs, held by their limit, for what is about to cross the shrunken shapes.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.materials import pair_coefficients
from sesshoku.collision.swept.sweep import EDGE_EDGE, EVENTS, PAIRS_LOST, sweep_core, sweep_inflate, sweep_motion
from sesshoku.collision.swept.sweep import LOST as EVENTS_LOST
from sesshoku.compiled.jit import jit
from sesshoku.compiled.sets import first_from
from sesshoku.methods.springs.contact.anchors import GUEST, HOST, NORMAL, OUTWARD, attach, edge_cases
from sesshoku.methods.springs.contact.deep import (
    above_patch,
    across_edges,
    measurable,
    measure_sunk,
    touching,
    way_out,
)
from sesshoku.methods.springs.options import DRAG
from sesshoku.methods.springs.solve.descent import ONE_WAY
from sesshoku.methods.springs.work import (
    EDGES,
    KINETIC,
    LOST,
    NEXT,
    OLD_PRESSES,
    OLD_SORTED,
    PRESSES,
    SIDE_0,
    SORTED,
    STANDING,
    STATIC,
    VERTEX_FACE,
)

KINETIC_STEPS = 2  # of a new spring before it may become static
WITHIN = 0.9  # of the shrinking of both shapes: deeper a contact is not seen any more


@jit
def find_contacts(work, dt):
    """L1 at the present poses, and the springs that follow from it."""
    breps, sweeps, events = work.breps, work.sweeps, work.events
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    sweep_inflate(breps, sweeps, events, bodies.position, bodies.rotation, options.crossing)
    keep_old(springs, presses)
    counts = presses.counts
    counts[PRESSES] = 0
    counts[LOST] = events.counts[EVENTS_LOST] + events.counts[PAIRS_LOST]
    place = 0
    for n in range(events.counts[EVENTS]):
        while place < counts[OLD_SORTED] and presses.old_key[place] < events.key[n]:
            place += 1
        make_from(work, dt, n, bodies.position, bodies.rotation, place)
    counts[SORTED] = counts[PRESSES]
    if presses.fresh[0] or any_sunk(work):
        find_deep(work, dt)
    keep_deep(work, dt)
    find_lost(work, dt)
    measure_sunk(work)
    counts[STANDING] = counts[PRESSES]
    springs.counts[0] = presses.first + counts[PRESSES]
    presses.fresh[0] = 0


@jit
def any_sunk(work):
    """Whether shapes overlap farther than L1 can see: by a spring of the set before that it missed and that is deeper
    now than its limit, or by one it found beyond what a solve leaves."""
    presses, most = work.presses, 1.0 + 1.2 * work.options.constraint_tol
    for c in range(presses.counts[PRESSES]):
        if presses.depth[c] > most * presses.limit[c]:
            return True
    for old in range(presses.counts[OLD_PRESSES]):
        if not presses.old_used[old] and old_depth(work, old) > pair_limit(work, presses.old_shape[old, 0],
                                                                           presses.old_shape[old, 1]):
            return True
    return False


@jit
def old_depth(work, old):
    """Depth at the present poses of a spring of the set before, which `presses.work` then describes; -1 where its
    features do not face each other any more."""
    breps, bodies, presses, options = work.breps, work.bodies, work.presses, work.options
    variant, n, scratch = presses.old_variant[old], presses.old_normal[old], presses.work
    sign = 1.0 if variant == SIDE_0 else -1.0  # the normal is the host's; `outward` is that of edge 0
    outward = scratch[OUTWARD]
    outward[0], outward[1], outward[2] = sign * n[0], sign * n[1], sign * n[2]
    depth, face, along0, along1 = attach(breps, (bodies.position, bodies.rotation), variant,
                                         (presses.old_feature[old, 0], presses.old_feature[old, 1]), outward,
                                         options.side_face, scratch)
    if variant != VERTEX_FACE and not (0.0 <= along0 <= 1.0 and 0.0 <= along1 <= 1.0):
        return -1.0
    if face >= 0 and depth > 0.0 and not above_patch(breps, bodies, face, scratch):
        return -1.0
    return depth


@jit
def find_deep(work, dt):
    """Springs between shapes that lie deeper in each other than the shrunken ones: L1 sees nothing of those.

    Of shapes that L1 does see somewhere (a ring of a sphere's vertices, its pole far below; a tower that leans) only
    what is beyond the limit is added.
    """
    breps, sweeps, events = work.breps, work.sweeps, work.events
    bodies, presses, options = work.bodies, work.presses, work.options
    sweep_core(breps, sweeps, events, bodies.position, bodies.rotation, options.crossing)
    place, counts, scratch = 0, presses.counts, presses.work
    for n in range(events.counts[EVENTS]):
        while place < counts[OLD_SORTED] and presses.old_key[place] < events.key[n]:
            place += 1
        if known(presses, events.key[n], counts[SORTED]):
            continue
        a, b, seen = events.shape[n, 0], events.shape[n, 1], False
        for c in range(counts[SORTED]):
            guest, host = presses.shape[c, 0], presses.shape[c, 1]
            seen = seen or (guest == a and host == b) or (guest == b and host == a)
        if seen:
            variant = VERTEX_FACE if events.kind[n] != EDGE_EDGE else EDGES
            depth, _, _, _ = attach(breps, (bodies.position, bodies.rotation), variant,
                                    (events.feature[n, 0], events.feature[n, 1]), events.normal[n], options.side_face,
                                    scratch)
            seen = not depth > pair_limit(work, a, b)
        if not seen:
            make_from(work, dt, n, bodies.position, bodies.rotation, place)


@jit
def keep_old(springs, presses):
    """Make the present set the one before."""
    P, counts = presses, presses.counts
    counts[OLD_PRESSES], counts[OLD_SORTED] = counts[PRESSES], counts[SORTED]
    for c in range(counts[PRESSES]):
        P.old_key[c], P.old_variant[c], P.old_state[c], P.old_age[c] = P.key[c], P.variant[c], P.state[c], P.age[c]
        P.old_id[c], P.old_used[c], P.old_depth[c] = P.id[c], 0, P.depth[c]
        for side in range(2):
            P.old_feature[c, side], P.old_shape[c, side] = P.feature[c, side], P.shape[c, side]
        for a in range(3):
            P.old_moved[c, a], P.old_place[c, a], P.old_drag[c, a] = P.moved[c, a], P.place[c, a], P.drag[c, a]
            P.old_held[c, a], P.old_normal[c, a] = P.held[c, a], P.normal[c, a]
            P.old_local[c, 0, a] = springs.local[P.first + c, 0, a]
            P.old_local[c, 1, a] = springs.local[P.first + c, 1, a]


@jit
def find_old(presses, key, variant, place):
    """The spring of that name in the set before, from `place` in its sorted part on, or among those added; -1."""
    for c in range(place, presses.counts[OLD_SORTED]):
        if presses.old_key[c] != key:
            break
        if presses.old_variant[c] == variant:
            return c
    for c in range(presses.counts[OLD_SORTED], presses.counts[OLD_PRESSES]):
        if presses.old_key[c] == key and presses.old_variant[c] == variant:
            return c
    return -1


@jit
def make_from(work, dt, n, position, rotation, place):
    """The springs of crossing n, as they were in the set before or new."""
    breps, events, presses, options = work.breps, work.events, work.presses, work.options
    f0, f1, scratch = events.feature[n, 0], events.feature[n, 1], presses.work
    outward = events.normal[n]
    if events.kind[n] != EDGE_EDGE:
        make_spring(work, dt, events.key[n], VERTEX_FACE, (f0, f1), outward, (position, rotation), place)
        return
    reach = 2.0 * pair_limit(work, events.shape[n, 0], events.shape[n, 1])
    cases = edge_cases(breps, (position, rotation), (f0, f1), outward, reach, options.side_face, scratch)
    for variant in range(EDGES, SIDE_0 + 2):
        if cases & (1 << variant):
            make_spring(work, dt, events.key[n], variant, (f0, f1), outward, (position, rotation), place)


@jit
def pair_limit(work, a, b):
    """How deep a contact of two shapes may be pressed: the user's limit or the thinner one's, within what their
    shrinking can see."""
    breps, wanted, options = work.breps, work.presses.wanted_margin, work.options
    return min(options.limit, WITHIN * (breps.shape_margin[a] + breps.shape_margin[b]),
               WITHIN * (2.0 * min(wanted[a], wanted[b])))


@jit
def make_spring(work, dt, key, variant, features, outward, poses, place):
    """A contact spring at the end of the list: attached now; its history, if it has one, carried over."""
    f0, f1 = features
    position, rotation = poses
    breps, springs, presses, options = work.breps, work.springs, work.presses, work.options
    P, c = presses, presses.counts[PRESSES]
    if c >= P.capacity:
        P.counts[LOST] += 1
        return
    scratch, s, side_face = P.work, P.first + c, options.side_face
    depth, _, along0, along1 = attach(breps, poses, variant, features, outward, side_face, scratch)
    if not depth > 0.0:
        return  # a spring that would pull
    if variant == VERTEX_FACE:
        guest, host = breps.vertex_shape[f0], breps.face_shape[f1]
    elif variant == SIDE_0:
        guest, host = breps.edge_shape[f1], breps.edge_shape[f0]
    else:
        guest, host = breps.edge_shape[f0], breps.edge_shape[f1]
    a, b = breps.shape_body[guest], breps.shape_body[host]
    P.counts[PRESSES] = c + 1
    P.key[c], P.variant[c], P.feature[c, 0], P.feature[c, 1] = key, variant, f0, f1
    P.shape[c, 0], P.shape[c, 1] = guest, host
    springs.body[s, 0], springs.body[s, 1] = a, b
    P.depth[c] = depth
    for k in range(3):
        P.normal[c, k], P.point[c, k], P.foot[c, k] = scratch[NORMAL, k], scratch[GUEST, k], scratch[HOST, k]
        P.held[c, k] = P.moved[c, k] = 0.0
        for side in range(2):
            R, n = rotation[a if side == 0 else b], scratch[NORMAL]
            P.facing[c, side, k] = R[0, k] * n[0] + R[1, k] * n[1] + R[2, k] * n[2]
    P.mu[c, 0], P.mu[c, 1], P.mu[c, 2] = pair_coefficients(breps, guest, host)
    P.limit[c] = pair_limit(work, guest, host)
    to_local(position, rotation, a, scratch[GUEST], springs.local[s, 0])
    to_local(position, rotation, b, scratch[HOST], springs.local[s, 1])
    old = find_old(P, key, variant, place)
    measure_place(work, c, s, variant, features, (along0, along1))
    if old < 0:
        P.state[c], P.age[c] = KINETIC, 0
        P.id[c] = P.counts[NEXT]
        P.counts[NEXT] += 1
        for k in range(3):
            P.drag[c, k] = springs.local[s, 1, k]
        return
    carry_over(work, dt, c, s, old)


@jit
def to_local(position, rotation, b, point, out):
    """A world point in the frame of body b."""
    R, x = rotation[b], position[b]
    for a in range(3):
        out[a] = R[0, a] * (point[0] - x[0]) + R[1, a] * (point[1] - x[1]) + R[2, a] * (point[2] - x[2])


@jit
def measure_place(work, c, s, variant, features, along):
    """Where on the host the spring is attached, m: the point itself, or how far along each edge: eqs. (5.10)-(5.12)."""
    f0, f1 = features
    along0, along1 = along
    breps, springs, presses = work.breps, work.springs, work.presses
    place = presses.place[c]
    if variant != EDGES:
        for k in range(3):
            place[k] = springs.local[s, 1, k]
        return
    for side in range(2):
        e = f0 if side == 0 else f1
        length = 0.0
        for k in range(3):
            length += (breps.vertex[breps.edge_vertex[e, 1], k] - breps.vertex[breps.edge_vertex[e, 0], k]) ** 2
        place[side] = (along0 if side == 0 else along1) * sqrt(length)
    place[2] = 0.0


@jit
def carry_over(work, dt, c, s, old):
    """History of a spring that was there before: a kinetic one may come to rest, a static one keeps its anchors."""
    springs, presses, options = work.springs, work.presses, work.options
    P = presses
    P.old_used[old] = 1
    P.id[c], P.state[c], P.age[c] = P.old_id[old], P.old_state[old], P.old_age[old] + 1
    for k in range(3):
        P.held[c, k], P.drag[c, k] = P.old_held[old, k], P.old_drag[old, k]
    if options.friction_anchor == DRAG:
        return
    if P.state[c] == STATIC:
        for k in range(3):
            springs.local[s, 0, k], springs.local[s, 1, k] = P.old_local[old, 0, k], P.old_local[old, 1, k]
        return
    turn = size = 0.0
    for k in range(3):
        P.moved[c, k] = P.place[c, k] - P.old_place[old, k]
        turn += P.moved[c, k] * P.old_moved[old, k]
        size += P.moved[c, k] ** 2
    still = options.stick_speed * dt
    if P.age[c] >= KINETIC_STEPS and (turn < 0.0 or size < still * still):
        P.state[c] = STATIC


@jit
def keep_deep(work, dt):
    """Springs of the set before stay, of all kinds, that no sweep found because they are too deep even for the cores.

    The thesis's limit keeps such depths away; they come up where the descent was cut off, or the scene began so.
    """
    bodies, presses = work.bodies, work.presses
    for old in range(presses.counts[OLD_PRESSES]):
        if presses.old_used[old]:
            continue
        limit = pair_limit(work, presses.old_shape[old, 0], presses.old_shape[old, 1])
        if old_depth(work, old) > limit:
            make_spring(work, dt, presses.old_key[old], presses.old_variant[old],
                        (presses.old_feature[old, 0], presses.old_feature[old, 1]), presses.work[OUTWARD],
                        (bodies.position, bodies.rotation), old)


@jit
def find_lost(work, dt):
    """Springs for convex shapes that were beyond their limit, overlap still, and have none left: their features do not
    face each other any more. Corners of one are pushed out by the face that lets them out soonest."""
    breps, bodies, presses, counts = work.breps, work.bodies, work.presses, work.presses.counts
    for old in range(counts[OLD_PRESSES]):
        a, b = presses.old_shape[old, 0], presses.old_shape[old, 1]
        limit = pair_limit(work, a, b)
        if presses.old_used[old] or not (presses.old_depth[old] > limit or presses.sunk[0] > 0.0):
            continue
        if not measurable(work, a, b) or touching(presses, a, b):
            continue
        least, face, guest = way_out(breps, bodies, a, b)
        if not min(least, across_edges(work, a, b)) > limit:
            continue
        for v in range(breps.shape_vertex[guest, 0], breps.shape_vertex[guest, 1] if least > 0.0 else 0):
            if breps.vertex_used[v]:
                make_spring(work, dt, v * breps.patch_count + breps.face_patch[face], VERTEX_FACE, (v, face),
                            presses.work[NORMAL], (bodies.position, bodies.rotation), counts[OLD_SORTED])


@jit
def find_passing(work, dt):
    """L0 to the predicted poses; the springs it adds to the set. Returns how many."""
    breps, sweeps, events = work.breps, work.sweeps, work.events
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    sweep_motion(breps, sweeps, events, (bodies.position, bodies.rotation, springs.new_position, springs.new_rotation),
                 options.crossing)
    before = presses.counts[PRESSES]
    presses.counts[LOST] += events.counts[EVENTS_LOST] + events.counts[PAIRS_LOST]
    for n in range(events.counts[EVENTS]):
        if events.leaving[n] == 0 and not known(presses, events.key[n], before):
            make_from(work, dt, n, springs.new_position, springs.new_rotation, presses.counts[OLD_SORTED])
    for c in range(before, presses.counts[PRESSES]):
        s = presses.first + c
        springs.holds[s] = ONE_WAY
        springs.limit[s] = presses.limit[c]
        presses.state[c], presses.age[c] = KINETIC, 0
        presses.depth[c] = min(presses.depth[c], presses.limit[c])  # so deep it will be, not as deep as predicted
        for a in range(3):
            springs.normal[s, a] = presses.normal[c, a]
            springs.held[s, a] = presses.push[c, a] = presses.rubbing[c, a] = 0.0
        springs.guess[s] = 0.0
    springs.counts[0] = presses.first + presses.counts[PRESSES]
    return presses.counts[PRESSES] - before


@jit
def drop_passing(work):
    """Leave out again what L0 added in this step: the forces at its start are to be found anew."""
    springs, presses = work.springs, work.presses
    presses.counts[PRESSES] = presses.counts[STANDING]
    springs.counts[0] = presses.first + presses.counts[PRESSES]


@jit
def known(presses, key, count):
    """Whether a crossing of that key has its spring among the first `count`: bisection, then those added."""
    place = first_from(presses.key, presses.counts[SORTED], key)
    if place < presses.counts[SORTED] and presses.key[place] == key:
        return True
    found = False
    for c in range(presses.counts[SORTED], count):
        found = found or presses.key[c] == key
    return found
