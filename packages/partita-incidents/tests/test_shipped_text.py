"""No text, name or list of the MUC-4 exam is in any file of the package.

Its licence is not stated, and its texts name victims. What is allowed is said here: phrases with
fewer than three content words, which any English text may have; public names of organisations,
states and cities; and names of places that are in the table made from GeoNames.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import partita
import partita_incidents
from partita.rules.domain_files import read_domain
from partita.text.gazetteer import parse_places, shipped_gazetteer
from partita.text.words import shipped_words
from partita_incidents.domain import domain as incidents
from partita_incidents.exam_files import holds_templates, read_exam
from partita_incidents.models import BITS, encode_feature

PACKAGES = (Path(partita.__file__).parent, Path(partita_incidents.__file__).parent)
DATA = Path(__file__).parents[4] / "shared" / "data"
EXAM, ENGLISH = DATA / "muc4", DATA / "ewt" / "train.conllu"
SETS = ("dev", "tst1", "tst2", "tst3")
SIZE = 5  # words of a phrase
CONTENT = 3  # content words that make it a phrase of the exam

# Public names of organisations, states and cities: some have five words, others stand in lists
# whose order some text has too.
PUBLIC = tuple(
    tuple(name.split())
    for name in (
        "farabundo marti national liberation front",
        "guatemalan national revolutionary unity",
        "manuel rodriguez patriotic front",
        "maximiliano hernandez martinez",
        "movement of the revolutionary left",
        "nationalist republican alliance",
        "people s republic of china",
        "people s revolutionary army",
        "revolutionary armed forces of colombia",
        "san miguel",
        "san salvador",
        "santa ana",
        "santa cruz de la sierra",
        "simon bolivar guerrilla coordinating board",
        "tupac amaru revolutionary movement",
        "zarate willka armed forces of liberation",
    )
)
_FUNCTION = """
a about after all also am an and any are as at be because been before being between both but by
can could did do does down during each either for from had has have he her here him his how i if
in into is it its itself km many may me might more most much must my near no nor not now of off on
once one only or other our out over own s same shall she should since so some such t than that the
their them then there these they this those through to too two three four five six seven eight
nine ten under until up upon us was we were what when where which while who whom whose why will
with within without would you your
"""
FUNCTION = frozenset(_FUNCTION.split())
# Names in other files that are known from elsewhere: a base, a canal, an island, a general.
KNOWN = frozenset(
    {("palmerola",), ("panama", "canal"), ("grenada",), ("zelaya",), ("bracamonte",)}
    | {("normandy",), ("patagonia",), ("metropolis",), ("amazon",), ("alberto",)}
)
# The open tables, each as its script made it from open data (see NOTICE).
TABLES = {
    "places.json": "b2c1ad1dd036706742d007a2c3440d8f4793bd6ef7be98a524463d86bff208a8",
    "names.json": "b853f3bc65c47ad97b9754296d7d8018333057b44aa66e880a38650ef1d0c722",
}
Words = tuple[str, ...]


def words(text: str) -> list[str]:
    """Lower-case words without accents; whatever else stands between them is nothing."""
    if not text.isascii():
        letters = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in letters if not unicodedata.combining(c))
    return re.findall(r"[a-z]+", text.lower())


def grams(text: Sequence[str], size: int = SIZE) -> Iterator[Words]:
    return zip(*(islice(text, n, None) for n in range(size)), strict=False)


@cache
def files(root: Path) -> Mapping[str, list[str]]:
    """All files of a folder, with their words; in place of every public name there is a break."""
    return {
        str(path.relative_to(root)): without_public_names(words(_text(path)))
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _text(path: Path) -> str:
    if path.suffix != ".npz":
        text = path.read_bytes().decode("utf-8", "replace")
        text = re.sub(r'"[A-Za-z0-9+/]{60,}={0,2}"', '""', text)  # weights in base64 are no words
        return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
    return _archive(path.read_bytes())


def _archive(content: bytes) -> str:
    arrays = np.load(BytesIO(content), allow_pickle=False)
    return " ".join(_strings(arrays[name]) for name in arrays.files)


def _strings(array: np.ndarray) -> str:
    """The characters of an array of strings or bytes, or of an archive inside; weights are none."""
    if array.dtype.kind in "US":
        return " ".join(map(str, array.ravel().tolist()))
    content = array.tobytes() if array.dtype.itemsize == 1 else b""
    if content.startswith(b"PK"):
        return _archive(content)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def occurring(names: Iterable[Words], text: Sequence[str]) -> set[Words]:
    """The names that stand in a text, word by word."""
    by_first: dict[str, list[Words]] = {}
    for name in names:
        by_first.setdefault(name[0], []).append(name)
    return {
        name
        for n, word in enumerate(text)
        for name in by_first.get(word, ())
        if tuple(text[n : n + len(name)]) == name
    }


def without_public_names(text: Sequence[str]) -> list[str]:
    first = {name[0] for name in PUBLIC}
    kept, n = [], 0
    while n < len(text):
        here = (name for name in PUBLIC if tuple(text[n : n + len(name)]) == name)
        name = next(here, ()) if text[n] in first else ()
        kept.append("|" if name else text[n])
        n += max(len(name), 1)
    return kept


@cache
def messages() -> frozenset[Words]:
    """All phrases of the exam's messages and of the strings in its keys."""
    found: set[Words] = set()
    for path in _files_of(SETS):
        if not holds_templates(path):
            found.update(grams(words(path.read_text("latin-1"))))
    for fills in _keys().values():
        for fill in fills:
            found.update(grams(fill))
    return frozenset(found)


def _files_of(folders: Iterable[str]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in (EXAM / folder).iterdir() if path.is_file())


