"""What each sample of a picture sees: the nearest triangle, by edge functions, in perspective or along parallel rays.

A camera looks along +z of its frame, +x to the right, +y down. In the plane of the picture a triangle's edges and its
nearness are affine functions of the pixel: nearness is 1/z in perspective, `DEEP` - z along parallel rays. Edges are
planes through the eye, so that a triangle that reaches behind the eye needs no clipping (Olano and Greer, 1997).
"""

from __future__ import annotations

from math import ceil, floor

from sesshoku.compiled.jit import jit
from sesshoku.recording.render.canvas import LAYERS, OPAQUE

DEEP = 1e6  # m: nearness along parallel rays is counted from here
NEAR = 1e-4  # m: what is nearer to the eye is not drawn
NOTHING = -1  # number of the triangle where there is none
PERSPECTIVE, SCALE, CENTER_X, CENTER_Y = range(4)  # lens: 1 or 0 (parallel), pixels per unit at z = 1 or per metre


@jit
def place(canvas):
    """Corners of all triangles in world coordinates."""
    corner, world, poses = canvas.corner, canvas.world, canvas.poses
    for t in range(canvas.count[0]):
        pose = poses[canvas.body[t]]
        w, x, y, z = pose[3], pose[4], pose[5], pose[6]
        for k in range(3):
            a, b, c = corner[t, k, 0], corner[t, k, 1], corner[t, k, 2]
            u, v, s = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
            world[t, k, 0] = pose[0] + a + w * u + y * s - z * v
            world[t, k, 1] = pose[1] + b + w * v + z * u - x * s
            world[t, k, 2] = pose[2] + c + w * s + x * v - y * u


@jit
def see(canvas, eye, axes, seen):
    """All triangles in the frame of a camera at `eye`; axes (3, 3): its x, y and z in the world, as rows."""
    world = canvas.world
    for t in range(canvas.count[0]):
        for k in range(3):
            x, y, z = world[t, k, 0] - eye[0], world[t, k, 1] - eye[1], world[t, k, 2] - eye[2]
            for i in range(3):
                seen[t, k, i] = axes[i, 0] * x + axes[i, 1] * y + axes[i, 2] * z


@jit
def clear(near, number):
    """Nothing is seen yet."""
    for row in range(near.shape[0]):
        for column in range(near.shape[1]):
            near[row, column] = 0.0
            number[row, column] = NOTHING


@jit
def draw_all(canvas):
    """Every triangle and plane into its layer."""
    see(canvas, canvas.eye, canvas.axes, canvas.seen)
    for layer in range(LAYERS):
        clear(canvas.near[layer], canvas.number[layer])
    for t in range(canvas.count[0]):
        layer = canvas.layer[t]
        draw_triangle(canvas.seen[t], t, canvas.lens, canvas.edges, canvas.near[layer], canvas.number[layer])
    for k in range(canvas.plane.shape[0]):
        draw_plane(canvas, k)


@jit
def cast_shadows(canvas):
    """What the sun sees of the opaque triangles; planes get shadows and cast none."""
    see(canvas, canvas.sun_eye, canvas.sun_axes, canvas.sun_seen)
    shadow = canvas.shadow
    for row in range(shadow.shape[0]):
        for column in range(shadow.shape[1]):
            shadow[row, column] = 0.0
    for t in range(canvas.count[0]):
        if canvas.layer[t] == OPAQUE:
            draw_triangle(canvas.sun_seen[t], t, canvas.sun_lens, canvas.sun_edges, shadow, canvas.shadow_number)


@jit
def draw_triangle(corner, t, lens, edges, near, number):
    """Triangle t, its corners (3, 3) in the camera's frame, where it is nearer than what is there."""
    height, width = near.shape
    scale, cx, cy, perspective = lens[SCALE], lens[CENTER_X], lens[CENTER_Y], lens[PERSPECTIVE] > 0.0
    low = min(corner[0, 2], min(corner[1, 2], corner[2, 2]))
    high = max(corner[0, 2], max(corner[1, 2], corner[2, 2]))
    if perspective and high < NEAR:
        return
    left, right, top, bottom = 0.0, width - 1.0, 0.0, height - 1.0
    if not perspective or low >= NEAR:  # all of it before the eye: its box bounds it
        x0, x1, y0, y1 = 1e18, -1e18, 1e18, -1e18
        for k in range(3):
            size = scale / corner[k, 2] if perspective else scale
            x, y = cx + size * corner[k, 0], cy + size * corner[k, 1]
            x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
        left, right = max(left, ceil(x0 - 0.5)), min(right, floor(x1 - 0.5))  # columns whose middle lies in it
        top, bottom = max(top, ceil(y0 - 0.5)), min(bottom, floor(y1 - 0.5))
        if not (left <= right and top <= bottom):
            return
    if edge_planes(corner, perspective, edges):
        fill(edges, t, lens, (int(left), int(right), int(top), int(bottom)), near, number)


