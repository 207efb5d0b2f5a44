"""Questions in SQL to a knowledge base: read only, without files, network or extensions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.collection.files import check_base
from partita.collection.knowledge import SCHEMA
from partita.core.tabular import optional
from partita.errors import InputError

SECONDS = 30.0  # of one question
MEMORY = "2GB"
INTERVAL = (0.05, 0.5, 0.95)
IN_WORLD = """
create or replace temp view records as
  select r.* exclude (entity), w.entity from answer_records r
  join (select record, entity from worlds where world = {world}) w using (record);
create or replace temp view mentions as
  select m.* exclude (entity), r.entity from answer_mentions m join records r using (record);
create or replace temp view entities as
  select entity, arg_max(name, length(name)) as name, mode(type) as type,
    count(*) as records, count(distinct document) as documents, sum(mentions) as mentions
  from records group by entity;
create or replace temp view names as
  select entity, name, count(*) as records from records group by entity, name;
create or replace temp view relations as
  select s.entity as source, t.entity as target, x.* exclude (source, target)
  from answer_relations x join records s on s.record = x.source_record
  join records t on t.record = x.target_record;
create or replace temp view "values" as
  select r.entity, v.* exclude (entity) from "answer_values" v
  join (select distinct entity, any_value(record) over (partition by entity) as record
        from answer_records) a using (entity)
  join records r on r.record = a.record;
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of an answer; with worlds, low and high are ends of 90 % intervals of figures."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    worlds: int = 0
    low: tuple[tuple[Any, ...], ...] = ()
    high: tuple[tuple[Any, ...], ...] = ()


def ask(folder: Path, sql: str, worlds: bool = False, seconds: float = SECONDS) -> Answer:
    """Answer a question; with `worlds`, in each world that the knowledge base has."""
    connection = _opened(folder)
    late = threading.Event()

    def stop() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        return _in_worlds(connection, sql) if worlds else _answer(connection, sql)
    except InputError:
        raise
    except Exception as error:
        if late.is_set():
            raise InputError(f"the question took more than {seconds:g} seconds") from None
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"the question cannot be answered: {problem}") from None
    finally:
        timer.cancel()
        connection.close()


def _opened(folder: Path) -> Any:
    """Return a connection that has the tables in memory and can do nothing else."""
    check_base(folder)
    duckdb, arrow = optional("duckdb", "a question"), optional("pyarrow", "a question")
    from pyarrow.parquet import read_table

    connection = duckdb.connect(":memory:", config={"memory_limit": MEMORY, "threads": 1})
    for name in SCHEMA:
        try:
            table = read_table(folder / f"{name}.parquet", memory_map=False)
        except (OSError, arrow.ArrowException) as error:
            connection.close()
            raise InputError(f"cannot be read ({str(error).splitlines()[0]})",
                             file=str(folder / f"{name}.parquet")) from None  # fmt: skip
        connection.register("given", table)
        kept = f"answer_{name}" if name in ("records", "mentions", "relations", "values") else name
        if name in ("entities", "names"):
            kept = f"answer_{name}"
        connection.execute(f'create table "{kept}" as select * from given')
        connection.unregister("given")
        if kept != name:
            connection.execute(f'create temp view "{name}" as select * from "{kept}"')
    for setting in ("enable_external_access = false", "autoinstall_known_extensions = false",
                    "autoload_known_extensions = false", "lock_configuration = true"):  # fmt: skip
        connection.execute(f"set {setting}")
    return connection


def _answer(connection: Any, sql: str) -> Answer:
    found = connection.sql(_one_question(connection, sql))
    if found is None:
        raise InputError("expected one question: a SELECT")
    return Answer(tuple(found.columns), found.fetchall())


def _one_question(connection: Any, sql: str) -> str:
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        raise InputError("expected one question: a SELECT")
    return str(statements[0].query)


def _in_worlds(connection: Any, sql: str) -> Answer:
    """Answer in every world: rows are matched by their texts, figures get an interval."""
    sql = _one_question(connection, sql)
    count = connection.execute("select count(distinct world) from worlds").fetchone()[0]
    given: list[dict[tuple[Any, ...], tuple[Any, ...]]] = []
    columns: tuple[str, ...] = ()
    numeric: list[bool] = []
    for world in range(count):
        connection.execute(IN_WORLD.format(world=world))
        answer = _answer(connection, sql)
        columns = answer.columns
        numeric = _numeric(answer.rows, len(columns), numeric)
        given.append({_texts(row, numeric): row for row in answer.rows})
    keys = list(dict.fromkeys(key for rows in given for key in rows))
    ends: list[list[tuple[Any, ...]]] = [[], [], []]
    for key in keys:
        rows = [one[key] for one in given if key in one]
        missing = count - len(rows)
        for n, quantile in enumerate(INTERVAL):
            ends[n].append(_quantiles(rows, numeric, missing, quantile))
    return Answer(columns, ends[1], count, tuple(ends[0]), tuple(ends[2]))


def _numeric(rows: Sequence[tuple[Any, ...]], width: int, known: list[bool]) -> list[bool]:
    from decimal import Decimal

    def is_figure(value: Any) -> bool:
        return isinstance(value, int | float | Decimal) and not isinstance(value, bool)

    found = known or [True] * width
    return [found[n] and all(is_figure(row[n]) or row[n] is None for row in rows)
            for n in range(width)]  # fmt: skip


def _texts(row: tuple[Any, ...], numeric: Sequence[bool]) -> tuple[Any, ...]:
    return tuple(str(value) for value, figure in zip(row, numeric, strict=True) if not figure)


def _quantiles(
    rows: Sequence[tuple[Any, ...]], numeric: Sequence[bool], missing: int, quantile: float
) -> tuple[Any, ...]:
    """Return a quantile of each figure; in a world without the row it is 0."""
    found: list[Any] = []
    for n, figure in enumerate(numeric):
        values = [row[n] for row in rows if row[n] is not None]
        if not figure or not values:
            found.append(rows[0][n])
            continue
        whole = all(isinstance(value, int) for value in values)
        value = float(np.quantile([*map(float, values), *[0.0] * missing], quantile,
                                  method="inverted_cdf"))  # fmt: skip
        found.append(int(value) if whole else value)
    return tuple(found)
