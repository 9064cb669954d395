"""How things show themselves in a notebook: pictures and pages as HTML that stands on its own."""

from __future__ import annotations

import base64
import html
import io

import numpy as np

WIDTH, HEIGHT = 480, 360  # pixels of a picture
FRAME = 520  # pixels: height of a page within a notebook


def pictured(picture: np.ndarray, text: str) -> str:
    """A picture (height, width, 3) with its text beside it."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="png", optimize=True)
    code = base64.b64encode(buffer.getvalue()).decode()
    return (f"<div style='display:flex;gap:1em;align-items:flex-start;flex-wrap:wrap'>"
            f"<img alt='' width='{picture.shape[1]}' src='data:image/png;base64,{code}'>{words(text)}</div>")


def words(text: str) -> str:
    return f"<pre style='margin:0'>{html.escape(text)}</pre>"


def framed(page: str, height: int = FRAME) -> str:
    """A whole page within a frame of its own, so that its style and scripts stay there."""
    return (f"<iframe sandbox='allow-scripts' style='width:100%;height:{height}px;border:0' "
            f"srcdoc=\"{html.escape(page, quote=True)}\"></iframe>")
