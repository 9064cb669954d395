"""How each pixel looks: a sky light from above, a sun with shadows, a grid on planes, haze in the distance.

Three layers lie over each other: what is opaque; the nearest of what is translucent; what is drawn over all (contacts).
A pixel has several samples; neighbouring samples that see the same triangles are shaded once. Colours are linear until
they are written.
"""

from __future__ import annotations

from math import floor, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.recording.render.canvas import GLASS, OPAQUE, OVER, as_canvas
from sesshoku.recording.render.raster import (
    CENTER_X,
    CENTER_Y,
    DEEP,
    NOTHING,
    PERSPECTIVE,
    SCALE,
    cast_shadows,
    draw_all,
    place,
)

# numbers in `Canvas.light`: directions of sun and sky (3 each), strengths, haze, cell of the grid, bias of shadows
SUN, SKY, SUN_STRENGTH, SKY_STRENGTH, HAZE_BEGIN, HAZE_END, CELL, BIAS = 0, 3, 6, 7, 8, 9, 10, 11
GROUND_LIGHT = 0.70  # of the sky's light that comes back from below
THIN, STRONG = 0.02, 0.03  # width of a line of the grid, of a cell; of every tenth
THIN_SHADE, STRONG_SHADE = 0.42, 0.66  # what a line takes of the plane's light


@jit(into_callers=True)
def normal_at(canvas, t, px, py, pz):
    """Unit normal of triangle t at a world point, between those of its corners."""
    corner, normal, pose = canvas.world[t], canvas.normal[t], canvas.poses[canvas.body[t]]
    ax, ay, az = corner[0, 0], corner[0, 1], corner[0, 2]
    ux, uy, uz = corner[1, 0] - ax, corner[1, 1] - ay, corner[1, 2] - az
    vx, vy, vz = corner[2, 0] - ax, corner[2, 1] - ay, corner[2, 2] - az
    px, py, pz = px - ax, py - ay, pz - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    pu, pv = px * ux + py * uy + pz * uz, px * vx + py * vy + pz * vz
    area = uu * vv - uv * uv
    b, c = ((vv * pu - uv * pv) / area, (uu * pv - uv * pu) / area) if area > 0.0 else (0.0, 0.0)
    a = 1.0 - b - c
    x = a * normal[0, 0] + b * normal[1, 0] + c * normal[2, 0]
    y = a * normal[0, 1] + b * normal[1, 1] + c * normal[2, 1]
    z = a * normal[0, 2] + b * normal[1, 2] + c * normal[2, 2]
    qw, qx, qy, qz = pose[3], pose[4], pose[5], pose[6]
    u, v, s = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    nx, ny, nz = x + qw * u + qy * s - qz * v, y + qw * v + qz * u - qx * s, z + qw * s + qx * v - qy * u
    size = max(sqrt(nx * nx + ny * ny + nz * nz), 1e-300)
    return nx / size, ny / size, nz / size


@jit(into_callers=True)
def sunlit(canvas, x, y, z):
    """Share of the sun that reaches a world point: bilinear over 4 x 4 samples of the shadow's picture."""
    shadow, axes, lens, eye = canvas.shadow, canvas.sun_axes, canvas.sun_lens, canvas.sun_eye
    x, y, z = x - eye[0], y - eye[1], z - eye[2]
    column = lens[CENTER_X] + lens[SCALE] * (axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z) - 0.5
    row = lens[CENTER_Y] + lens[SCALE] * (axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z) - 0.5
    last = shadow.shape[0] - 3.0
    if not (2.0 <= column < last and 2.0 <= row < last):
        return 1.0
    nearness = DEEP - (axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z)
    i, j = int(row), int(column)
    first, last_line = shadow[i - 1], shadow[i + 2]
    lit = first[j - 1] <= nearness
    if (lit == (first[j + 2] <= nearness) == (last_line[j - 1] <= nearness) == (last_line[j + 2] <= nearness)
            == (shadow[i, j] <= nearness) == (shadow[i + 1, j + 1] <= nearness)):
        return 1.0 if lit else 0.0  # nearly everywhere
    down, across = row - i, column - j
    light = 0.0
    for m in range(4):
        line = shadow[i - 1 + m]
        part = 0.0
        if line[j - 1] <= nearness:
            part += 1.0 - across
        if line[j] <= nearness:
            part += 1.0
        if line[j + 1] <= nearness:
            part += 1.0
        if line[j + 2] <= nearness:
            part += across
        light += part * (1.0 - down if m == 0 else (down if m == 3 else 1.0))
    return light / 9.0


