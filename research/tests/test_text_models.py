"""Models for raw text: the joint model sees gold mentions, and those that are found out of fold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.errors import InputError
from research.__main__ import app
from research.analyser import AnalyserSettings, MentionSettings, ParserSettings
from research.raw import RawDesign, study_raw, text_templates, train_text_models
from research.tagger import TaggerSettings

SMALL = AnalyserSettings(
    TaggerSettings(bits=14, runs=1),
    TaggerSettings(bits=14, runs=1),
    ParserSettings(bits=14, label_bits=14, least=1),
    ParserSettings(bits=14, label_bits=14, least=1, runs=1),
    MentionSettings(bits=14, least_times=1),
)
NAMES = ("Ana", "Bob", "Cleo", "Dan", "Eve", "Fred")


def corpus(path: Path, documents: int) -> Path:
    """Write documents such as "Ana sees the dog . She likes the dog ." with their entities."""
    rng, lines = np.random.default_rng(4), []
    for number in range(documents):
        lines += [f"# newdoc id = d{number}", "# global.Entity = GRP-etype"]
        name = str(rng.choice(NAMES))
        for subject, tag, verb in ((name, "PROPN\tNNP", "sees"), ("She", "PRON\tPRP", "likes")):
            lines += [
                f"1\t{subject}\t{subject}\t{tag}\tNumber=Sing\t2\tnsubj\t_\tEntity=(1-person)",
                f"2\t{verb}\t{verb[:-1]}\tVERB\tVBZ\t_\t0\troot\t_\t_",
                "3\tthe\tthe\tDET\tDT\tPronType=Art\t4\tdet\t_\tEntity=(2-animal",
                "4\tdog\tdog\tNOUN\tNN\tNumber=Sing\t2\tobj\t_\tEntity=2)",
                "5\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_",
                "",
            ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_both_kinds_of_documents_are_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[object] = []
    monkeypatch.setattr(
        "research.raw.train_joint", lambda documents, **_: learned.extend(documents)
    )
    file = corpus(tmp_path / "toy.conllu", 12)
    models = train_text_models([file], settings=SMALL, folds=3)
    assert len(learned) == 24
    rules = [{template.rule for template in one.templates} for one in learned]
    assert rules == [{"corefud"}] * 12 + [{"general"}] * 12
    assert all(str(one.key) == "(m1 m3) (m2 m4)" for one in learned)
    found = text_templates(models.analyser, "x", "Eve sees the dog. She likes the dog.")
    assert [template.text for template in found] == ["Eve", "the dog", "She", "the dog"]


def test_shipped_models_are_measured_on_raw_text(tmp_path: Path) -> None:
    file = corpus(tmp_path / "toy.conllu", 2)
    command = ["raw", "--test", str(file), "--json"]
    answer = CliRunner().invoke(app, command)
    told = json.loads(answer.stdout)
    assert (told["model"], told["documents"], told["mentions"]) == ("shipped", 2, 8)
    assert told["mention_head_f1"] == told["mention_span_f1"] == 1
    assert told["rows"][0]["intervals"]["conll"]["high"] <= 1
    upper = study_raw(RawDesign((), (file,), case="upper"))
    assert upper.rows[0].mentions == 8
    assert "mentions, head match F1" in upper.markdown()


def test_a_corpus_without_mentions_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plain.conllu"
    file.write_text("1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="no mentions in the corpora"):
        train_text_models([file])
    with pytest.raises(InputError, match="no documents with mentions to test on"):
        study_raw(RawDesign((), (file,)))
    assert CliRunner().invoke(app, ["raw"]).exit_code == 2
