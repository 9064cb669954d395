"""Files in and out: one folder a format (URDF, MJCF, TOML, .body with VRML, USD).

In: a path. Out: a `RobotDescription` or a `Scene`, with what the file says and we do not know graded (`unsupported`).
"""
