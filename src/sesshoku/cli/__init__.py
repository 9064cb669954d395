"""The command line: one module a command, gathered by `app.py`.

In: words of a shell. Out: tables, pages, files, an exit code.
"""
