"""How this package compiles: the decorator, records that compiled code takes as one pointer, the cache.

In: Python functions and declarations of records. Out: machine code, kept on disk. Knows no mechanics.
"""
