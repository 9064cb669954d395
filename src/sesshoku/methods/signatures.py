"""Write down for which argument types the kernels of all methods are compiled: `python -m sesshoku.methods.signatures`.

To be run after kernels were added, renamed or given other arguments; see `compiled/prepare/signatures.py`.
"""

from __future__ import annotations

from sesshoku.compiled.prepare import entry_of
from sesshoku.compiled.prepare.signatures import FILE, found_in, write
from sesshoku.methods import registry


def main() -> None:
    """Compile all methods as far as their types need it, and write the list."""
    found = found_in([entry_of(registry.load(keyword)) for keyword in registry.MODULES])
    write(found)
    print(f"{FILE}: {len(found)} kernels")


if __name__ == "__main__":
    main()
