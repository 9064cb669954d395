"""Collision detection in compiled code: broad phase, narrow phase, persistent ids, islands."""
