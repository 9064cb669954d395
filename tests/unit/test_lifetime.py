"""A simulation that nobody holds is freed at once, views of it go on working, arrays handed out own nothing."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import sesshoku as ss
from snapshot_fuzz import rich_scene

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("method", ["none", "lcp", "springs"])
def test_a_dropped_simulation_is_freed_without_the_collector(method):
    scene = rich_scene()
    scene.add_frame("tip", "rod", position=(0, 0, -0.3))
    gc.collect()
    gc.disable()
    try:
        sim = ss.Simulation(scene, method, 2e-3)
        body, joint = sim.bodies["upper"], sim.joints["swing"]
        push = body.push((0.1, 0, 0), until=9.0)
        sim.step(2)
        assert body.position.shape == (3,) and joint.position is not None and sim.actuators["servo"].force is not None
        assert sim.frames["tip"].position.shape == (3,) and sim.sensors["pin"].position.shape == (3,)
        assert list(sim.robots) == [] and sim.contacts is not None and sim.energy and sim.report and repr(sim)
        sim.restore(sim.save())
        sim.reset()
        left = weakref.ref(sim), weakref.ref(sim.data), weakref.ref(sim.work), weakref.ref(sim._core)
        del sim, joint, push
        assert left[0]() is None and left[1]() is not None  # the view of a body keeps what it needs
        assert body.position.shape == (3,)
        del body
        assert [ref() for ref in left] == [None] * 4
    finally:
        gc.enable()


def test_a_copy_and_a_recording_leave_nothing_behind():
    scene = rich_scene()
    gc.collect()
    gc.disable()
    try:
        sim = ss.Simulation(scene, "none", 2e-3)
        recording = sim.run(0.01, record=["q"])
        data = weakref.ref(sim.data)
        del sim
        assert data() is None and len(recording) == 6
    finally:
        gc.enable()


def test_views_work_when_nothing_else_is_held():
    view = ss.Simulation(rich_scene(), "none").bodies["rod"]
    view.push((1, 0, 0))
    assert ss.Simulation(rich_scene(), "none").joints["swing"].limits == (-1.0, 1.0)
    view.release()
    assert view.contacts == [] and view.mass == pytest.approx(1.0)


def test_views_and_simulation_see_the_same():
    sim = ss.Simulation(rich_scene(), "none")
    body = sim.bodies["upper"]
    assert body is sim.bodies["upper"]
    body.set_pose((5, 0, 0))
    assert sim.body_poses()[sim.compiled.frame_index["upper"], 0] == 5.0
    sim.joints["swing"].position = 0.3
    assert sim.q[-1] == 0.3 or 0.3 in sim.q


@pytest.mark.parametrize("name", ["q", "v", "actuator_command", "actuator_force", "report_array", "sensor_readings"])
def test_live_arrays_own_nothing(name):
    values = getattr(ss.Simulation(rich_scene(), "none"), name)
    assert not values.flags.owndata
    with pytest.raises(ValueError, match="own its data|resize"):
        values.resize(99, refcheck=False)
    assert isinstance(values, np.ndarray)
