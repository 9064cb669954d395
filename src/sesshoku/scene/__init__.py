"""What a user builds: bodies, joints, shapes, materials, actuators, sensors; compiled to a model by scene/compiler.

In: calls, or files through scene/io. Out: a `Scene`, checked, and of it a `CompiledScene`.
"""
