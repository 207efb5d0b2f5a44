"""Why two templates of a run were (not) thought to be the same."""

from __future__ import annotations

from partita.errors import Unknown
from partita.formats.saved import Result, result_of
from partita.store import reading, runs
from partita.store.shapes import PLACE
from partita.store.store import Store
from partita.workspace.explaining import Explanation, explained
from partita.workspace.ingesting import pair_parameters_file


def explain(store: Store, run: str, name: str, left: str, right: str) -> Explanation:
    """With the parameters that the run was made with."""
    with store.reading() as connection:
        row = runs.read_run(connection, run)
        line = reading.read_set(connection, run, name)
    ids = [template["id"] for template in line["templates"]]
    for one in (left, right):
        if one not in ids:
            raise Unknown(
                f"set {name} has no template {one}; expected one of {', '.join(ids[:20])}"
            )
    found = result_of(line, PLACE)
    assert isinstance(found, Result)
    pairs = pair_parameters_file(store, run)
    return explained(found, left, right, pairs, row["asked"]["domain"], f"run {run}")
