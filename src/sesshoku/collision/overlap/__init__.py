"""Overlap polyhedra of convex pieces, their volume and its derivatives; what `volume` takes."""
