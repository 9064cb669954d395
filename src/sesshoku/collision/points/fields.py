"""Height fields: contact points of terrain with another shape, triangle by triangle.

Every cell of the grid is two triangles, cut from its corner (column, row + 1) to (column + 1, row), with solid ground
below. Only the cells under the other shape's box are looked at. The normal of a triangle's points is

1. its own, where the other shape's deepest point along it lies over the triangle: what slides over flat ground meets no
   seam;
2. else the one of the nearest points (GJK, and EPA with the ground's prism where they overlap), if the terrain around
   the place where it touches lies behind it: on ridges and peaks;
3. else its own again, for what of the other shape's facing side lies over the triangle: an edge between triangles that
   is flat or hollow is never a contact of its own.

Points of one direction are bundled, whatever triangles they come from; equal ones are one.
"""

from __future__ import annotations

from math import floor, inf, sqrt

from sesshoku.collision.contacts import SMOOTH, VERTEX
from sesshoku.collision.features import STEEP, TOP
from sesshoku.collision.points.bundles import bundle_points
from sesshoku.collision.points.epa import epa
from sesshoku.collision.points.gjk import APART, BEYOND, gjk
from sesshoku.collision.points.manifold import facing_points, to_world, with_witness
from sesshoku.collision.points.normals import best_normal
from sesshoku.collision.support import core_radius, support
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_BOX, SHAPE_CONVEX, SHAPE_FIELD, SHAPE_PLANE
from sesshoku.spatial.algebra import turned, turned_back

ON_EDGE = 1e-7  # share of the triangle: nearer to an edge than this is on it
BEHIND = 1e-6  # sine of the angle by which terrain may stand before a normal's plane
NEIGHBOURS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))  # of a grid point along edges: (columns, rows)


@jit
def field_cells(model, contacts, field, other, margin):
    """Cells under a shape: (first and last + 1 row, first and last + 1 column, its lowest z), in the field's frame."""
    R, at, origin = contacts.shape_rotation[field], contacts.shape_position[other], contacts.shape_position[field]
    size, rows, columns = model.shape_size[field], model.shape_field[field, 1], model.shape_field[field, 2]
    cx, cy, cz = turned_back(R, at[0] - origin[0], at[1] - origin[1], at[2] - origin[2])
    reach = core_radius(model, other) + margin
    contacts.climb[1] = 0
    first_column, last_column = cells_between(cx - extent(model, contacts, other, R, 0, -1.0) - reach,
                                              cx + extent(model, contacts, other, R, 0, 1.0) + reach, size[0], columns)
    first_row, last_row = cells_between(cy - extent(model, contacts, other, R, 1, -1.0) - reach,
                                        cy + extent(model, contacts, other, R, 1, 1.0) + reach, size[1], rows)
    low = cz - extent(model, contacts, other, R, 2, -1.0) - reach
    return first_row, last_row, first_column, last_column, low


@jit
def extent(model, contacts, shape, R, axis, sign):
    """How far a shape's core reaches from its position along an axis of the frame R, or against it (sign -1)."""
    x, y, z = sign * R[0, axis], sign * R[1, axis], sign * R[2, axis]
    px, py, pz = support(model, contacts, shape, 1, x, y, z)
    return px * x + py * y + pz * z


@jit
def cells_between(low, high, edge, points):
    """First and last + 1 of the cells between `points` grid points, the middle at 0, that the interval meets."""
    start, cells = -0.5 * edge * (points - 1), points - 1
    if not (high >= start and low <= -start):
        return 0, 0
    first = floor(max(low - start, 0.0) / edge)
    last = floor(min(high - start, edge * cells) / edge) + 1
    return max(min(first, cells - 1), 0), min(last, cells)


@jit
def grid_point(model, field, column, row):
    """A point of the grid, in the field's frame."""
    size, first, rows, columns = (model.shape_size[field], model.shape_field[field, 0], model.shape_field[field, 1],
                                  model.shape_field[field, 2])
    return (size[0] * (column - 0.5 * (columns - 1)), size[1] * (row - 0.5 * (rows - 1)),
            model.elevation[first + row * columns + column])


@jit
def height_above(model, contacts, field, x, y, z):
    """How far a world place lies above the terrain, along its z axis, m; infinite beside it."""
    R, at, size = contacts.shape_rotation[field], contacts.shape_position[field], model.shape_size[field]
    x, y, z = turned_back(R, x - at[0], y - at[1], z - at[2])
    rows, columns = model.shape_field[field, 1], model.shape_field[field, 2]
    u, v = x / size[0] + 0.5 * (columns - 1), y / size[1] + 0.5 * (rows - 1)
    if not (0.0 <= u <= columns - 1 and 0.0 <= v <= rows - 1):
        return inf
    column, row = min(floor(u), columns - 2), min(floor(v), rows - 2)
    u, v = u - column, v - row
    half = 1 if u + v > 1.0 else 0
    i, j, s = half_cell(column, row, half)
    if half == 1:
        u, v = 1.0 - u, 1.0 - v
    _, _, h = grid_point(model, field, i, j)
    _, _, along_x = grid_point(model, field, i + s, j)
    _, _, along_y = grid_point(model, field, i, j + s)
    return z - (h + u * (along_x - h) + v * (along_y - h))


