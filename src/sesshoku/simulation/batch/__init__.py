"""`Batch`: many worlds of one scene, side by side on all cores or on a GPU.

In: a scene, a method, a number of worlds, what varies between them. Out: plain arrays with the worlds along their first
axis.

    memory.py    what every world has of its own, and the lanes: the work space of a thread, bound to a world at a time
    crew.py      threads that take worlds and step them
    vary.py      how worlds differ: masses, friction, gains, gravity, where they start
    varied.py    the arrays of a model that follow from that
    state.py     reset, save, restore; a world as a Simulation
    observe.py   poses and velocities of bodies
    reading.py   arrays, and what has a name; views.py: bodies, joints, actuators; places.py: frames; robots.py
    sensors.py   sensors by name; sensed.py: steps that read them
    kernels.py   small compiled functions of these
    batch.py     `Batch` itself; gpu/: what it is on a GPU
"""

from sesshoku.simulation.batch.batch import Batch

__all__ = ["Batch"]
