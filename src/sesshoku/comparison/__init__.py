"""One scene under many laws: `compare` with its outcomes and its page, MuJoCo as a peer, benchmarks; `audit/` `sweep/`

In: a scene and the names of methods. Out: a row a method, in a table, a page and a file.
"""
