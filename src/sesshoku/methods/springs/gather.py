"""The whole work space of `springs`: its records in one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.swept.brep import Breps, make_breps
from sesshoku.collision.swept.events import Events, make_events
from sesshoku.collision.swept.sweep import Sweeps, make_sweeps
from sesshoku.compiled.table import Record, part
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.springs.options import Numbers, Options
from sesshoku.methods.springs.solve.descent import SpringSet, make_springs
from sesshoku.methods.springs.stability import turned_inertia
from sesshoku.methods.springs.work import (
    VERTEX_FACE,
    Bodies,
    Joints,
    Presses,
    make_bodies,
    make_joints,
    make_presses,
    moving_top,
    shape_margins,
)
from sesshoku.scene.compiler import CompiledScene

MOST_CONTACTS = 8192


class Work(Record):
    """Contacts as users see them, bodies, joints, springs, contact springs, polyhedra and the sweeps' work space."""

    options = part(Numbers)
    contacts = part(Contacts)
    bodies = part(Bodies)
    joints = part(Joints)
    springs = part(SpringSet)
    presses = part(Presses)
    breps = part(Breps)
    sweeps = part(Sweeps)
    events = part(Events)

    def unsound(self, given: Mapping[str, np.ndarray]) -> tuple[str, tuple[int, ...], str] | None:
        """Features of a contact spring are a vertex and a face, or two edges."""
        faces = given["presses.variant"] == VERTEX_FACE
        most = np.where(faces[:, None], [self.breps.vertex_count, self.breps.face_count], self.breps.edge_count)
        bad = np.argwhere(given["presses.feature"] >= np.maximum(most, 1))
        if len(bad) == 0:
            return None
        c, side = bad[0].tolist()
        return "presses.feature", (c, side), f"must be below {most[c, side]}"


def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Room for as many contacts as the features of a scene's shapes may have."""
    model = compiled.model
    bodies = make_bodies(model)
    joints, rows = make_joints(compiled, bodies, options)
    joints.inertia[:] = turned_inertia(compiled)
    margins, wanted = shape_margins(compiled, options)
    breps = make_breps(compiled, margins, options.merge_coplanar)
    used = int(breps.vertex_used.sum() + breps.edge_used.sum())
    capacity = min(2 * used + 64, MOST_CONTACTS)
    ties = [rows[s]["body"] for s in np.argsort(joints.tie, kind="stable") if joints.tie[s] >= 0]
    springs = make_springs(model.link_count + 1, len(rows) + capacity, ties, moving_top(bodies))
    springs.counts[0] = len(rows)
    for n, row in enumerate(rows):
        springs.body[n] = row["body"]
        springs.local[n] = np.array(row["local"])
    return Work(options=as_numbers(Numbers, options), contacts=make_contacts(model, capacity, 1), bodies=bodies,
                joints=joints, springs=springs, breps=breps,
                presses=make_presses(compiled, breps, wanted, len(rows), capacity),
                sweeps=make_sweeps(breps), events=make_events(capacity))
