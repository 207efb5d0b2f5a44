"""A store is made, found again and brought up to date; what is no store is refused in one line."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from earlier import tables_of_version_0001
from partita.errors import InputError, StoreTrouble
from partita.store import store as store_module
from partita.store import tables as tables_module
from partita.store.store import default_store, open_store
from partita.store.tables import metadata
from patience import PATIENCE


def refusal(url: object, **more) -> str:
    with pytest.raises((StoreTrouble, InputError)) as caught:
        open_store(str(url), **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_new_store_is_its_owners_alone(tmp_path):
    path = tmp_path / "new.db"
    with open_store(str(path)).reading():
        files = [path, *tmp_path.glob("new.db-*")]  # and what SQLite writes beside it
        assert {one.stat().st_mode & 0o777 for one in files} == {0o600}


def test_a_new_store_has_the_tables_that_the_code_knows(store):
    with store.reading() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": store_module.TABLE, "compare_type": True}
        )
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == store_module.VERSION


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(url):
    store = open_store(url)
    with store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {store_module.TABLE} SET version_num = '0999'")
    store.close()
    assert "has version 0999 (expected" in refusal(url)
    assert "use a newer version of Partita" in refusal(url)


def test_sqlite_is_set_for_many_processes(tmp_path):
    store = open_store(tmp_path / "store.db")
    with store.reading() as connection:
        asked = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous")
        }
    store.close()
    assert asked == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "busy_timeout": 30_000,
        "synchronous": 2,
    }


def test_what_is_no_store_is_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("This is no database, it is a file of notes.\n" * 20)
    assert refusal(text) == f"store {text}: is not a database; expected a file that Partita created"
    assert text.read_text().startswith("This is no database")
    assert refusal(tmp_path).endswith("is a folder; expected a file")
    missing = tmp_path / "none" / "store.db"
    assert refusal(missing).endswith(f"there is no folder {missing.parent}")
    assert (
        refusal("mysql://me@there/it")
        == "mysql:// is not a supported store; expected a file or postgresql://"
    )


def test_a_database_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "places.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (id)")
    other.close()
    assert "holds a table bookmarks that Partita did not create" in refusal(path)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    other.close()


def test_who_only_reads_makes_no_file(tmp_path):
    path = tmp_path / "store.db"
    assert "does not exist" in refusal(path, create=False)
    assert not path.exists()


def test_a_server_that_does_not_answer_and_a_password_that_is_not_told():
    said = refusal("postgresql://me:secret@127.0.0.1:9/it")
    where = "store postgresql://me:***@127.0.0.1:9/it"
    assert said == f"{where}: no server answers at this address; is it running?"


@pytest.mark.postgres
def test_a_database_that_the_server_does_not_have(postgres):
    said = refusal(postgres.split("?")[0].rsplit("/", 1)[0] + "/no_such_database")
    assert '"no_such_database" does not exist' in said


@pytest.mark.postgres
def test_other_tables_on_the_server_may_stay(postgres):
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE customers (id integer)")
    open_store(postgres).close()
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT count(*) FROM customers").fetchone() == (0,)
        connection.execute("DROP TABLE partita_version")
    assert "that Partita did not create" in refusal(postgres)


def test_the_default(monkeypatch):
    monkeypatch.delenv("PARTITA_STORE", raising=False)
    assert default_store() == "partita.db"
    monkeypatch.setenv("PARTITA_STORE", "elsewhere.db")
    assert default_store() == "elsewhere.db"


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; sys.argv = ['partita', 'runs'];"
        "from partita.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "partita: a store needs sqlalchemy; install partita[store]\n"


def test_processes_that_make_the_same_store_at_once(url):
    code = "import sys; from partita.store.store import open_store; open_store(sys.argv[1]).close()"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, url], stderr=subprocess.PIPE, env={**os.environ}
        )
        for _ in range(4)
    ]
    said = [process.communicate(timeout=PATIENCE)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    open_store(url, create=False).close()


def test_a_store_of_version_0_1_is_migrated_and_loses_nothing(url, monkeypatch):
    """Made of the tables of that version, with a row in every one."""
    from sqlalchemy import MetaData, select

    with monkeypatch.context() as patch:
        patch.setattr(store_module, "VERSION", "0001")
        patch.setattr(tables_module, "metadata", tables_of_version_0001.metadata)
        old = open_store(url)
    rows = {}
    with old.writing() as connection:
        tables = MetaData()
        tables.reflect(connection)
        for table in tables.sorted_tables:
            if table.name != store_module.TABLE:
                rows[table.name] = _row(table)
                connection.execute(table.insert().values(**rows[table.name]))
    old.close()
    store = open_store(url)
    with store.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": store_module.TABLE})
        assert compare_metadata(context, metadata) == []
        for name, row in rows.items():
            (found,) = connection.execute(select(metadata.tables[name])).mappings()
            stored = {column: found[column] for column in row}
            assert stored == {key: _plain(value) for key, value in row.items()}, name
    store.close()


def test_what_earlier_versions_kept_of_training_goes(url):
    """Version 0003 had a table of jobs."""
    from sqlalchemy import inspect, text

    store = open_store(url)
    with store.writing() as connection:
        connection.execute(text("CREATE TABLE jobs (job TEXT)"))
        connection.execute(text(f"UPDATE {store_module.TABLE} SET version_num = '0003'"))
    store.close()
    store = open_store(url)
    with store.reading() as connection:
        assert "jobs" not in inspect(connection).get_table_names()
        context = MigrationContext.configure(connection, opts={"version_table": store_module.TABLE})
        assert context.get_current_revision() == store_module.VERSION
    store.close()


def _row(table):
    """A value in every column, the same for columns that refer to each other."""
    kinds = {"INTEGER": 1, "BIGINT": 1, "DOUBLE": 0.5, "DOUBLE PRECISION": 0.5, "BOOLEAN": True}
    values = {}
    for column in table.columns:
        kind = str(column.type)
        values[column.name] = [] if kind == "JSON" else kinds.get(kind, "x")
    return values | ({"parent": None} if "parent" in values else {})


def _plain(value):
    return value
