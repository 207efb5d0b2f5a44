"""The formats of run: what goes in besides text, and what comes out besides JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.corpora.documents import corpus_path
from partita.text.conllu import placed_documents

runner = CliRunner()
TEXT = "A depot was found in Kinston. The depot is new."
FILES = [str(corpus_path() / f"dev-00{n}.txt") for n in (1, 2)]


def ran(*arguments: str, code: int = 0) -> str:
    result = runner.invoke(app, ["run", "--domain", "depots", *arguments])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_corefud_of_several_messages(tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    assert ran(*FILES, "--to", "corefud", "--out", str(out)) == ""
    text = out.read_text(encoding="utf-8")
    documents = list(placed_documents(enumerate(text.split("\n"), 1), "out", "out"))
    assert [one.name for one in documents] == ["dev-001", "dev-002"]
    for one, file in zip(documents, FILES, strict=True):
        assert one.text == Path(file).read_text(encoding="utf-8")
        assert sum(len(sentence.mentions) for sentence in one.sentences) > 5
    assert ran(*FILES, "--to", "corefud") == text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--to", "corefud", "--json"], "--to corefud goes to --out or standard output"),
        (["--to", "corefud", "--store", "x.db"], "--to corefud goes to --out or standard output"),
        (["--to", "corefud", "--out", "FILE"], "holds something else than CoNLL-U"),
        (["--mentions", "none.jsonl"], "none.jsonl: cannot be read"),
        (["--mentions", "FILE"], "has 1 column separated by tabs"),
    ],
)
def test_bad_use_is_one_line(arguments: list[str], problem: str, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("my notes\n", encoding="utf-8")
    arguments = [str(file) if one == "FILE" else one for one in arguments]
    answer = ran(FILES[0], *arguments, code=1)
    assert problem in answer
    assert len(answer.splitlines()) <= 2  # one may say where the parameters come from
    assert file.read_text(encoding="utf-8") == "my notes\n"


def test_domains_of_rules_take_no_mentions(tmp_path: Path) -> None:
    file, mentions = tmp_path / "a.txt", tmp_path / "m.jsonl"
    file.write_text(TEXT, encoding="utf-8")
    mentions.write_text('{"start": 0, "end": 7}', encoding="utf-8")
    answer = ran(str(file), "--mentions", str(mentions), code=1)
    assert "domain depots finds its mentions by rules (expected --domain general for" in answer


ARTICLE = (
    "Maria Lopez leads Acme Corp. in Paris. She founded the company in 2009. "
    "Acme sold its mill last year."
)


def ran_general(*arguments: str) -> dict[str, Any]:
    result = runner.invoke(app, ["run", "--json", *arguments])
    assert result.exit_code == 0, result.output
    first, _ = map(json.loads, result.stdout.splitlines())
    return dict(first)


def test_conllu_is_read_as_conllu_by_the_general_domain(tmp_path: Path) -> None:
    text, annotated = tmp_path / "article.txt", tmp_path / "article.conllu"
    text.write_text(ARTICLE, encoding="utf-8")
    arguments = ["run", str(text), "--to", "corefud", "--out", str(annotated)]
    assert runner.invoke(app, arguments).exit_code == 0
    plain, again = ran_general(str(text)), ran_general(str(annotated))
    spans = [
        [(t["start"], t["end"], t["text"]) for t in one["templates"]] for one in (plain, again)
    ]
    assert spans[0] == spans[1]
    assert "# text" not in json.dumps(again)
    assert all(ARTICLE[start:end] == said for start, end, said in spans[1])


def test_mentions_of_a_file_are_the_mentions_of_the_text(tmp_path: Path) -> None:
    text, mentions = tmp_path / "article.txt", tmp_path / "mentions.jsonl"
    text.write_text(ARTICLE, encoding="utf-8")
    spans = [(0, 11), (ARTICLE.index("She"), ARTICLE.index("She") + 3)]
    lines = [json.dumps({"start": start, "end": end}) for start, end in spans]
    mentions.write_text("\n".join(lines), encoding="utf-8")
    result = ran_general(str(text), "--mentions", str(mentions))
    assert [(t["start"], t["end"]) for t in result["templates"]] == spans
    [entity] = result["entities"]
    assert entity["name"] == "Maria Lopez"
    assert len(entity["templates"]) == 2


def test_a_mention_outside_of_the_text_is_named(tmp_path: Path) -> None:
    text, mentions = tmp_path / "article.txt", tmp_path / "mentions.jsonl"
    text.write_text(ARTICLE, encoding="utf-8")
    mentions.write_text('{"start": 0, "end": 11}\n{"start": 5, "end": 9000}\n', encoding="utf-8")
    result = runner.invoke(app, ["run", str(text), "--mentions", str(mentions)])
    assert result.exit_code == 1
    assert "mentions.jsonl, line 2" in result.stderr
    assert "Traceback" not in result.stderr
