"""Windows of a long text are streamed: the same lines and report, and little is kept of each."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from partita.antecedents.sets import Windows
from partita.app.batch import Outcome, OutputForms
from partita.app.runner import Runner, StreamedLines, WindowPairs, resolve_each, result_lines
from partita.domains import find_domain
from partita.text.raw_messages import RawMessage
from partita.views.message import message_report

TEXT = """Maria Lind runs the bakery in Halvik. She bought it from her uncle, Tomas Lind. The bakery
sells “rye bread”, and its owner is proud of it. Tomas lives in Arden now.

The mayor of Arden, Jon Berg, praised the bread. He said that the town needs more shops. Berg met
Maria on Monday, and she showed him the ovens. They were old, but they still worked.
"""
WHOLE = OutputForms(json=True, view="report")


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setattr(type(find_domain("general")), "windows", Windows(12, 4, 8))
    return Runner()


def outcome(runner: Runner, forms: OutputForms = WHOLE, text: str = TEXT) -> Outcome:
    (made,) = resolve_each(runner, forms, [RawMessage("m", text, "m.txt")])
    assert not made.error
    return made


def test_lines_and_report_are_those_of_whole_distributions(runner: Runner) -> None:
    made = outcome(runner)
    assert isinstance(made.lines, StreamedLines)
    assert len(made.lines) == len(list(made.lines)) == made.sizes[1] + 1 > 3
    (stored,) = resolve_each(
        runner, OutputForms(json=True, stored=True), [RawMessage("m", TEXT, "m.txt")]
    )
    assert isinstance(stored.lines, tuple)
    assert list(made.lines) == list(stored.lines)  # and again, from the start
    assert next(iter(made.lines)) in made.lines
    from partita.text.messages import parse_message

    resolved = runner.resolve(parse_message(RawMessage("m", TEXT, "m.txt")))
    assert made.shown == message_report(resolved)
    run = {"text": "", **runner.provenance}
    assert list(result_lines(resolved, run))[:-1] == list(made.lines)[:-1]


def test_another_process_gets_a_tuple(runner: Runner) -> None:
    made = outcome(runner)
    assert pickle.loads(pickle.dumps(made)).lines == tuple(made.lines)  # noqa: S301


def test_the_pair_probabilities_of_a_window_are_read_again(runner: Runner) -> None:
    from partita.text.messages import parse_message

    message = parse_message(RawMessage("m", TEXT, "m.txt"))
    lines = StreamedLines("m", WHOLE)
    kept = runner.resolve(message, keep=lines.keep).distributions
    whole = runner.resolve(message).distributions
    assert len(kept) == len(whole) > 2
    for one, other in zip(kept, whole, strict=True):
        assert isinstance(one, WindowPairs)
        assert one.set.ids == other.set.ids
        np.testing.assert_array_equal(one.marginals.value, other.marginals.value)


def test_a_text_of_one_window_is_not_streamed(runner: Runner) -> None:
    assert isinstance(outcome(runner, text="Maria smiled. She left.").lines, tuple)


def test_a_line_that_fails_leaves_nothing_of_its_message(tmp_path: Path) -> None:
    from partita.files import resume

    path = tmp_path / "out.jsonl"
    with resume.growing(path, {}) as file:
        file.add("a", ['{"version":1}'])

        def lines():  # type: ignore[no-untyped-def]
            yield "x" * (resume.BLOCK + 1)  # enough to be written
            raise ValueError("no more")

        with pytest.raises(ValueError, match="no more"):
            file.add("b", lines())
        file.add("c", ['{"version":1}'])
        assert list(file.done) == ["a", "c"]
    assert path.read_text(encoding="utf-8") == '{"version":1}\n' * 2
