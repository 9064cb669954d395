"""The papers' figures and tables, one module each; `sesshoku reproduce NAME` runs them.

In: a name. Out: numbers beside the paper's, checks of them, and a figure.
"""
