"""Messages and domains that were written before what they measure: their keys hold together."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oracles.laws import compatible
from partita.antecedents.sets import coreference_sets
from partita.app.fuse import fuse_sources
from partita.cli import app
from partita.corpora.documents import read_keyed_messages
from partita.domains import find_domain
from partita.options import FuseOptions

HERE = Path(__file__).parent
CORPORA = {"depots": HERE / "unseen"} | {
    str(folder): folder / "corpus" for folder in sorted((HERE / "small").glob("*/"))
}


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", CORPORA, ids=lambda name: Path(name).name)
def test_keys_agree_with_the_slots(name):
    schema = find_domain(name).schema
    documents = list(read_keyed_messages(CORPORA[name]))
    assert len(documents) >= 6
    sets = 0
    for document in documents:
        by_id = {template.id: template for template in document.templates}
        sets += len(coreference_sets(document.templates, schema))
        for cell in document.key:
            for s, t in combinations([by_id[one] for one in cell], 2):
                assert compatible(s, t, schema), (document.name, s.text, t.text)
    assert sets >= len(documents)


def test_statuses_are_of_mentions_of_the_messages():
    templates = {
        (document.name, template.text)
        for document in read_keyed_messages(HERE / "unseen")
        for template in document.templates
    }
    for line in _lines(HERE / "unseen" / "statuses.jsonl"):
        assert (line["message"], line["mention"]) in templates


def test_contradictions_have_two_different_states():
    lines = _lines(HERE / "unseen" / "contradictions.jsonl")
    assert len({line["id"] for line in lines}) == 20
    assert all(line["top"] != line["also"] and line["why"] for line in lines)


def test_contradictions_of_a_message_and_a_table_show_both_states_and_the_right_one_first(tmp_path):
    right = 0
    message, table, results = (tmp_path / name for name in ("m.txt", "t.csv", "m.jsonl"))
    for line in _lines(HERE / "unseen" / "contradictions.jsonl"):
        message.write_text(line["message"], encoding="utf-8")
        table.write_text(line["table"], encoding="utf-8")
        results.unlink(missing_ok=True)
        options = ["--domain", "depots", "--out", str(results)]
        assert CliRunner().invoke(app, ["run", str(message), *options]).exit_code == 0
        fused = fuse_sources([results, table], FuseOptions(domain="depots")).fused
        [status] = [one.slots["STATUS"] for one in fused.entities if "STATUS" in one.slots]
        values = [one.text for one in status.values]
        assert sum(one.probability.value for one in status.values) <= 1.0 + 1e-9
        right += values[0] == line["top"] and line["also"] in values
    assert right >= 18


def test_names_are_words_of_their_texts():
    lines = _lines(HERE.parent / "text" / "names" / "sentences.jsonl")
    assert len(lines) == 50
    assert all(name["text"] in line["text"] for line in lines for name in line["names"])
