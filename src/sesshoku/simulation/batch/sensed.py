"""Steps of many worlds that have sensors: the compiled loop that reads each world's last step where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import written_out
from sesshoku.compiled.table import viewer
from sesshoku.dynamics.data import as_data
from sesshoku.methods.registry import Method
from sesshoku.model.arrays import as_model
from sesshoku.simulation.batch.crew import Work
from sesshoku.simulation.batch.kernels import remember
from sesshoku.simulation.batch.memory import Lane
from sesshoku.simulation.sensors.measure import measure
from sesshoku.simulation.sensors.memory import as_mounts

loops: dict[Any, Any] = {}  # a method's loop over steps -> that over worlds


def make_run_sensed(method: Method) -> Any:
    """The compiled `run(model_tables, data_tables, work_tables, mount_tables, dt, steps, place, none, done_out)`.

    As `run_worlds` (compiled/stepping.py), and the sensors of each world read its last step. place: where the method's
    equation of motion holds (sensors/measure.py). none: no contacts, (0, 2) and (0, 3), for methods without.
    """
    definition, run = method.definition, method.definition.run(method.options)
    if run in loops:
        return loops[run]
    tables = "model_tables[w], data_tables[w], work_tables[w]"
    own = definition.start_motion is not None
    contacts = "contacts" in definition.work.fields
    lines = ["def sensed(model_tables, data_tables, work_tables, mount_tables, dt, steps, place, none, done_out):",
             "    for w in range(len(done_out)):",
             f"        done_out[w] = run({tables}, dt, steps - 1) if steps > 1 else 0",
             "        model, data = as_model(model_tables[w]), as_data(data_tables[w])",
             "        work, mounts = as_work(work_tables[w]), as_mounts(mount_tables[w])",
             "        if done_out[w] == steps - 1:",
             *(["            start_motion(model, data, work, mounts.start)"] if own else []),
             "            remember(data, mounts)",
             f"            done_out[w] += run({tables}, dt, 1)",
             "        if done_out[w] < steps:",
             "            return w + 1",
             *(["        leave_motion(model, data, work, mounts.start, dt)"] if own else []),
             *(["        c = work.contacts", "        count, shape, point, force, torque = "
                                             "c.counts[0], c.shape, c.point, c.force, c.torque"] if contacts else
               ["        count, shape, point, force, torque = 0, none[0], none[1], none[1], none[1]"]),
             "        measure(model_tables[w], data_tables[w], mount_tables[w], count, shape, point, force, torque,",
             "                place, dt)",
             "    return len(done_out)"]
    space = {"run": run, "as_model": as_model, "as_data": as_data, "as_work": viewer(definition.work),
             "as_mounts": as_mounts, "start_motion": definition.start_motion, "leave_motion": definition.leave_motion,
             "remember": remember, "measure": measure, "__name__": definition.module}
    function = written_out(lines, space, "sensed", f"<sensed worlds of {definition.module}>")
    function.__qualname__ = f"sensed_{getattr(run, 'py_func', run).__name__}"
    loops[run] = jit(function, nogil=True)
    return loops[run]


def run_sensed_lane(method: Method, dt: float, place: int) -> Work:
    """What makes steps of which the last is read."""
    run, none = make_run_sensed(method), (np.zeros((0, 2), dtype=np.int64), np.zeros((0, 3)))

    def work(lane: Lane, worlds: np.ndarray, steps: int) -> tuple[np.ndarray, int]:
        made, t = np.zeros(len(worlds), dtype=np.int64), lane.tables
        return made, int(run(t["model"], t["data"], t["work"], t["mounts"], dt, steps, place, none, made))

    return work
