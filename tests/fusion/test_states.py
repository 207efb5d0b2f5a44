"""States over time: exact inference, supersession by date, contradiction against reliability."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import partita
from partita.app.fuse import fuse_sources
from partita.cli import app
from partita.errors import InputError, TotalConflict
from partita.fusion.claims import Claims, join_claims
from partita.fusion.fuse import FusionSettings, answers_by_object, extend, fuse_slots
from partita.fusion.kinds import Reading
from partita.fusion.sources import read_states
from partita.fusion.states import ESCAPE
from partita.options import FuseOptions
from partita.rules.domain_files import read_domain
from partita.templates.slots import StateGroup, StringsType, fit

GROUPS = (
    StateGroup("condition", ("DAMAGED", "DESTROYED", "OPERATIONAL"), frozenset({"DESTROYED"})),
    StateGroup("occupancy", ("DESERTED", "OCCUPIED")),
)
CONDITION = GROUPS[:1]


def dated(rows):
    """Return claims of rows (source, object, value, day), where day 0 is unknown."""
    claims = Claims.of([(source, thing, "status", value) for source, thing, value, _ in rows])
    return replace(claims, stated=np.array([day for *_, day in rows], dtype=np.int64))


def settings_of(groups=CONDITION, **options):
    return FusionSettings(reading=Reading(states={"status": groups}), **options)


def fused(rows, groups=CONDITION, **options):
    return fuse_slots(dated(rows), settings_of(groups, **options))


def by_value(answer):
    return {one.value.upper(): one.probability for one in answer.values}


ROW = st.tuples(
    st.sampled_from(["ann", "bob", "cy"]), st.sampled_from(["x", "y"]),
    st.sampled_from(CONDITION[0].values), st.sampled_from([0, 100, 130, 400]),
)  # fmt: skip
ROWS = st.lists(ROW, min_size=1, max_size=7, unique=True)


def brute_force(rows, thing, parameters):
    """Return P(current state), P(changed) and P(a report is wrong) over all paths and days."""
    values, prior = CONDITION[0].values, parameters.prior
    rate = parameters.change_rate
    mine = sorted({row for row in rows if row[1] == thing})
    days = sorted({day for *_, day in mine if day}) or [0]
    undated = [n for n, row in enumerate(mine) if not row[3]]
    current, changed, wrong, total = np.zeros(len(values)), 0.0, 0.0, 0.0
    for path in product(range(len(values)), repeat=len(days)):
        p = prior[path[0]]
        for t in range(1, len(days)):
            leave = rate * (ESCAPE if values[path[t - 1]] == "DESTROYED" else 1.0)
            stay = np.exp(-leave * (days[t] - days[t - 1]))
            p *= stay if path[t] == path[t - 1] else (1 - stay) / (len(values) - 1)
        for choice in product(range(len(days)), repeat=len(undated)):
            at = dict(zip(undated, choice, strict=True))
            share, all_right = p / len(days) ** len(undated), True
            for n, (source, _, value, day) in enumerate(mine):
                state = path[at[n] if n in at else days.index(day)]
                right = parameters.rates[source][0, 0]
                hit = values[state] == value
                all_right &= hit
                share *= right if hit else (1 - right) / (len(values) - 1)
            current[path[-1]] += share
            changed += share * (len(set(path)) > 1)
            wrong += share * (not all_right)
            total += share
    return dict(zip(values, current / total, strict=True)), changed / total, wrong / total


@settings(deadline=None, max_examples=30)
@given(ROWS)
@example([("ann", "x", "DESTROYED", 0), ("bob", "x", "DAMAGED", 0), ("bob", "x", "OPERATIONAL", 0),
          ("bob", "y", "DAMAGED", 0)])  # fmt: skip
def test_inference_is_that_over_all_paths_and_days(rows):
    result = fused(rows)
    [belief] = result.slots
    for (thing, _), answer in answers_by_object(result).items():
        current, changed, wrong = brute_force(rows, thing, belief.parameters)
        assert by_value(answer) == pytest.approx(current, abs=1e-9)
        assert answer.changed == pytest.approx(changed, abs=1e-9)
        assert answer.contradicted == pytest.approx(wrong, abs=1e-9)


@settings(deadline=None, max_examples=20)
@given(ROWS, st.randoms(use_true_random=False))
def test_laws_of_states(rows, chance):
    before = fused(rows)
    believed = answers_by_object(before)
    for answer in believed.values():
        assert sum(by_value(answer).values()) + answer.unknown == pytest.approx(1.0)
    again = answers_by_object(fused(chance.sample(rows, len(rows))))
    assert {k: by_value(a) for k, a in again.items()} == {
        k: pytest.approx(by_value(a)) for k, a in believed.items()
    }
    twice = answers_by_object(fused([*rows, *rows[:3]]))
    assert {k: by_value(a) for k, a in twice.items()} == {
        k: pytest.approx(by_value(a)) for k, a in believed.items()
    }
    deaf = [*rows, ("zero", "x", "DAMAGED", 100), ("zero", "y", "DESTROYED", 0)]
    ignored = answers_by_object(fused(deaf, reliabilities={"zero": 0.0}))
    assert {k: by_value(a) for k, a in ignored.items()} == {
        k: by_value(a) for k, a in believed.items()
    }
    sure = [*rows, ("sure", "x", "DAMAGED", 500)]
    certain = answers_by_object(fused(sure, reliabilities={"sure": 1.0}))["x", "status"]
    assert by_value(certain)["DAMAGED"] == pytest.approx(1.0)
    more = dated([("eve", "x", "DAMAGED", 420), ("ann", "y", "DESTROYED", 0)])
    fixed = settings_of(fixed=before.parameters)
    whole = answers_by_object(fuse_slots(join_claims(dated(rows), more), fixed))
    assert {k: by_value(a) for k, a in extend(before, more).items()} == {
        k: pytest.approx(by_value(a)) for k, a in whole.items()
    }


def quiet(things=12, sources=("ann", "bob", "cy")):
    """Objects about which all sources agree on two days."""
    return [(s, f"q{n}", "OPERATIONAL", day) for n in range(things) for s in sources
            for day in (100, 300)]  # fmt: skip


def test_a_later_report_supersedes_and_one_of_the_same_day_contradicts():
    rows = [*quiet(), ("ann", "x", "OPERATIONAL", 100), ("bob", "x", "DESTROYED", 300),
            ("cy", "x", "DESTROYED", 310), ("ann", "y", "OPERATIONAL", 100),
            ("bob", "y", "DESTROYED", 100)]  # fmt: skip
    found = answers_by_object(fused(rows))
    x, y = found["x", "status"], found["y", "status"]
    assert by_value(x)["DESTROYED"] > 0.9
    assert x.changed > 0.9 > 0.2 > x.contradicted
    assert y.changed == 0.0
    assert y.contradicted == pytest.approx(1.0)
    assert by_value(y)["OPERATIONAL"] + by_value(y)["DESTROYED"] <= 1.0 + 1e-12


def test_contradiction_counts_against_reliability_and_change_does_not():
    changing = [("dee", f"q{n}", "DAMAGED", 320) for n in range(6)]
    agreed = [(s, f"q{n}", "DAMAGED", 330) for n in range(6) for s in ("ann", "bob")]
    wrong = [("eve", f"q{n}", "DESTROYED", 300) for n in range(6)]
    [belief] = fused([*quiet(), *changing, *agreed, *wrong]).slots
    trust = {one.source: one.reliability for one in belief.trust}
    assert trust["dee"] > 0.8
    assert trust["eve"] < 0.3


def test_a_destroyed_depot_is_rarely_operational_again():
    rows = [
        (s, "x", v, day) for day, v in ((100, "DESTROYED"), (300, "OPERATIONAL")) for s in ("ann",)
    ]
    absorbing = answers_by_object(fused([*quiet(), *rows]))["x", "status"]
    plain = (replace(CONDITION[0], absorbing=frozenset()),)
    free = answers_by_object(fused([*quiet(), *rows], plain))["x", "status"]
    assert absorbing.changed < free.changed
    assert absorbing.contradicted > free.contradicted


def test_the_rate_of_change_is_learned():
    rng = np.random.default_rng(0)
    rates = []
    for p in (0.02, 0.4):
        rows = []
        for n in range(80):
            state = "OPERATIONAL"
            for day in range(100, 600, 100):
                if rng.random() < p:
                    state = "DAMAGED" if state == "OPERATIONAL" else "OPERATIONAL"
                rows += [(s, f"o{n}", state if rng.random() < 0.95 else "DAMAGED", day)
                         for s in ("ann", "bob", "cy")]  # fmt: skip
        [belief] = fused(rows).slots
        rates.append(belief.parameters.change_rate)
    expected = [-np.log1p(-p) / 100 for p in (0.02, 0.4)]
    assert np.array(rates) == pytest.approx(np.array(expected), rel=0.4)


def test_groups_combine_freely():
    rows = [("ann", "x", "destroyed", 100), ("bob", "x", "Deserted", 100)]
    found = answers_by_object(fused(rows, GROUPS))
    assert by_value(found["x", "status condition"])["DESTROYED"] > 0.5
    assert found["x", "status occupancy"].values[0].value == "Deserted"


def test_known_truths_are_current_and_certain_sources_may_not_contradict():
    rows = [("ann", "x", "OPERATIONAL", 100), ("bob", "x", "DESTROYED", 200)]
    known = answers_by_object(fused(rows, truths={("x", "status"): "operational"}))["x", "status"]
    assert by_value(known)["OPERATIONAL"] == pytest.approx(1.0)
    clash = [("ann", "x", "OPERATIONAL", 100), ("bob", "x", "DESTROYED", 100)]
    with pytest.raises(TotalConflict, match=r"ann .says OPERATIONAL of x"):
        fused(clash, reliabilities={"ann": 1.0, "bob": 1.0})


def test_many_undated_claims_share_a_day():
    rows = [(f"s{n}", "x", "OPERATIONAL", 0) for n in range(9)]
    rows += [("ann", "x", "OPERATIONAL", 100), ("bob", "x", "DAMAGED", 200)]
    [belief] = fused(rows).slots
    assert belief.method != "exact"
    assert belief.probability.sum() == pytest.approx(1.0)


def test_states_are_declared_in_a_table_or_by_kind(tmp_path):
    path = tmp_path / "states.csv"
    path.write_text("slot,group,value,absorbing\nstatus,a,damaged,\nstatus,a,destroyed,yes\n")
    assert read_states(path) == {
        "status": (StateGroup("a", ("DAMAGED", "DESTROYED"), frozenset({"DESTROYED"})),)
    }
    path.write_text("slot,group,value\nstatus,a,damaged\nstatus,b,damaged\n")
    with pytest.raises(InputError, match="DAMAGED is in two groups, a and b"):
        read_states(path)
    rows = [("ann", "x", "up", 1), ("bob", "x", "down", 1)]
    answer = answers_by_object(fuse_slots(dated(rows), FusionSettings(kinds={"status": "state"})))
    assert set(by_value(answer["x", "status"])) == {"UP", "DOWN"}
    with pytest.raises(InputError, match="UP is no state"):
        fused(rows)


def test_exclusive_values_of_two_sources_do_not_fit():
    slot = StringsType(groups=GROUPS)
    read = {name: slot.read(name) for name in ("operational", "destroyed", "occupied", "secret")}
    assert fit(slot, read["operational"], read["destroyed"]) is None
    both = fit(slot, read["operational"], read["occupied"])
    assert both is not None
    assert fit(slot, both, read["secret"]) is not None
    assert fit(slot, both, read["destroyed"]) is None
    assert fit(slot, both, both) == both


def test_two_mentions_of_a_message_may_have_different_states_of_which_the_last_holds():
    slot = StringsType(groups=GROUPS)
    before, after = slot.read(["destroyed", "occupied", "secret"]), slot.read("operational")
    assert slot.unify(before, after) is not None
    assert slot.updated(before, after) == slot.read(["operational", "occupied", "secret"])
    text = "The depot at Kinston was destroyed. The depot is operational.\n"
    [depot] = [one for one in partita.run(text, domain="depots").entities if one.type == "DEPOT"]
    [(status, probability)] = [
        (one.value, one.probability) for one in depot.slots["STATUS"] if one.probability > 0.5
    ]
    assert status == ["OPERATIONAL"]
    assert probability > 0.9


def test_a_domain_declares_states_that_compete(tmp_path):
    """Operational in one source and destroyed in another: two values, and both sources suffer."""
    domain = tmp_path / "guarded"
    domain.mkdir()
    (domain / "domain.yaml").write_text(
        "domain: guarded\nextends: depots\nslots:\n  STATUS: {type: state, absorbing: [DESTROYED], "
        "groups: {condition: [OPERATIONAL, DAMAGED, DESTROYED]}}\n"
    )
    free = tmp_path / "free"
    free.mkdir()
    (free / "domain.yaml").write_text(
        "domain: free\nextends: depots\nslots:\n  STATUS: {type: strings}\n"
    )
    for name, status in (("one", "operational"), ("two", "destroyed")):
        rows = f"depot,Kinston,{status}\nairfield,Raleigh,damaged\n"
        (tmp_path / f"{name}.csv").write_text(f"facility,location,status\n{rows}")
    tables = [tmp_path / "one.csv", tmp_path / "two.csv"]
    fused_ = {name: fuse_sources(tables, FuseOptions(domain=name)).fused
              for name in (str(domain), str(free))}  # fmt: skip
    guarded, plain = fused_.values()
    [depot] = [one for one in guarded.entities if "DEPOT" in one.type]
    status = depot.slots["STATUS"]
    values = {one.text: one.probability.value for one in status.values}
    assert set(values) == {"OPERATIONAL", "DESTROYED"}
    assert sum(values.values()) <= 1.0
    assert min(values.values()) > 0.3
    assert status.conflict > 0.3
    for mine, other in zip(guarded.source_trusts(), plain.source_trusts(), strict=True):
        assert mine.reliability < other.reliability
        assert mine.wrong > other.wrong


@pytest.mark.parametrize(
    "text",
    ["{type: state}", "{type: state, groups: {a: [X]}, absorbing: [Y]}",
     "{type: state, groups: {a: [X], b: [X]}}", "{type: state, groups: {a: [X]}, lasts: long}"],
)  # fmt: skip
def test_a_wrong_declaration_of_states_names_its_line(tmp_path, text):
    (tmp_path / "domain.yaml").write_text(f"domain: d\nextends: depots\nslots:\n  STATUS: {text}\n")
    with pytest.raises(InputError, match=r"domain.yaml.*line 4"):
        read_domain(tmp_path)


def test_the_later_of_a_message_and_a_table_has_the_current_state(tmp_path):
    """Both values are shown; which is more probable follows the days of message and row."""
    domain = tmp_path / "guarded"
    domain.mkdir()
    (domain / "domain.yaml").write_text(
        "domain: guarded\nextends: depots\nslots:\n  STATUS: {type: state, absorbing: [DESTROYED], "
        "groups: {condition: [OPERATIONAL, DAMAGED, DESTROYED]}}\n"
    )
    message, results = tmp_path / "message.txt", tmp_path / "message.jsonl"
    message.write_text("Date: 12 May 2024\n\nThe fuel depot at Kinston was destroyed.\n")
    done = CliRunner().invoke(
        app, ["run", str(message), "--domain", str(domain), "--out", str(results)]
    )
    assert done.exit_code == 0
    assert json.loads(results.read_text().splitlines()[-1])["date"] == "2024-05-12"
    found = {}
    for day in ("2024-02-01", "2025-03-01"):
        table = tmp_path / f"table-{day}.csv"
        table.write_text(
            f"facility,location,type,status,seen\ndepot,Kinston,fuel,operational,{day}\n"
        )
        fused = fuse_sources([results, table], FuseOptions(domain=str(domain))).fused
        [status] = [one.slots["STATUS"] for one in fused.entities if "STATUS" in one.slots]
        found[day] = {one.text: one.probability.value for one in status.values}
        assert set(found[day]) == {"OPERATIONAL", "DESTROYED"}
        assert sum(found[day].values()) <= 1.0
        assert status.conflict > 0.3
    early, late = found.values()
    assert early["DESTROYED"] > early["OPERATIONAL"]
    assert late["OPERATIONAL"] > early["OPERATIONAL"]
