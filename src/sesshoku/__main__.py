"""`python -m sesshoku`: the command line."""

from sesshoku.cli import main

main()
