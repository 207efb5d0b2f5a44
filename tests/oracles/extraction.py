"""A stand-in for extraction: depots found by one regular expression, and pairs by tossing coins."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from oracles.depots import SCHEMA
from partita.configurations.solve_batch import solve_many
from partita.core import Message, Template
from partita.errors import InputError
from partita.pipeline import Stages

DEPOT = re.compile(
    r"(?P<det>the|an?)\s+(?:(?P<type>rail|ammunition)\s+)?(?P<sort>depot|bridge)"
    r"(?:\s+in\s+(?P<place>[A-Z]\w+))?",
    re.IGNORECASE,
)


class Coins:
    """Every pair is a toss of a coin."""

    def pair_probabilities(self, columns, left, right):
        return np.full(len(left), 0.5)


def templates(message: Message) -> list[Template]:
    """Depots and bridges; a message that says FAIL is refused, one that says BUG breaks it."""
    if "FAIL" in message.text:
        raise InputError("cannot be understood")
    if "BUG" in message.text:
        raise ZeroDivisionError("division by zero")
    return [_template(n, found) for n, found in enumerate(DEPOT.finditer(message.text), 1)]


def _template(n: int, found: re.Match[str]) -> Template:
    slots = {"FACILITY": found["sort"], "TYPE": found["type"], "LOCATION": found["place"]}
    return Template(
        f"T{n}",
        found[0],
        found.start(),
        found.end(),
        head=found["sort"].lower(),
        form="definite" if found["det"].lower() == "the" else "indefinite",
        slots={name: value for name, value in slots.items() if value},
    )


def stages(model: str = "evidential", top: int | None = None) -> Stages:
    return Stages(templates, SCHEMA, Coins(), partial(solve_many, model=model, top=top))
