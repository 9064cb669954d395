"""What methods without rows over several joints leave out of tendons."""

from __future__ import annotations

import numpy as np

from sesshoku.scene.compiler import CompiledScene


def tendon_rows(compiled: CompiledScene) -> list[str]:
    """Limits and dry friction of tendons, in words; springs, dampers and actuators along them every method has."""
    found = []
    for tendon in compiled.scene.tendons.values():
        words = ["limits"] if np.isfinite(tendon.lower) or np.isfinite(tendon.upper) else []
        words += ["dry friction"] if tendon.friction > 0.0 else []
        if words:
            found.append(f"{' and '.join(words)} of tendon {tendon.name!r}")
    return found
