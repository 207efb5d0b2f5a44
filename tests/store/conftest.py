"""Stores to test with: a file, and a schema of its own on the PostgreSQL server of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from partita.store.store import Store, open_store

SERVER = "PARTITA_TEST_POSTGRES"
_numbers = count(1)


def schema_on_the_server() -> Iterator[str]:
    """The URL of a new schema, which is gone afterwards."""
    import psycopg

    url = os.environ.get(SERVER)
    if not url:
        pytest.skip(f"needs a PostgreSQL server: {SERVER} names none")
    name = f"partita_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"{url}?options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def postgres() -> Iterator[str]:
    yield from schema_on_the_server()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a store that is not there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    found: str = request.getfixturevalue("postgres")
    return found


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    found = open_store(url)
    yield found
    found.close()
