"""A scene in motion: `Simulation`, its views of bodies, joints, robots and sensors, scripts, pushes, the profile.

In: a scene, a method, a time step. Out: states, contacts, reports, a recording.
"""