@jit
def half_cell(column, row, half):
    """The corner of a triangle (half 0 or 1 of a cell) with the right angle, and the way to the others: +1 or -1."""
    return column + half, row + half, 1 - 2 * half


@jit
def set_cell(model, contacts, field, column, row, half, foot):
    """Write corners and normal of a triangle into `cell`, and its prism's foot at z = foot; its highest z."""
    V = contacts.cell
    column, row, s = half_cell(column, row, half)
    V[0, 0], V[0, 1], V[0, 2] = grid_point(model, field, column, row)
    V[1, 0], V[1, 1], V[1, 2] = grid_point(model, field, column + s, row)
    V[2, 0], V[2, 1], V[2, 2] = grid_point(model, field, column, row + s)
    for e in range(3):
        V[3 + e, 0], V[3 + e, 1], V[3 + e, 2] = V[e, 0], V[e, 1], foot
    gx, gy = (V[1, 2] - V[0, 2]) / (V[1, 0] - V[0, 0]), (V[2, 2] - V[0, 2]) / (V[2, 1] - V[0, 1])
    k = 1.0 / sqrt(1.0 + gx * gx + gy * gy)
    V[TOP, 0], V[TOP, 1], V[TOP, 2] = -k * gx, -k * gy, k
    contacts.cell_corners[0] = 3
    return max(V[0, 2], V[1, 2], V[2, 2])


@jit
def shares(contacts, x, y):
    """Barycentric coordinates of a place (field's frame) in the triangle of the cell, seen from above."""
    V = contacts.cell
    u, v = (x - V[0, 0]) / (V[1, 0] - V[0, 0]), (y - V[0, 1]) / (V[2, 1] - V[0, 1])
    return 1.0 - u - v, u, v


@jit
def behind(model, field, column, row, point, normal):
    """Whether a grid point lies behind the plane through w with the normal n, or is not there (field's frame)."""
    wx, wy, wz = point
    nx, ny, nz = normal
    if column < 0 or row < 0 or row >= model.shape_field[field, 1] or column >= model.shape_field[field, 2]:
        return True
    x, y, z = grid_point(model, field, column, row)
    x, y, z = x - wx, y - wy, z - wz
    return x * nx + y * ny + z * nz <= BEHIND * sqrt(x * x + y * y + z * z)


@jit
def true_normal(model, contacts, field, column, row, half, normal):
    """Whether the terrain around the nearest point (`witness`) lies behind n, world axes: a normal of the surface."""
    nx, ny, nz = normal
    R, W, m = contacts.shape_rotation[field], contacts.witness[0], contacts.cell[TOP]
    nx, ny, nz = turned_back(R, nx, ny, nz)
    if nx * m[0] + ny * m[1] + nz * m[2] <= 0.0:
        return False
    wx, wy, wz = turned_back(R, W[0], W[1], W[2])
    b0, b1, b2 = shares(contacts, wx, wy)
    column, row, s = half_cell(column, row, half)
    on0, on1, on2 = b0 > ON_EDGE, b1 > ON_EDGE, b2 > ON_EDGE
    if on0 and on1 and on2:
        return True
    if on1 and on2:
        return behind(model, field, column + s, row + s, (wx, wy, wz), (nx, ny, nz))
    if on0 and on1:
        return behind(model, field, column + s, row - s, (wx, wy, wz), (nx, ny, nz))
    if on0 and on2:
        return behind(model, field, column - s, row + s, (wx, wy, wz), (nx, ny, nz))
    if on1:
        column += s
    elif on2:
        row += s
    found = True
    for k in range(6):
        i, j = column + NEIGHBOURS[k][0], row + NEIGHBOURS[k][1]
        found = found and behind(model, field, i, j, (wx, wy, wz), (nx, ny, nz))
    return found