@jit(into_callers=True)
def line_share(at, half, blur):
    """How much of a spot the lines at whole numbers cover; half: of a line's width; blur: the spot's width."""
    if blur >= 1.0:
        return 2.0 * half
    away = abs(at - floor(at + 0.5))
    if away >= half + 0.5 * blur:
        return 0.0
    return (min(away + 0.5 * blur, half) - max(away - 0.5 * blur, -half)) / blur


@jit(into_callers=True)
def grid_shade(canvas, k, x, y, z, slant, spot):
    """What the grid of plane k takes of its light at a world point. slant: sine of the ray's angle to the plane;
    spot: width of what a pixel sees there, m."""
    plane, eye, cells = canvas.plane[k], canvas.eye, 1.0 / canvas.light[CELL]
    o, u, v = plane[0], plane[1], plane[2]
    at_u = ((x - o[0]) * u[0] + (y - o[1]) * u[1] + (z - o[2]) * u[2]) * cells
    at_v = ((x - o[0]) * v[0] + (y - o[1]) * v[1] + (z - o[2]) * v[2]) * cells
    du = abs((x - eye[0]) * u[0] + (y - eye[1]) * u[1] + (z - eye[2]) * u[2])
    dv = abs((x - eye[0]) * v[0] + (y - eye[1]) * v[1] + (z - eye[2]) * v[2])
    spot *= cells / max(sqrt(du * du + dv * dv), 1e-12)
    long = spot / max(slant, 1e-3)
    spot_u, spot_v = du * long + dv * spot, dv * long + du * spot
    thin = max(line_share(at_u, 0.5 * THIN, spot_u), line_share(at_v, 0.5 * THIN, spot_v))
    strong = max(line_share(0.1 * at_u, 0.05 * STRONG, 0.1 * spot_u),
                 line_share(0.1 * at_v, 0.05 * STRONG, 0.1 * spot_v))
    return max(THIN_SHADE * thin, STRONG_SHADE * strong)


@jit(into_callers=True)
def shade_at(canvas, t, x, y, nearness):
    """Colour of triangle t, or of a plane, where it is seen at picture coordinates x, y."""
    lens, eye, axes, light = canvas.lens, canvas.eye, canvas.axes, canvas.light
    perspective = lens[PERSPECTIVE] > 0.0
    z = 1.0 / nearness if perspective else DEEP - nearness
    spread = z if perspective else 1.0
    dx = (axes[0, 0] * x + axes[1, 0] * y) * spread + axes[2, 0] * z
    dy = (axes[0, 1] * x + axes[1, 1] * y) * spread + axes[2, 1] * z
    dz = (axes[0, 2] * x + axes[1, 2] * y) * spread + axes[2, 2] * z
    px, py, pz = eye[0] + dx, eye[1] + dy, eye[2] + dz
    plane = t - canvas.corner.shape[0]
    if plane < 0:
        nx, ny, nz = normal_at(canvas, t, px, py, pz)
        red, green, blue = canvas.color[t, 0], canvas.color[t, 1], canvas.color[t, 2]
    else:
        u, v, color = canvas.plane[plane, 1], canvas.plane[plane, 2], canvas.plane_color[plane]
        nx, ny, nz = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
        red, green, blue = color[0], color[1], color[2]
    toward = (nx * dx + ny * dy + nz * dz) if perspective else (nx * axes[2, 0] + ny * axes[2, 1] + nz * axes[2, 2])
    if toward > 0.0:  # its back is seen
        nx, ny, nz = -nx, -ny, -nz
    up = nx * light[SKY] + ny * light[SKY + 1] + nz * light[SKY + 2]
    facing = nx * light[SUN] + ny * light[SUN + 1] + nz * light[SUN + 2]
    strength = light[SKY_STRENGTH] * (0.5 * (1.0 + GROUND_LIGHT) + 0.5 * (1.0 - GROUND_LIGHT) * up)
    if facing > 0.0:
        bias = light[BIAS]
        strength += light[SUN_STRENGTH] * facing * sunlit(canvas, px + bias * nx, py + bias * ny, pz + bias * nz)
    if plane >= 0:
        way = sqrt(dx * dx + dy * dy + dz * dz)
        slant = abs(toward) / way if perspective else abs(toward)
        strength *= 1.0 - grid_shade(canvas, plane, px, py, pz, slant, 2.0 * spread / lens[SCALE])
    share = 0.0
    if perspective:
        share = min(max((z - light[HAZE_BEGIN]) / (light[HAZE_END] - light[HAZE_BEGIN]), 0.0), 1.0)
    keep, sky = strength * (1.0 - share), canvas.sky[0]
    return red * keep + share * sky[0], green * keep + share * sky[1], blue * keep + share * sky[2]


