"""Collision detection: broad phase, filters, materials, ids, islands; and below, one folder a kind of contact.

In: a model and poses. Out: contact points (points/), crossing features (swept/), overlap polyhedra (overlap/).
"""