@cache
def _keys() -> Mapping[int, frozenset[Words]]:
    """The strings in the keys, by slot."""
    found: dict[int, set[Words]] = {slot: set() for slot in (6, 9, 10, 12, 18, 19)}
    for path in _files_of(SETS):
        if holds_templates(path):
            for incident in read_exam(path).incidents:
                for slot, strings in found.items():
                    strings.update(
                        tuple(words(value)) for fill in incident.of(slot) for value in fill.values
                    )
    return {slot: frozenset(strings - {()}) for slot, strings in found.items()}


@cache
def english(names: bool = False) -> frozenset[str]:
    """Words of another corpus, with or without those that are only names there."""
    rows = (line.split("\t") for line in ENGLISH.read_text("utf-8").splitlines() if "\t" in line)
    return frozenset(row[1].lower() for row in rows if names or row[3] not in ("PROPN", "X"))


@cache
def people() -> frozenset[Words]:
    """Names of two words or more: those of victims, and of perpetrators if it is a name."""
    described = {name for name in _keys()[9] if any(word in english() for word in name)}
    named = (_keys()[18] | _keys()[9]) - described
    return frozenset(name for name in named if len(name) > 1 and name[-1] != "battalion")


@cache
def places() -> frozenset[Words]:
    """The places of Latin America in the exam's lists that the open tables do not have."""
    found: set[Words] = set()
    known = shipped_gazetteer()
    latin = {
        country for entries in known.places.values() for country, kind in entries if kind != "CITY"
    }
    for path in _files_of(("templ-doc-more",)):
        lines = path.read_text("latin-1").splitlines()
        found |= {
            tuple(words(" ".join(name))) for name, (land, _) in parse_places(lines) if land in latin
        }
    listed = {tuple(words(" ".join(name))) for name in known.places}
    listed |= {(word,) for word in shipped_words().words}  # the open table of English words
    return frozenset(name for name in found - listed - KNOWN - {()} if _is_a_name(name))


def _is_a_name(name: Words) -> bool:
    """Something that only a list of names has."""
    return any(len(word) > 3 and word not in english(names=True) for word in name)


def phrases_in(root: Path) -> dict[str, set[str]]:
    """The exam's phrases in the files of a folder."""
    found: dict[str, set[str]] = {}
    for path, text in files(root).items():
        for gram in grams(text):
            if gram in messages() and sum(word not in FUNCTION for word in gram) >= CONTENT:
                found.setdefault(path, set()).add(" ".join(gram))
    return found


def names_in(root: Path, names: Iterable[Words]) -> dict[str, set[str]]:
    """The names that stand in the files of a folder."""
    found = {path: occurring(names, text) for path, text in files(root).items()}
    return {path: {" ".join(name) for name in some} for path, some in found.items() if some}


needs_exam = pytest.mark.skipif(not EXAM.exists(), reason="needs ../shared/data/muc4")


@pytest.mark.corpus
@needs_exam
def test_no_phrase_of_the_exam_is_shipped() -> None:
    assert len(messages()) > 400_000
    assert [phrases_in(root) for root in PACKAGES] == [{}, {}]


@pytest.mark.corpus
@needs_exam
def test_no_name_of_a_person_in_the_keys_is_shipped() -> None:
    assert len(people()) > 500
    assert [names_in(root, people()) for root in PACKAGES] == [{}, {}]


@pytest.mark.corpus
@needs_exam
def test_no_place_of_the_exams_lists_is_shipped_unless_it_is_in_the_open_table() -> None:
    assert len(places()) > 400
    ours, domains = (names_in(root, places()) for root in PACKAGES)
    for table in TABLES:  # parts of their own names: "Villa Alegria"
        ours.pop(str(Path("parameters", table)))
    assert ours == domains == {}


@pytest.mark.corpus
@needs_exam
def test_what_may_not_be_shipped_is_found(tmp_path: Path) -> None:
    phrase = min(gram for gram in messages() if not FUNCTION.intersection(gram))
    person, place = min(people()), min(places())
    feature = json.dumps({f"left2 <{phrase[0].upper()} [{' '.join(phrase[1:])}": [1, -1]})
    (tmp_path / "parameters.json").write_text(feature, encoding="utf-8")
    (tmp_path / "people.yaml").write_text(f"words: [{', '.join(person)}]", encoding="utf-8")
    np.savez(tmp_path / "places.npz", names=np.array([" ".join(place).title()]))
    assert phrases_in(tmp_path) == {"parameters.json": {" ".join(phrase)}}
    assert names_in(tmp_path, people())["people.yaml"] >= {" ".join(person)}
    assert names_in(tmp_path, places())["places.npz"] >= {" ".join(place)}


@pytest.mark.parametrize("table", TABLES)
def test_an_open_table_is_as_it_was_made(table: str) -> None:
    """A change must come from make_places.py or make_names.py, which read nothing but open data."""
    content = (PACKAGES[0] / "parameters" / table).read_bytes()
    assert "GeoNames" in json.loads(content)["licence"]
    assert sha256(content).hexdigest() == TABLES[table]


def test_features_of_the_shipped_models_are_hashed_or_our_own_words() -> None:
    experts, domain = incidents.models, read_domain("incidents")
    types = set(domain.schema.types.above)
    groups = (experts.reading, experts.screening, experts.fills)
    names = {
        name
        for group in groups
        for model in fields(group)
        for name in getattr(getattr(group, model.name), "rows", ())  # trees observe numbers
    }
    hashed = {name for name in names if re.fullmatch(rf"[0-9a-f]{{{BITS // 4}}}", name)}
    readable = names - hashed
    assert len(hashed) > 10_000
    assert len(readable) > 300
    assert all(encode_feature(name) == name for name in readable)
    named = {name.split("sort ")[1] for name in readable if "sort " in name}
    assert named <= types
