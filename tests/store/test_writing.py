"""A message goes into a store whole, or not at all, and comes back as it was."""

from __future__ import annotations

import copy
import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from oracles.stored import begin, entity, exactly, line, message, rows, template
from partita.errors import StoreTrouble, Unknown
from partita.store import runs
from partita.store.reading import read_message, read_set
from partita.store.runs import title, write_message
from partita.store.store import open_store
from partita.store.tables import messages

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
SHARES = st.floats(0, 1, allow_subnormal=False)
SPREADS = st.one_of(
    st.just({"interval": None}),
    st.builds(lambda low, high: {"interval": [low, high]}, SHARES, SHARES),
)


def again(store, name="m"):
    with store.reading() as connection:
        return read_message(connection, "r", name)


def test_what_was_written_comes_back_in_the_same_order(store):
    begin(store)
    given_ = message(sets=2)
    assert write_message(store, "r", 0, given_)
    found = again(store)
    for name, value in given_.items():
        assert json.dumps(found[name]) == json.dumps(value), name
    with store.reading() as connection:
        assert json.dumps(read_set(connection, "r", "m.2")) == json.dumps(given_["sets"][1])


@st.composite
def any_message(draw):
    """Whatever a line of results may say."""
    told = line("m", 1)
    told["pairs"][0] |= draw(SPREADS) | {"probability": draw(SHARES), "marginal": draw(SHARES)}
    for one in told["configurations"]:
        one |= draw(SPREADS)
    told["remainder"] |= draw(SPREADS) | {"count": draw(st.sampled_from([None, "9" * 500]))}
    extra = {
        "excluded": draw(SHARES),
        "entropy_bits_interval": [draw(SHARES), None],
        "converged": draw(st.booleans()),
        "error": draw(SHARES),
        "gap": None,
        "must": [["A1", "B1"]],
    }
    told |= {name: extra[name] for name in draw(st.sets(st.sampled_from(sorted(extra))))}
    told["entropy_bits"] = draw(st.none() | SHARES)
    said = draw(st.sampled_from([None, 7, "words", ["A", "B"], draw(WORDS)]))
    spread = draw(SPREADS | st.builds(lambda e: {"error": e}, SHARES))
    status = draw(st.sampled_from(["asserted", "possible", "reported"]))
    value = {"value": said, **exactly(draw(SHARES)), **spread, "templates": ["A1"]}
    value["status"] = status
    described = {"name": draw(WORDS), "descriptions": [draw(WORDS)], **spread}
    slots = {draw(WORDS): [value], "OTHER": [value, value]}
    denied = [{"slots": {"LOCATION": draw(WORDS)}, "templates": ["B1"], "cue": draw(WORDS)}]
    described["denied"] = draw(st.sampled_from([[], denied]))
    told["entities"] = [entity("E1", ["A1", "B1"]) | described | {"slots": slots}]
    number = draw(st.sampled_from([None, 3, "plural"]))
    alone = template("S", 99, number=number, text=draw(WORDS), context={"ROLE": draw(WORDS)})
    inside = {"sets": [told], "entities": told["entities"], "singletons": [alone]}
    return message(text=draw(WORDS), fields={draw(WORDS): draw(WORDS)}) | inside


@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(any_message())
def test_whatever_a_message_says_comes_back(store, given_):
    with store.writing() as connection:
        connection.execute(messages.delete())
        connection.exec_driver_sql("DELETE FROM runs")
    begin(store)
    assert write_message(store, "r", 0, given_)
    found = again(store)
    for name in ("text", "fields"):
        assert found[name] == given_[name]
    for name in ("sets", "singletons", "entities"):
        assert found[name] == given_[name]


@pytest.mark.parametrize("table", ["templates", "configurations", "slot_values"])
def test_an_error_in_the_middle_leaves_nothing(store, monkeypatch, table):
    begin(store)
    write_message(store, "r", 0, message("first"))
    before = rows(store)
    insert = runs._insert

    def broken(connection, name, *more):
        insert(connection, name, *more)
        if name == table:
            raise RuntimeError

    monkeypatch.setattr(runs, "_insert", broken)
    with pytest.raises(RuntimeError):
        write_message(store, "r", 1, message("second"))
    assert rows(store) == before


def test_the_second_writer_of_a_message_leaves_it_as_it_is(store):
    begin(store)
    assert write_message(store, "r", 0, message())
    before = rows(store)
    assert not write_message(store, "r", 7, message(text="another"))
    assert rows(store) == before


