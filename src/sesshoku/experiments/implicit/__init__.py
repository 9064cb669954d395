"""Figures and tables of `implicit`."""