@jit
def edge_planes(corner, perspective, edges_out):
    """Rows 0 to 2: edge functions of a triangle over (x, y, 1), positive inside; row 3: nearness. False: edge on."""
    A, B, C = corner[0], corner[1], corner[2]
    if perspective:
        cross_into(edges_out, 0, B, C)
        cross_into(edges_out, 1, C, A)
        cross_into(edges_out, 2, A, B)
        volume = A[0] * edges_out[0, 0] + A[1] * edges_out[0, 1] + A[2] * edges_out[0, 2]
        if volume == 0.0:
            return False
        for i in range(3):
            edges_out[3, i] = (edges_out[0, i] + edges_out[1, i] + edges_out[2, i]) / volume
    else:
        volume = (B[0] - A[0]) * (C[1] - A[1]) - (B[1] - A[1]) * (C[0] - A[0])
        if volume == 0.0:
            return False
        line_into(edges_out, 0, B, C)
        line_into(edges_out, 1, C, A)
        line_into(edges_out, 2, A, B)
        for i in range(3):
            edges_out[3, i] = -(edges_out[0, i] * A[2] + edges_out[1, i] * B[2] + edges_out[2, i] * C[2]) / volume
        edges_out[3, 2] += DEEP
    if volume < 0.0:
        for k in range(3):
            for i in range(3):
                edges_out[k, i] = -edges_out[k, i]
    return True


@jit
def cross_into(out, row, u, v):
    """out[row] = u x v."""
    out[row, 0] = u[1] * v[2] - u[2] * v[1]
    out[row, 1] = u[2] * v[0] - u[0] * v[2]
    out[row, 2] = u[0] * v[1] - u[1] * v[0]


@jit
def line_into(out, row, u, v):
    """out[row]: twice the area of (u, v, (x, y)) as a function of x, y and 1."""
    out[row, 0] = u[1] - v[1]
    out[row, 1] = v[0] - u[0]
    out[row, 2] = u[0] * v[1] - u[1] * v[0]


@jit
def fill(edges, t, lens, box, near, number):
    """One triangle, row by row: between its edges where it is nearer than what is there. box: columns and rows."""
    left, right, top, bottom = box
    scale, cx, cy = lens[SCALE], lens[CENTER_X], lens[CENTER_Y]
    step = edges[3, 0] / scale
    nearest = 1.0 / NEAR if lens[PERSPECTIVE] > 0.0 else 2.0 * DEEP
    for row in range(top, bottom + 1):
        y = (row + 0.5 - cy) / scale
        begin, end = float(left), float(right)
        for k in range(3):  # value + slope * column >= 0
            slope = edges[k, 0] / scale
            value = edges[k, 0] * (0.5 - cx) / scale + edges[k, 1] * y + edges[k, 2]
            if slope > 0.0:
                begin = max(begin, -value / slope)
            elif slope < 0.0:
                end = min(end, -value / slope)
            elif value < 0.0:
                end = -1.0
        if not begin <= end:
            continue
        column = int(begin)
        if column < begin:
            column += 1
        nearness = edges[3, 0] * (column + 0.5 - cx) / scale + edges[3, 1] * y + edges[3, 2]
        for at in range(column, int(end) + 1):
            if near[row, at] < nearness < nearest:
                near[row, at] = nearness
                number[row, at] = t
            nearness += step


@jit
def draw_plane(canvas, k):
    """Endless plane k, numbered after all triangles; its front only."""
    plane, eye, axes, lens, normal = canvas.plane[k], canvas.eye, canvas.axes, canvas.lens, canvas.work[0]
    near, number = canvas.near[OPAQUE], canvas.number[OPAQUE]
    cross_into(canvas.work, 1, plane[1], plane[2])
    away = 0.0
    for i in range(3):
        normal[i] = 0.0
        for j in range(3):
            normal[i] += axes[i, j] * canvas.work[1, j]
        away += canvas.work[1, i] * (plane[0, i] - eye[i])
    perspective = lens[PERSPECTIVE] > 0.0
    if (away if perspective else normal[2]) >= 0.0:
        return
    t, scale = canvas.corner.shape[0] + k, lens[SCALE]
    for row in range(near.shape[0]):
        y = (row + 0.5 - lens[CENTER_Y]) / scale
        for column in range(near.shape[1]):
            x = (column + 0.5 - lens[CENTER_X]) / scale
            if perspective:
                nearness = (normal[0] * x + normal[1] * y + normal[2]) / away
            else:
                nearness = DEEP - (away - normal[0] * x - normal[1] * y) / normal[2]
            if near[row, column] < nearness:
                near[row, column] = nearness
                number[row, column] = t


__all__ = ["DEEP", "NOTHING", "cast_shadows", "draw_all", "place"]
