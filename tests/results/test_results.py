"""Results: the schema holds, nothing is lost on the way to a file and back."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.answers import TABLE_1, brute
from partita.core import Antecedent, Figure, Marginals, Remainder, Template
from partita.errors import InputError
from partita.results.result_lines import result_line, schema, singletons_line
from partita.results.saved_results import Alone, Result, read_results

GIVEN = {**TABLE_1, ("A", "C"): 0.0, ("B", "C"): 0.0}


def valid(line: str) -> dict:
    written = json.loads(line)
    jsonschema.Draft202012Validator(schema()).validate(written)
    return written


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema())


def test_table_1():
    written = valid(result_line(brute(list("ABCD"), GIVEN), "m", (0, 0.0)))
    assert [c["cells"] for c in written["configurations"][:2]] == [
        [["A", "B", "D"], ["C"]],
        [["A"], ["B", "D"], ["C"]],
    ]
    assert written["incompatible"] == [["A", "C"], ["B", "C"]]
    assert [p["probability"] for p in written["pairs"]] == [0.671, 0.0, 0.505, 0.0, 0.752, 0.504]
    assert written["pairs"][-1]["marginal"] == pytest.approx(0.1873, abs=1e-4)
    assert written["remainder"] == {
        "count": "0",
        "log2_count": None,
        "probability": 0.0,
        "interval": None,
    }
    assert written["unlisted"] == {"count": 0, "probability": 0.0}
    assert (written["set"], written["message"], written["count"]) == ("1", "m", "7")


def test_cells_are_in_text_order_whatever_the_names():
    names = {"A": "z", "B": "y10", "C": "y9", "D": "a"}
    given = {(names[a], names[b]): p for (a, b), p in TABLE_1.items()}
    written = valid(result_line(brute(["z", "y10", "y9", "a"], given)))
    assert written["configurations"][0]["cells"] == [["z", "y10", "a"], ["y9"]]
    assert written["configurations"][1]["cells"] == [["z"], ["y10", "a"], ["y9"]]


def test_intervals_and_infinities():
    exact = brute(list("ABC"), {("A", "B"): 0.5, ("B", "C"): 0.25})
    value = exact.marginals.value
    bounded = replace(
        exact,
        method="certified",
        marginals=Marginals(value, value * 0.9, np.minimum(value * 1.1, 1), "interval"),
        configurations=replace(exact.configurations, intervals=[(0.0, 1.0)] * 3),
        remainder=Remainder(None, 12.5, 0.25, (0.125, 0.5)),
        figures=replace(exact.figures, entropy_bits=Figure(1.0, 0.5, math.inf, "interval")),
        count=None,
        converged=None,
        gap=math.inf,
        pruned=0.25,
    )
    written = valid(result_line(bounded))
    assert written["pairs"][0]["interval"] == [value[0, 1] * 0.9, min(value[0, 1] * 1.1, 1)]
    assert written["entropy_bits_interval"] == [0.5, None]
    assert (written["optimal"], written["gap"], written["excluded"]) == (False, None, 0.25)
    assert written["remainder"]["count"] is None
    sampled = replace(
        bounded,
        method="sampled",
        converged=False,
        marginals=Marginals(value, value - 0.01, value + 0.02, "estimate"),
    )
    told = valid(result_line(sampled))
    assert told["converged"] is False
    assert told["error"] == pytest.approx(0.02)


def test_counts_of_any_length(tmp_path):
    count = 7**9000 + 3  # more digits than Python writes by itself
    exact = brute(list("AB"), {("A", "B"): 0.5})
    huge = replace(exact, count=count, remainder=Remainder(count, 25266.0, 0.0))
    path = tmp_path / "r.jsonl"
    path.write_text(result_line(huge))
    written = valid(path.read_text())
    assert (len(written["count"]), written["count"][-1]) == (7606, str(count % 10))
    [found] = read_results(path)
    assert found.remainder.count == count


def test_the_same_input_gives_the_same_bytes():
    lines = {result_line(brute(list("ABCD"), GIVEN), "m") for _ in range(3)}
    assert len(lines) == 1


names = st.text(min_size=1, max_size=3).map(str.strip).filter(lambda s: s and s.isprintable())
texts = st.lists(names, min_size=2, max_size=5, unique=True)


@settings(deadline=None, max_examples=40)
@given(texts, st.data())
def test_what_is_written_is_read(tmp_path_factory, ids, data):
    given = {
        (ids[a], ids[b]): data.draw(st.floats(0.01, 0.99) | st.just(0.0))
        for a in range(len(ids))
        for b in range(a + 1, len(ids))
    }
    distribution = brute(ids, given, top=3)
    path = tmp_path_factory.mktemp("results") / "results.jsonl"
    line = result_line(distribution, "m")
    valid(line)
    path.write_text(line + "\n" + singletons_line([Template("x")], "m") + "\n", encoding="utf-8")
    found, alone = read_results(path)
    assert isinstance(found, Result)
    assert found.set == distribution.set
    assert np.array_equal(found.probabilities, distribution.probabilities)
    assert np.allclose(found.marginals.value, distribution.marginals.value, atol=1e-15)
    assert found.configurations == tuple(distribution.configurations)
    assert found.remainder == distribution.remainder
    assert found.entropy_bits == distribution.entropy_bits
    assert alone == Alone("m", (Template("x"),))


def test_incidents_stand_beside_what_is_alone(tmp_path):
    fill = {"slot": "PHYS TGT: TYPE", "value": "FINANCIAL", "of": "BANK", "probability": 0.61}
    incidents = [{"probability": 0.72, "fills": [fill]}]
    line = singletons_line([], "m", additions={"incidents": incidents})
    assert valid(line)["incidents"] == incidents
    path = tmp_path / "r.jsonl"
    path.write_text(line)
    assert list(read_results(path)) == [Alone("m", ())]


def test_templates_keep_what_they_say(tmp_path):
    full = Template(
        "A", "the depot", 3, 12, "subject", 2, "depot", "depot", 1, "definite",
        {"type": "rail"}, "r1", (Antecedent("B", True),),
    )  # fmt: skip
    line = singletons_line([full])
    assert valid(line)["singletons"][0]["antecedents"] == [{"id": "B", "preferred": True}]
    path = tmp_path / "r.jsonl"
    path.write_text(line)
    assert list(read_results(path)) == [Alone("", (full,))]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "version is 2; this release reads version 1"),
        ({"method": "guessed"}, "method is 'guessed'; expected exact, certified, sampled"),
        ({"pairs": [{"left": "A", "right": "Z", "probability": 0.5, "marginal": 0.5}]},
         "a pair names Z, which is not one of the templates"),
        ({"incompatible": [["A"]]}, "a pair of incompatible has 1 templates; expected 2"),
        ({"incompatible": [["A", "Z"]]}, "set '1' has no template Z"),
        ({"incompatible": [["A", c] for c in "ZYX"]}, "set '1' has no template X"),
        ({"odd": 1}, "the line has a field 'odd'"),
        ({"pairs": [{"left": "A", "right": "B", "probability": 0.5, "marginal": 0.5,
                     "interval": [0.4]}]}, "interval has 1 numbers; expected 2"),
        ({"remainder": {"count": "1", "log2_count": 0, "probability": 10**400}},
         "probability is not a finite number"),
        ({"remainder": {"count": "many", "log2_count": 1, "probability": 0}},
         "count is 'many'; expected digits"),
    ],
)  # fmt: skip
def test_bad_results_name_file_and_line(tmp_path, change, said):
    path = tmp_path / "r.jsonl"
    written = json.loads(result_line(brute(list("ABCD"), GIVEN))) | change
    path.write_text("\n" + json.dumps(written) + "\n")
    with pytest.raises(InputError) as caught:
        list(read_results(path))
    assert str(caught.value).startswith(f"{path}, line 2: {said}")
