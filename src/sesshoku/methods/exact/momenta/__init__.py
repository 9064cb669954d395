"""What flight keeps: energy of a free spin, momentum and angular momentum of bodies and of islands by themselves.

In: the step's impulses, and poses and velocities before it. Out: spins, turns and velocities at its end that keep them.
"""
