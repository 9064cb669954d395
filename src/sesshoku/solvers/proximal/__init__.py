"""Coulomb's law by proximal Newton steps, per island, in primal or dual form."""
