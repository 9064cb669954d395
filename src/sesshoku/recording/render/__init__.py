"""Pictures without a window: a scene's shapes, drawn by compiled code of our own on the processor.

Comes in: a drawing (scene/geometry/drawing.py), poses, contacts of an instant, a view. Goes out: arrays of colours,
depths or body numbers. Needs no display, driver or graphics card, and gives the same picture everywhere.

`triangles` makes triangles of shapes, `marks` of contacts; `views` says where the eye is; `raster` finds what each
pixel sees, `shade` how it looks; `renderer` puts them together; `video` makes films and strips of
recordings, `live` pictures of simulations.
"""

from sesshoku.recording.render.renderer import Renderer
from sesshoku.recording.render.views import View

__all__ = ["Renderer", "View"]
