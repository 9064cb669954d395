"""Mathematics without mechanics: linear, complementarity, cone and quadratic problems.

In: rows and bounds. Out: impulses and how well they meet the law.
"""
