"""Many independent runs of one function, over a grid or a sample of conditions: `sweep`, and what it found, `Study`.

`run` (the sweep itself), `points` (which runs there are), `job` (one of them), `pool` (processes and threads of this
machine), `cluster` (Ray), `store` (results on disk as they arrive), `study` (results to read and draw), `file` (studies
as TOML).
"""

from sesshoku.comparison.sweep.run import sweep
from sesshoku.comparison.sweep.study import Study

__all__ = ["Study", "sweep"]
