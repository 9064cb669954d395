"""Springs of contacts (chapter 5 of the thesis): where they are attached, how long they live, what they push with.

In: crossings that the sweeps found, and the bodies. Out: forces on bodies, and the springs of the next step.
"""
