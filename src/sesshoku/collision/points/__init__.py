"""Contact points: narrow phase of convex shapes, manifolds, patches; for `exact`, `lcp`, `multipoint` and `implicit`.

In: a model, poses of links. Out: `Contacts`, matched with those of the step before.
"""
