"""Robots of a folder under one method beside MuJoCo: `python -m benchmarks robots --folder PATH`.

`stand_ins.py` makes a copy in which missing meshes are cubes, `pair.py` holds one scene in both simulators,
`changes.py` what can be taken away from both, `reasons.py` finds why they differ, `measure.py` measures one scene,
`table.py` writes the page, `command.py` is the command.
"""
