"""What several methods do between detection and integration: rows of contacts and joints, forces, books, reports.

In: a model, data, contacts and a method's rows. Out: velocities, forces and the report of a step.
"""
