"""The command line: one module a group of commands.

In: words of a shell. Out: tables, pages, files, an exit code.
"""
