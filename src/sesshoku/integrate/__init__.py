"""Time stepping, one scheme a file, and the positions that velocities lead to.

In: a state and its velocity. Out: the state of the next step.
"""
