"""`Canvas`: all that a picture is drawn from and drawn into, as one record that kernels take."""

from __future__ import annotations

from sesshoku.compiled.table import Record, array, viewer

OPAQUE, GLASS, OVER = range(3)  # layers: solid; the nearest that is translucent; what is drawn over all
LAYERS = 3


class Canvas(Record):
    """Triangles, planes, camera, sun and the picture's samples. Corners and normals stand in the frames of bodies."""

    corner = array(float, "T", 3, 3)
    normal = array(float, "T", 3, 3)
    color = array(float, "T", 4)  # linear red, green, blue, and opacity
    body = array(int, "T")
    layer = array(int, "T")
    count = array(int, 1)  # triangles in use
    poses = array(float, "F", 7)  # of bodies; the last: the world itself
    world = array(float, "T", 3, 3)
    seen = array(float, "T", 3, 3)  # in the frame of the camera
    sun_seen = array(float, "T", 3, 3)  # in that of the sun
    plane = array(float, "P", 3, 3)  # origin and two axes, world
    plane_color = array(float, "P", 3)
    eye = array(float, 3)
    axes = array(float, 3, 3)  # the camera's x (right), y (down) and z (ahead) in the world, as rows
    lens = array(float, 4)  # see `raster`
    sun_eye = array(float, 3)
    sun_axes = array(float, 3, 3)
    sun_lens = array(float, 4)
    shadow = array(float, "S", "S")  # nearness to the sun
    shadow_number = array(int, "S", "S")
    light = array(float, 12)  # see `shade`
    sky = array(float, 2, 3)  # colours at the horizon and above
    near = array(float, LAYERS, "H", "W")
    number = array(int, LAYERS, "H", "W")
    edges = array(float, 4, 3)
    sun_edges = array(float, 4, 3)
    work = array(float, 2, 3)
    encoded = array(int, "E")  # bytes of linear colours


as_canvas = viewer(Canvas)
