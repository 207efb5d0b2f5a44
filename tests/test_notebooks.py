"""The notebooks of the documentation run from their first cell to their last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs/notebooks"


@pytest.mark.filterwarnings("default")  # those of Jupyter are not ours
@pytest.mark.parametrize("name", ["text", "clusters", "sources", "documents"])
def test_a_notebook_runs_and_shows_what_it_made(name: str, tmp_path: Path) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in cells[1:])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    assert not [one for cell in cells for one in cell.outputs if one.output_type == "error"]
