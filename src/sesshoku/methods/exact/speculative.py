"""How far detection has to look: what a shape travels in the rest of the step, though it may begin it at rest.

Detection itself looks as far as a shape's present velocity takes it in a step. What is let go, driven or pushed is
faster at the step's end: without contact it would be where its free velocity takes it. A contact that is not found in
time is found by how deep it is.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.rnea import carried_velocities
from sesshoku.methods.exact.options import MIDPOINT
from sesshoku.spatial.algebra import cross


@jit
def speculative_leads(model, data, work, dt):
    """(E28): contacts.shape_lead of every shape on a link. Overwrites work.y_before and data.force. Needs `predict`.

    No more than half the shape is thick, or what falls from rest falls if that is more: normals from farther mean
    little.
    """
    contacts, options = work.contacts, work.options
    v, g = data.v, model.gravity
    if options.integrator == MIDPOINT:
        seconds = 0.5 * dt * options.speculative
        for k in range(model.dof_count):
            work.y_before[k] = 2.0 * data.stage_v[k] - v[k]
        carried_velocities(model, data, work.y_before, data.force)
    else:
        seconds = dt * options.speculative
        carried_velocities(model, data, data.new_v, data.force)
    fall = seconds * dt * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for shape in range(model.shape_count):
        i = model.shape_link[shape]
        if i >= 0:
            half = model.shape_box[shape, 1]
            most = max(min(half[0], half[1], half[2]), fall)
            contacts.shape_lead[shape] = min(seconds * fastest_point(model, data, shape, data.force[i]), most)


@jit
def fastest_point(model, data, shape, velocity):
    """No point of a shape is faster than this, m/s, if its link has the spatial velocity (6)."""
    w, r = velocity, data.offset[model.shape_link[shape]]
    p, center, half = model.shape_position[shape], model.shape_box[shape, 0], model.shape_box[shape, 1]
    x, y, z = cross(w[3], w[4], w[5], r[0], r[1], r[2])
    x, y, z = x + w[0], y + w[1], z + w[2]
    far = 0.0
    for k in range(3):
        far += (abs(center[k]) + half[k]) ** 2
    arm = sqrt(far) + sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    return sqrt(x * x + y * y + z * z) + arm * sqrt(w[3] * w[3] + w[4] * w[4] + w[5] * w[5])
