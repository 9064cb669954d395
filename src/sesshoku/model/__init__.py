"""The frozen flat arrays that compiled code reads of a scene, and nothing else of it.

In: what scene/compiler makes of a scene. Out: `Model`, a record that every kernel takes first.
"""
