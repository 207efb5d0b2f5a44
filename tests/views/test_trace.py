"""The trace as text, and the list of problems."""

from __future__ import annotations

from pathlib import Path

from partita.rules.domain import At, RuleProblem
from partita.rules.extractor import PhaseTrace, Tracer
from partita.views.rules import lint_text, trace_text
from rules.toy import RULES, cascade, run

NASTY = "A/DT rail/NN depot/NN in/IN Kinston/NNP <script>alert(1)</script>\x1b[31m&/NN | It/PRP"


def seen(folder: Path, text: str, **files: str) -> list[PhaseTrace]:
    made = cascade(folder, **files)
    tracer = Tracer(made.domain.schema)
    run(made, text, tracer)
    return tracer.seen


def test_what_each_phase_saw_and_which_rule_won(tmp_path: Path) -> None:
    told = trace_text("m1", seen(tmp_path, "A/DT rail/NN depot/NN was/VBD built/VBN | It/PRP"))
    assert (
        told
        == """\
Message m1

groups: 2 matches of 4 rules, tried at the cursor
  A/DT rail/NN depot/NN was/VBD built/VBN
    * noun group: 'A rail depot' → ng
        says={TYPE=RAIL, FACILITY=DEPOT}, head=depot, lemma=depot, sort=[DEPOT],
          det=a, mods=[rail], count=1
    * passive: 'was built' → vg
        voice=passive, form=finite, lemma=build
        beat past (1) with 2
  It/PRP

toy: 2 matches of 9 rules, tried everywhere
  [A rail depot]ng [was built]vg
    * facility: 'A rail depot' about 'A rail depot'
        TYPE=[RAIL], FACILITY=DEPOT
    * construction (passive): 'A rail depot was built' about 'A rail depot'
        STATUS=[UNDER CONSTRUCTION]
  It/PRP

"""
    )


def test_rules_that_were_beaten_and_values_that_were_not_taken(tmp_path: Path) -> None:
    groups = """
rules:
  - {rule: short, pattern: "[tag=NN]", build: {kind: x}, priority: 9}
  - {rule: long, pattern: "a:[tag=NN]+", build: {kind: ng, sort: $a.sort}}
"""
    rules = RULES.replace("says: $what.all.says", "slots: {NUMBER: several, FACILITY: $what.sort}")
    told = trace_text("m", seen(tmp_path, "rail/NN depot/NN", groups=groups, rules=rules))
    assert "beat short (1) with 2" in told
    assert "left out NUMBER: 'several' is not a number" in told


def test_no_line_is_too_wide_and_nothing_steers_the_terminal(tmp_path: Path) -> None:
    told = trace_text("m\x1b[0m", seen(tmp_path, f"{NASTY} {'long/JJ ' * 60}depot/NN"))
    assert max(map(len, told.split("\n"))) <= 80
    assert "\x1b" not in told


def test_problems_in_lines() -> None:
    problems = [
        RuleProblem(At("rules/a.yaml", 3, 7), "unknown sort X\n"),
        RuleProblem(At("b.yaml"), "odd", error=False),
    ]
    assert lint_text("toy", problems) == (
        "rules/a.yaml:3:7: error: unknown sort X·\nb.yaml: warning: odd\ntoy: 1 error, 1 warning\n"
    )