@jit
def mix_layers(canvas, row, column):
    """The colour of one sample, all layers over each other."""
    lens, sky = canvas.lens, canvas.sky
    x, y = (column + 0.5 - lens[CENTER_X]) / lens[SCALE], (row + 0.5 - lens[CENTER_Y]) / lens[SCALE]
    t, nearness = canvas.number[OPAQUE, row, column], canvas.near[OPAQUE, row, column]
    if t != NOTHING:
        red, green, blue = shade_at(canvas, t, x, y, nearness)
    else:
        rise = 1.0 - row / canvas.number.shape[1]
        red = sky[0, 0] + rise * (sky[1, 0] - sky[0, 0])
        green = sky[0, 1] + rise * (sky[1, 1] - sky[0, 1])
        blue = sky[0, 2] + rise * (sky[1, 2] - sky[0, 2])
    for layer in range(GLASS, OVER + 1):
        t = canvas.number[layer, row, column]
        if t != NOTHING and (layer == OVER or canvas.near[layer, row, column] > nearness):
            r, g, b = shade_over(canvas, t, x, y, canvas.near[layer, row, column])
            share = canvas.color[t, 3]
            red, green, blue = red + share * (r - red), green + share * (g - green), blue + share * (b - blue)
    return red, green, blue


@jit
def shade_over(canvas, t, x, y, nearness):
    """`shade_at`, called: what lies over the rest is rare."""
    return shade_at(canvas, t, x, y, nearness)


@jit(nogil=True)
def paint(canvas_table, samples, first, last, picture_out):
    """Rows first .. last - 1 of a picture (height, width, 3) of bytes, with samples x samples a pixel.

    Needs `cast` and `catch`.
    """
    canvas = as_canvas(canvas_table)
    number, encoded = canvas.number, canvas.encoded
    scale = (encoded.shape[0] - 1.0) / (samples * samples)
    for row in range(first, last):
        for column in range(picture_out.shape[1]):
            old, old_glass, old_over = NOTHING - 1, NOTHING - 1, NOTHING - 1
            red, green, blue, r, g, b = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for m in range(samples * row, samples * row + samples):
                for n in range(samples * column, samples * column + samples):
                    t, glass, over = number[OPAQUE, m, n], number[GLASS, m, n], number[OVER, m, n]
                    if t != old or glass != old_glass or over != old_over:
                        r, g, b = mix_layers(canvas, m, n)
                        old, old_glass, old_over = t, glass, over
                    red, green, blue = red + r, green + g, blue + b
            picture_out[row, column, 0] = encoded[level_of(red * scale, encoded)]
            picture_out[row, column, 1] = encoded[level_of(green * scale, encoded)]
            picture_out[row, column, 2] = encoded[level_of(blue * scale, encoded)]


@jit(into_callers=True)
def level_of(value, encoded):
    """The entry of the table of bytes nearest to a value."""
    return int(min(max(value, 0.0), encoded.shape[0] - 1.0) + 0.5)


@jit
def stand(canvas_table):
    """Corners of all triangles at the poses of the canvas."""
    place(as_canvas(canvas_table))


@jit(nogil=True)
def cast(canvas_table):
    """Shadows. Needs `stand`."""
    cast_shadows(as_canvas(canvas_table))


@jit(nogil=True)
def catch(canvas_table):
    """What each sample sees. Needs `stand`."""
    draw_all(as_canvas(canvas_table))
