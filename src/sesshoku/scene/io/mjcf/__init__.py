"""MJCF, read through MuJoCo's own compiler and written for peers."""
