"""Several processes that write the same run at once do the work once, and lose nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from oracles.stored import rows
from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace
from partita.store.store import open_store
from partita.text.raw_messages import RawMessage

SETTINGS = Settings("depots", "evidential", budget=usual_budget("evidential"))
TEXTS = [
    RawMessage(f"m{n}", f"A depot was found {n + 2} km from the river. The depot is large.", "test")
    for n in range(12)
]


def ingest(url: str) -> str:
    desk = Workspace(open_store(url))
    try:
        return desk.ingest(TEXTS, SETTINGS, "r", workers=1)
    finally:
        desk.close()


def test_two_writers_of_one_run(url, tmp_path):
    alone = tmp_path / "alone.db"
    ingest(str(alone))
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ingest, [url] * 3)) == ["r"] * 3
    found, expected = ({}, {})
    for place, told in ((url, found), (str(alone), expected)):
        store = open_store(place)
        told |= rows(store)
        store.close()
    assert found == expected
