"""Rows of joints: limits, friction, loops, mimics, tendons, and an independent choice of dependent ones."""