def test_a_message_that_failed_gives_way(store):
    begin(store)
    failed = message(sets=0, error="m.txt: it failed") | {"singletons": [], "entities": []}
    write_message(store, "r", 0, failed)
    assert again(store)["error"] == "m.txt: it failed"
    assert write_message(store, "r", 0, message())
    assert again(store)["error"] == ""
    assert not write_message(store, "r", 0, failed)


def test_many_writers_at_once_lose_nothing(store):
    begin(store)
    names = [f"m{n}" for n in range(12)]

    def write(worker: int) -> int:
        return sum(write_message(store, "r", n, message(name)) for n, name in enumerate(names))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(write, range(4))) == len(names)
    found = rows(store)
    assert [row["message"] for row in found["messages"]] == sorted(names)
    assert len(found["slot_values"]) == 6 * len(names)


def test_a_reader_sees_whole_messages_while_another_writes(store):
    begin(store)
    writing_, stop = threading.Event(), threading.Event()

    def write() -> None:
        for n in range(40):
            write_message(store, "r", n, message(f"m{n}"))
            writing_.set()
        stop.set()

    thread = threading.Thread(target=write)
    thread.start()
    writing_.wait(30)
    while not stop.is_set():
        found = rows(store)
        assert len(found["sets"]) == len(found["messages"])
        assert len(found["entities"]) == 2 * len(found["messages"])
    thread.join()


def test_a_locked_store_is_told_and_nothing_is_lost(tmp_path):
    path = tmp_path / "store.db"
    store = open_store(path, wait=0.1)
    begin(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreTrouble, match="is locked by another process; stop it or wait"):
        write_message(store, "r", 0, message())
    other.execute("ROLLBACK")
    other.close()
    assert write_message(store, "r", 0, message())
    store.close()


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path):
    store = open_store(tmp_path / "store.db")
    begin(store)
    write_message(store, "r", 0, message("small"))
    before = rows(store)

    @event.listens_for(store.engine, "begin")
    def small(connection):
        used = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {used + 5}")

    with pytest.raises(StoreTrouble, match="the disk is full; free some space"):
        write_message(store, "r", 1, message("large", text="x" * 1_000_000))
    assert rows(store) == before
    store.close()


def test_a_file_that_somebody_removes_is_told(tmp_path):
    path = tmp_path / "store.db"
    store = open_store(path)
    begin(store)
    path.rename(tmp_path / "moved.db")
    with pytest.raises(StoreTrouble, match="the file is no longer there"):
        write_message(store, "r", 0, message())
    store.close()


@pytest.mark.postgres
def test_a_database_that_goes_away_is_told_and_found_again(postgres):
    import psycopg

    store = open_store(postgres)
    begin(store)
    write_message(store, "r", 0, message("first"))

    def interrupted() -> None:
        with store.writing() as connection:
            number = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            with psycopg.connect(postgres, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [number])
            connection.exec_driver_sql("SELECT 1")

    with pytest.raises(
        StoreTrouble, match=r"the connection to the database was lost .*what was finished is stored"
    ):
        interrupted()
    assert write_message(store, "r", 1, message("second"))
    assert [row["message"] for row in rows(store)["messages"]] == ["first", "second"]
    store.close()


def test_names_that_nobody_gave(store):
    begin(store)
    with store.reading() as connection:
        with pytest.raises(Unknown, match="run r has no message x"):
            read_message(connection, "r", "x")
        with pytest.raises(Unknown, match="run r has no set x"):
            read_set(connection, "r", "x")


def test_titles():
    assert title("Subj: A depot\n\nText", {"subject": "A depot"}) == "A depot"
    assert title("\n\n  First   line\nSecond", {}) == "First line"
    assert title("x" * 500, {}) == "x" * 119 + "…"
    assert title("", {}) == ""


def test_the_given_object_is_not_changed(store):
    begin(store)
    given_ = message()
    before = copy.deepcopy(given_)
    write_message(store, "r", 0, given_)
    assert given_ == before


def test_keys_wait_for_the_disk_and_messages_do_not(tmp_path):
    """SQLite: synchronous is NORMAL (1) while a message is written, else FULL (2)."""
    store = open_store(str(tmp_path / "store.db"))
    seen: list[int] = []

    @event.listens_for(store.engine, "commit")
    def look(connection):
        seen.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    begin(store)
    assert write_message(store, "r", 0, message("m"))
    assert seen == [2, 1]
    store.close()
