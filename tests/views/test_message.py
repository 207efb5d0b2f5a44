"""The report of a message: everything is there, fits, and cannot steer the terminal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.depots import SCHEMA, A, B, C, D
from oracles.entities import random_templates
from partita.configurations.solve_batch import solve_many
from partita.core import Message, Template
from partita.pipeline import Resolved, Stages, resolve
from partita.views.layout import columns
from partita.views.message import message_line, message_report

TEXTS = {"A": "Kinston Rail\n  Depot", "B": "a rail depot", "C": "the dump", "D": "the depot"}
DEPOTS = [replace(one, text=TEXTS[one.id]) for one in (A, B, C, D)]
BRIDGE = Template("X", "the bridge", start=400, slots={"FACILITY": "BRIDGE"})


class Coins:
    """Every pair is a toss of a coin."""

    def pair_probabilities(self, columns, left, right):
        return np.full(len(left), 0.5)


def resolved(templates: list[Template], name: str = "kinston") -> Resolved:
    stages = Stages(lambda message: templates, SCHEMA, Coins(), solve_many)
    return resolve(Message(name, "", (), file="a.txt"), stages)


def test_the_paper():
    shown = message_report(resolved([*DEPOTS, BRIDGE])).splitlines()
    assert shown[:2] == ["kinston (a.txt)", "5 templates, 1 set, 3 entities"]
    assert "    A  Kinston Rail Depot" in shown
    assert "E3  the bridge" in shown
    assert "Set kinston.1: 4 templates, 7 configurations, evidential" in shown
    assert "  (A B D) (C)      0.1429  ██▎" in shown
    assert "    0.2857  C = D  the dump = the depot" in shown
    assert not any("unknown" in row for row in shown)


def test_an_uncertain_slot_tells_its_alternatives():
    alike = [replace(D, slots={"NUMBER": 1}, text="one"), replace(B, slots={"TYPE": "RAIL"})]
    shown = message_report(resolved(alike))
    assert "    NUMBER  1 0.5000, unknown 0.5000\n    TYPE    RAIL\n" in shown


def test_many_uncertain_pairs_are_not_all_told():
    rows = message_report(
        resolved([replace(D, id=f"D{n}", start=n) for n in range(6)])
    ).splitlines()
    assert "    and 9 more pairs" in rows


def test_one_line():
    found = resolved([*DEPOTS, BRIDGE])
    told = message_line(found)
    assert told.startswith("kinston: 5 templates, 1 set, 3 entities; least sure (")
    assert message_line(resolved([BRIDGE])) == "kinston: 1 template, 0 sets, 1 entity"
    assert len(message_line(found, 40)) == 40


@pytest.mark.parametrize("width", [60, 80])
def test_nothing_is_wider_than_asked(width):
    rng = np.random.default_rng(1)
    long = "輸送 " * 40 + "a very long expression " * 9
    templates = [
        replace(t, id=f"{t.id} with a long name", text=long, form="definite")
        for t in random_templates(7, rng)
    ]
    found = resolved(templates, "a message whose id goes on and on " * 5)
    for row in [*message_report(found, width).splitlines(), message_line(found, width)]:
        assert columns(row) <= width


def test_nothing_steers_the_terminal():
    hostile = "\x1b[31mred\r\n\u202eevil\x07"
    found = resolved([replace(one, text=hostile, id=one.id + "\x1b") for one in DEPOTS], hostile)
    shown = message_report(found) + message_line(found)
    assert all(c.isprintable() or c == "\n" for c in shown)


def test_colours_only_where_wanted():
    found = resolved(DEPOTS)
    assert "\x1b[" in message_report(found, colour=True)
    assert "\x1b[" not in message_report(found)
