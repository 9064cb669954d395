"""python -m sesshoku.robots FOLDER: writes the model files, the same bytes every time."""

from __future__ import annotations

import sys

from sesshoku.robots import write


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m sesshoku.robots FOLDER\n")
        return 2
    for path in write(arguments[0]):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