@jit
def nearest_normal(model, contacts, field, other, cell, offset, scale):
    """Gap and normal of the nearest points (found: 1; beyond the margin: -1; no normal of the surface: 0)."""
    column, row, half = cell
    margin, size = scale
    W, r, m = contacts.witness, core_radius(model, other), contacts.cell[TOP]
    contacts.climb[0] = contacts.climb[1] = 0
    state, corners, vx, vy, vz = gjk(model, contacts, field, other, offset, margin + r, size)
    if state == BEYOND:
        return -1, 0.0, 0.0, 0.0, 1.0
    if state == APART:
        length = sqrt(vx * vx + vy * vy + vz * vz)
        nx, ny, nz, gap = -vx / length, -vy / length, -vz / length, length - r
    else:
        contacts.cell_corners[0] = 6
        _, nx, ny, nz = epa(model, contacts, field, other, offset, corners, size)
        gap, nx, ny, nz = best_normal(model, contacts, (field, other), offset, 0, size, (nx, ny, nz))
        contacts.cell_corners[0] = 3
        x, y, z = turned_back(contacts.shape_rotation[field], nx, ny, nz)
        if x * m[0] + y * m[1] + z * m[2] < STEEP:  # out through a side of the prism
            return 0, gap, nx, ny, nz
    if not true_normal(model, contacts, field, column, row, half, (nx, ny, nz)):
        return 0, gap, nx, ny, nz
    W[1, 0], W[1, 1], W[1, 2] = W[0, 0] + gap * nx, W[0, 1] + gap * ny, W[0, 2] + gap * nz
    return 1, gap, nx, ny, nz


@jit
def triangle_points(model, contacts, field, other, place, offset, margin):
    """Contact points of the triangle in `cell` with a shape at c from the field: their number; as `collide_shapes`."""
    cx, cy, cz = offset
    R, V, W = contacts.shape_rotation[field], contacts.cell, contacts.witness
    nx, ny, nz = turned(R, V[TOP, 0], V[TOP, 1], V[TOP, 2])
    ox, oy, oz = turned(R, V[0, 0], V[0, 1], V[0, 2])
    contacts.climb[1] = 0
    qx, qy, qz = support(model, contacts, other, 1, -nx, -ny, -nz)
    r, kind = core_radius(model, other), model.shape_type[other]
    qx, qy, qz = cx + qx - r * nx, cy + qy - r * ny, cz + qz - r * nz
    gap = (qx - ox) * nx + (qy - oy) * ny + (qz - oz) * nz
    if gap > margin:
        return 0
    cell = sqrt(model.shape_size[field, 0] ** 2 + model.shape_size[field, 1] ** 2)
    size = model.shape_radius[other] + cell
    count, least = facing_points(model, contacts, field, other, offset, (nx, ny, nz), margin)
    corner = VERTEX if kind == SHAPE_BOX or kind == SHAPE_CONVEX else SMOOTH
    x, y, _ = turned_back(R, qx - gap * nx, qy - gap * ny, qz - gap * nz)
    b0, b1, b2 = shares(contacts, x, y)
    over = min(b0, b1, b2) >= -ON_EDGE
    if over or (count > 0 and least <= gap + 1e-9 * size):
        if over:
            W[0, 0], W[0, 1], W[0, 2] = qx - gap * nx, qy - gap * ny, qz - gap * nz
            W[1, 0], W[1, 1], W[1, 2] = qx, qy, qz
            count = with_witness(contacts, count, least, gap, margin, 1e-9 * size, 1e-6 * size, corner)
        to_world(contacts, field, count, nx, ny, nz)
        return count
    found, gap, x, y, z = nearest_normal(model, contacts, field, other, place, offset, (margin, size))
    if found < 0 or (found == 1 and gap > margin):
        return 0
    if found == 1:
        count, least = facing_points(model, contacts, field, other, offset, (x, y, z), margin)
        count = with_witness(contacts, count, least, gap, margin, 1e-7 * size, 1e-6 * size, corner)
        to_world(contacts, field, count, x, y, z)
        return count
    if count > 0:
        count, _ = facing_points(model, contacts, field, other, offset, (nx, ny, nz), margin)
        to_world(contacts, field, count, nx, ny, nz)
    return count


@jit
def collide_field(model, contacts, field, other, margin):
    """Contact points of a height field with a shape, within the margin, in bundles: how many these are.

    What finds no room is counted in `counts[OVERFLOW]`. `bundles.load_bundle` makes one the present manifold.
    """
    kind = model.shape_type[other]
    if kind == SHAPE_PLANE or kind == SHAPE_FIELD:  # terrain meets neither half-spaces nor terrain
        return 0
    at, origin = contacts.shape_position[other], contacts.shape_position[field]
    cx, cy, cz = at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]
    row0, row1, column0, column1, low = field_cells(model, contacts, field, other, margin)
    bundles, foot = 0, min(low, 0.0) - model.shape_size[field, 2] - 2.0 * model.shape_radius[other]
    for row in range(row0, row1):
        for column in range(column0, column1):
            for half in range(2):
                if set_cell(model, contacts, field, column, row, half, foot) < low:
                    continue
                count = triangle_points(model, contacts, field, other, (column, row, half), (cx, cy, cz), margin)
                if count > 0:
                    bundles = bundle_points(contacts, bundles, count, 1e-6 * model.shape_radius[other])
    return bundles
