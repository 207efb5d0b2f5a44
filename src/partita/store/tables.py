"""The tables of a store; docs/store.md describes the columns.

Rows are identified by names from the work itself, never by generated numbers, so that two stores of
the same work can be compared row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)

metadata = MetaData()
BARE: dict[str, Any] = {"sqlite_with_rowid": False}  # the key is most of the row


def _text(name: str, null: bool = False, **more: Any) -> Column[str]:
    return Column(name, Text, nullable=null, **more)


def _whole(name: str, null: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=null)


def _number(name: str, null: bool = False) -> Column[float]:
    return Column(name, Double, nullable=null)


def _json(name: str, null: bool = False) -> Column[Any]:
    return Column(name, JSON(none_as_null=True), nullable=null)


def _spread() -> Sequence[Column[Any]]:
    """Return the columns of an interval."""
    return _number("low", null=True), _number("high", null=True)


def _key(*names: str) -> PrimaryKeyConstraint:
    return PrimaryKeyConstraint(*names)


def _of(table: str, *names: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(names, [f"{table}.{name}" for name in names], ondelete="CASCADE")


models = Table(
    "models",
    metadata,
    _text("id", primary_key=True),
    _text("kind"),
    _text("learned_from"),
    _text("text"),
    _json("keys_used"),
    _json("report", null=True),
    _text("made"),
)

runs = Table(
    "runs",
    metadata,
    _text("run", primary_key=True),
    _text("domain"),
    _text("model"),
    _json("settings"),
    _json("asked"),
    _json("inputs"),
    _json("versions"),
    _text("started"),
    _text("finished", null=True),
    _text("outcome"),
    Column("parent", Text, ForeignKey("runs.run"), nullable=True),
    Column("model_id", Text, ForeignKey("models.id"), nullable=True),
)

messages = Table(
    "messages",
    metadata,
    Column("run", Text, ForeignKey("runs.run", ondelete="CASCADE"), nullable=False),
    _text("message"),
    _whole("position"),
    _text("title"),
    _text("place"),
    _text("text_hash"),
    _json("fields"),
    _text("error"),
    _whole("templates"),
    _whole("sets"),
    _whole("entities"),
    _number("entropy_bits"),
    _text("text"),
    _key("run", "message"),
    Index("messages_in_order", "run", "position"),
)

sets = Table(
    "sets",
    metadata,
    _text("run"),
    _text("set_name"),
    _text("message"),
    _whole("position"),
    _text("model"),
    _text("method"),
    _text("reason"),
    Column("seed", BigInteger, nullable=False),
    _text("count", null=True),
    _number("log2_count", null=True),
    _text("remainder_count", null=True),
    _number("remainder_log2_count", null=True),
    _number("remainder_probability"),
    _number("entropy_bits", null=True),
    _number("log_normaliser", null=True),
    _number("conflict", null=True),
    _json("incompatible"),
    _json("more"),
    _key("run", "set_name"),
    _of("messages", "run", "message"),
    Index("sets_of_messages", "run", "message"),
)

templates = Table(
    "templates",
    metadata,
    _text("run"),
    _text("message"),
    _text("template"),
    _whole("position"),
    _text("set_name", null=True),
    _text("text"),
    _whole("start_at"),
    _whole("end_at"),
    _text("region"),
    _whole("sentence"),
    _text("sort"),
    _text("head"),
    _json("number", null=True),
    _text("form"),
    _json("slots"),
    _text("rule"),
    _json("context"),
    _key("run", "message", "template"),
    _of("messages", "run", "message"),
    _of("sets", "run", "set_name"),
    Index("templates_of_sets", "run", "set_name"),
)

antecedents = Table(
    "antecedents",
    metadata,
    _text("run"),
    _text("message"),
    _text("template"),
    _whole("rank"),
    _text("antecedent"),
    Column("preferred", Boolean, nullable=False),
    _key("run", "message", "template", "rank"),
    _of("templates", "run", "message", "template"),
    **BARE,
)

pairs = Table(
    "pairs",
    metadata,
    _text("run"),
    _text("set_name"),
    _text("left_template"),
    _text("right_template"),
    _number("probability"),
    _number("marginal"),
    *_spread(),
    _key("run", "set_name", "left_template", "right_template"),
    _of("sets", "run", "set_name"),
    **BARE,
)

configurations = Table(
    "configurations",
    metadata,
    _text("run"),
    _text("set_name"),
    _whole("rank"),
    _json("cells"),
    _number("probability"),
    *_spread(),
    _key("run", "set_name", "rank"),
    _of("sets", "run", "set_name"),
    **BARE,
)

entities = Table(
    "entities",
    metadata,
    _text("run"),
    _text("message"),
    _text("entity"),
    _whole("position"),
    _text("set_name", null=True),
    _text("sort"),
    _text("name"),
    _text("anchor"),
    _json("templates"),
    _json("descriptions"),
    _number("probability"),
    *_spread(),
    _number("error", null=True),
    _json("denied", null=True),
    _key("run", "message", "entity"),
    _of("messages", "run", "message"),
    _of("sets", "run", "set_name"),
    Index("entities_of_sets", "run", "set_name"),
    Index("entities_by_sort", "run", "sort"),
)

slot_values = Table(
    "slot_values",
    metadata,
    _text("run"),
    _text("message"),
    _text("entity"),
    _whole("position"),
    _text("slot"),
    _text("value", null=True),
    _json("value_json", null=True),
    _number("probability"),
    *_spread(),
    _number("error", null=True),
    _json("templates"),
    _text("status", null=True),
    _key("run", "message", "entity", "position"),
    _of("entities", "run", "message", "entity"),
    **BARE,
)

keys = Table(
    "keys",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    _text("run"),
    _text("set_name"),
    _text("message"),
    _json("templates"),
    _json("cells"),
    _json("alternatives"),
    _text("author"),
    _text("time"),
    _whole("based_on", null=True),
    _text("withdrawn", null=True),
    ForeignKeyConstraint(["run", "set_name"], ["sets.run", "sets.set_name"]),
    Index("keys_of_sets", "run", "set_name"),
)
