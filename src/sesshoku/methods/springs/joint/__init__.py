"""Springs of joints and loops (chapter 6 of the thesis): their anchors, what they pull, what drives and brakes joints.

In: the bodies, and commands of actuators. Out: forces on bodies, explicit or as inertia.
"""
