"""`python -m sesshoku`: the command line."""

from sesshoku.cli.app import main

main()
