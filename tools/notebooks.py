"""Runs the notebooks and keeps their outputs: python tools/notebooks.py (needs nbclient and ipykernel).

Texts and code stand in notebooks/*.ipynb; nothing else makes them. Outputs that differ from run to run (times, ids of
executions) are left out, so that a run that changes nothing changes no file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
MOST_BYTES = 400_000


def main(names: list[str]) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        notebook = nbformat.read(path, 4)
        where = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where).execute()
        notebook.metadata = {"language_info": {"name": "python"}}
        for number, cell in enumerate(notebook.cells):
            cell.id, cell.metadata = f"cell-{number}", {}
            if cell.cell_type == "code":
                cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
        nbformat.write(notebook, path)
        size = path.stat().st_size
        print(f"{path.name}: {size / 1000:.0f} kB")
        if size > MOST_BYTES:
            raise SystemExit(f"{path.name} is larger than {MOST_BYTES / 1000:.0f} kB: show less in it")


if __name__ == "__main__":
    main(sys.argv[1:])
