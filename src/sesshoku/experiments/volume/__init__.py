"""Experiments of the `volume` paper."""
