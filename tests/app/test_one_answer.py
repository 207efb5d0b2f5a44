"""Every output shows the same entities of a text."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import partita
from partita.antecedents.sets import Windows
from partita.app.run import ResolvedMessage, resolve_text
from partita.app.runner import Runner
from partita.app.workspace import open_workspace
from partita.domains import find_domain
from partita.text.raw_messages import RawMessage
from partita.views.message import DocumentView, document_report, label

TEXTS = Path(__file__).parents[2] / "docs/texts"
GUM = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "gum"
NAMES = sorted(path.stem for path in TEXTS.glob("*.txt"))
COPY = re.compile(r"\bm\d+@\d")
Groups = set[frozenset[str]]


def groups(cells: Iterable[Iterable[str]]) -> Groups:
    return {frozenset(cell) for cell in cells}


def by_value(homes: Mapping[str, str]) -> Groups:
    """Return the groups of those that have the same home."""
    return groups([name for name, home in homes.items() if home == one] for one in homes.values())


def of_python(doc: ResolvedMessage) -> Groups:
    columns = doc._columns("mentions")
    return by_value(dict(zip(columns["id"], columns["entity"], strict=True)))


def of_json_lines(doc: ResolvedMessage) -> Groups:
    *sets, alone = map(json.loads, doc.to_jsonl().splitlines())
    listed = [entity["templates"] for line in sets for entity in line["entities"]]
    assert len(listed) == len(groups(listed))
    return groups([*listed, *([one["id"]] for one in alone["singletons"])])


def of_page_and_store(doc: ResolvedMessage, tmp_path: Path) -> Groups:
    """Read, Key and Entities show the entities of the stored message."""
    workspace = open_workspace(tmp_path / f"{doc.message.id}.db")
    raw = RawMessage("m", doc.message.text, "m")
    run = workspace.ingest([raw], doc.settings)
    message = workspace.message(run, "m")
    listed = workspace.entities(run, limit=1000)["entities"]
    workspace.close()
    stored = groups(entity["templates"] for entity in message["entities"])
    assert stored == groups(entity["templates"] for entity in listed)
    held = {one["id"] for line in message["sets"] for one in line["templates"]}
    assert held | {one["id"] for one in message["singletons"]} == {t.id for t in doc.mentions}
    for line, one in zip(message["sets"], doc.distributions, strict=True):
        assert [template["id"] for template in line["templates"]] == list(one.set.ids)
    assert not COPY.search(json.dumps(message))
    return stored


def of_corefud(doc: ResolvedMessage) -> Groups:
    """Mentions of the same span, or in brackets that cross, may be left out: numbers only."""
    sizes = Counter(
        re.findall(r"\((\w+?)-", " ".join(re.findall(r"Entity=(\S+)", doc.to_corefud())))
    )
    wanted = sorted(len(one.templates) for one in doc.entities)
    assert sorted(sizes.values()) == wanted
    return groups(one.templates for one in doc.entities)


OUTPUTS: dict[str, Callable[..., Groups]] = {
    "python": of_python, "json": of_json_lines, "page and store": of_page_and_store,
    "corefud": of_corefud,
}  # fmt: skip


def of_text(doc: ResolvedMessage) -> None:
    """The report names the entities of several mentions, the largest first, with their sizes."""
    text = document_report(doc.resolved, width=200)
    rows = re.findall(r"^(\S.*?) {2,}\S.*? {2,}(\d[\d,]*) +\d\.\d\d$", text, re.MULTILINE)
    several = sorted(
        (e for e in doc.entities if len(e.templates) > 1), key=lambda e: -len(e.templates)
    )
    assert [int(count) for _, count in rows] == [len(e.templates) for e in several[:15]]
    assert all(label(e)[:30].startswith(name[:30].rstrip("…")) for (name, _), e in
               zip(rows, several, strict=False))  # fmt: skip
    assert not COPY.search(text)


def consistent(doc: ResolvedMessage) -> None:
    """A mention that is most probably new is with no earlier one; others have their entity."""
    home = {name: entity for entity in doc.entities for name in entity.templates}
    place = {one.id: n for n, one in enumerate(doc.mentions)}
    for decision in DocumentView.of(doc.resolved).decisions():
        name, (most, share) = decision.template.id, decision.choices[0]
        if min(home[name].templates, key=place.__getitem__) != name:
            assert most is not None
            own = [p for one, p in decision.choices if one is not None and one.id == home[name].id]
            # an entity of a later window is that of most of its earlier mentions
            assert own == [pytest.approx(share)] or len(doc.distributions) > 1


def all_agree(doc: ResolvedMessage, tmp_path: Path) -> None:
    wanted = groups(entity.templates for entity in doc.entities)
    assert sum(map(len, wanted)) == len(doc.mentions)
    for name, output in OUTPUTS.items():
        found = output(doc, tmp_path) if name == "page and store" else output(doc)
        assert found == wanted, name
    of_text(doc)
    consistent(doc)
    assert not COPY.search(doc.to_jsonl() + doc.to_corefud())


@pytest.fixture(scope="module")
def docs() -> dict[str, ResolvedMessage]:
    found: Any = partita.run(TEXTS)
    return {doc.message.id: doc for doc in found}


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name != "page and store"])
def test_an_output_shows_the_entities(docs: dict[str, ResolvedMessage], name: str) -> None:
    for doc in docs.values():
        assert OUTPUTS[name](doc) == groups(entity.templates for entity in doc.entities)


def test_page_and_store_show_the_entities(docs: dict[str, ResolvedMessage], tmp_path: Path) -> None:
    for doc in docs.values():
        wanted = groups(entity.templates for entity in doc.entities)
        assert of_page_and_store(doc, tmp_path) == wanted


def test_the_text_shows_the_entities(docs: dict[str, ResolvedMessage]) -> None:
    for doc in docs.values():
        of_text(doc)


def test_no_mention_is_listed_against_its_most_probable_reading(
    docs: dict[str, ResolvedMessage],
) -> None:
    for doc in docs.values():
        consistent(doc)


def test_spacy_shows_the_entities(docs: dict[str, ResolvedMessage]) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("partita", config={"singletons": True, "use_parse": False})
    doc = docs[NAMES[0]]
    found = nlp(doc.message.text).spans.values()
    assert groups(one.attrs["mentions"] for one in found) == groups(
        entity.templates for entity in doc.entities
    )


def test_windows_do_not_show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(type(find_domain("general")), "windows", Windows(12, 4, 8))
    text = (TEXTS / "biography.txt").read_text(encoding="utf-8")
    doc = resolve_text(RawMessage("m", text, "m"), Runner().load())
    assert len(doc.distributions) > 2
    wanted = groups(entity.templates for entity in doc.entities)
    for name in ("python", "json", "corefud"):
        assert OUTPUTS[name](doc) == wanted, name
    of_text(doc)
    assert {value.templates and value.templates[0][0] for e in doc.entities
            for values in e.slots.values() for value in values} <= {(), "m"}  # fmt: skip
    assert all(entity.anchor in entity.templates for entity in doc.entities)
    assert not COPY.search(json.dumps(doc.to_dict()))
    assert of_page_and_store(doc, tmp_path) == wanted


@pytest.mark.corpus
def test_documents_of_gum(tmp_path: Path) -> None:
    from partita.corpora.documents import read_corefud

    if not GUM.is_dir():
        pytest.skip(f"needs {GUM}")
    for n, document in enumerate(read_corefud(GUM / "dev")):
        doc: Any = partita.run(document.text)
        folder = tmp_path / str(n)
        folder.mkdir()
        all_agree(doc, folder)
    assert n == 29
