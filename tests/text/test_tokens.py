"""Tokens and sentences: examples of both traditions, and what holds for any text."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import token_scores
from partita.core import Message, Region
from partita.text.tokens import BLANK, LINE, NONE, PATTERNS, scan, tokenize

DATA = Path(os.environ.get("PARTITA_DATA", "../shared/data"))


def message(*texts: str) -> Message:
    """One region a text, a blank line between them."""
    regions, start = [], 0
    for text in texts:
        regions.append(Region("text", start, start + len(text)))
        start += len(text) + 2
    return Message("m", "\n\n".join(texts), tuple(regions))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A rail depot, near Kinston.", "A|rail|depot|,|near|Kinston|."),
        ("They don't; it's the army's.", "They|do|n't|;|it|'s|the|army|'s|."),
        ("WE CAN'T, IT CANNOT", "WE|CA|N'T|,|IT|CAN|NOT"),
        ("a well-known non-military site", "a|well|-|known|non-military|site"),
        ("$1,200.50 or 50% of 3rd", "$|1,200.50|or|50|%|of|3rd"),
        ("for $2.1bn, £12m or 1,200.5km", "for|$|2.1|bn|,|£|12|m|or|1,200.5|km"),
        ("a 1.8L engine, v2.1beta, 3.30pm.", "a|1.8L|engine|,|v2.1beta|,|3.30pm|."),
        ("T-62 and MiG-29 near BTR-60PB", "T-62|and|MiG-29|near|BTR-60PB"),
        ("AT 35-14N 077-34W, 150430ZMAR96", "AT|35-14N|077-34W|,|150430ZMAR96"),
        ("35°14'N at 18STG12345678", "35°14'N|at|18STG12345678"),
        ("100km from the U.S. at 5 p.m.", "100|km|from|the|U.S.|at|5|p.m."),
        ("Gen. Smith (ret.) of St. Paul", "Gen.|Smith|(|ret|.|)|of|St.|Paul"),
        ("ammo/fuel, 2/7 Cav", "ammo|/|fuel|,|2|/|7|Cav"),
        ("mail bob.ray@host.mil or www.host.org.", "mail|bob.ray@host.mil|or|www.host.org|."),
        ("in 1990s -- so ... what?!", "in|1990s|--|so|...|what|?!"),
        ("2-12-96 and 1996-03-15", "2|-|12|-|96|and|1996-03-15"),
        ("AT 150430Z MAR 96 NEAR 35° 14' N", "AT|150430Z MAR 96|NEAR|35° 14' N"),
        ("GRID 18STG 12345678, J. Smith", "GRID|18STG 12345678|,|J.|Smith"),
        ("Vitamin A. Mary L. Fox", "Vitamin|A|.|Mary|L.|Fox"),
        ("BATTALION NO. 4 AND NO.5 SAID NO.", "BATTALION|NO.|4|AND|NO.|5|SAID|NO|."),
        ("SEE HTTP://WWW.HOST.MIL/A.", "SEE|HTTP://WWW.HOST.MIL/A|."),
        ("plan C. then D.", "plan|C|.|then|D|."),
        ("Jose\u0301 in Me\u0301xico. \u0301 x", "Jose\u0301|in|Me\u0301xico|.|\u0301|x"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert "|".join(tokenize(message(text)).texts) == tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One depot. Two depots! Three?", 3),
        ("Gen. Smith met Dr. No. 5 at 3.5 km.", 1),
        ("IT IS IN THE U.S. THE DEPOT IS NEW.", 2),
        ("THE U.S. ARMY IS IN ST. PAUL. IT LEFT.", 2),
        ('He said "go." They went.', 2),
        ("1. The depot is new. 2 trucks came.", 2),
        ("They left (at dawn.) Nobody saw.", 2),
        ("Fuel, ammo, etc. The rest is gone.", 2),
        ("J. R. Ray came. e.g. this", 1),
        ("It has areas (e.g. The North). It is old.", 2),
        ("It is old. [17] It was large.", 2),
        ("THE U.S. AND COLOMBIAN TROOPS LEFT. THEY WON.", 2),
        ("No. They left. Not No. 5.", 3),
        ("Ray Inc., a firm, left. S. F., Cal., too.", 2),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(tokenize(message(text)).ends_of_sentences) == count


def test_sentences_stay_in_their_regions_and_space_is_known() -> None:
    found = tokenize(message("Rail depot", "a depot\nwas\tfound"))
    assert found.sentence == [0, 0, 1, 1, 1, 1]
    assert found.ends_of_sentences == [2, 6]
    assert found.region == [0, 0, 1, 1, 1, 1]
    assert found.space == [NONE, BLANK, LINE, BLANK, LINE, BLANK]


def test_nothing_has_no_tokens() -> None:
    assert len(tokenize(message("", "  \n "))) == 0


PIECES = st.sampled_from(
    ["U.S.", "J.", "No.", "4", "150430Z", "MAR", "96", "35°", "14'", "N", "18STG", "1234", "don't",
     "T-62", "a@b.org", "www.x.mil", "1,200", "3.5", "e-mail", "x" * 50, "(", ")", '"', ".", "...",
     "A.", "km", "100km", "[1]", "é", "\U0001d400", "\u0301", "\x00"]
)  # fmt: skip
BLANKS = st.sampled_from([" ", "  ", "\n", "\r\n", "\t", "\u2028", "\x1c", ""])
MIXED = st.lists(st.tuples(PIECES, BLANKS), max_size=12).map(
    lambda pairs: "".join(piece + blank for piece, blank in pairs)
)


@settings(deadline=None, max_examples=500)
@given(st.one_of(MIXED, st.text(max_size=60)))
def test_words_cut_one_by_one_give_what_the_patterns_give_on_the_whole(text: str) -> None:
    matches = list(re.compile("|".join(PATTERNS)).finditer(text))
    texts, starts, ends = scan(text, 0, len(text))
    assert texts == [match[0] for match in matches]
    assert list(zip(starts, ends, strict=True)) == [match.span() for match in matches]


def wordless(character: str) -> bool:
    """Whether a character is an emoji or a mark of direction or of width zero."""
    marks = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A))
    code = ord(character)
    return code in (*marks, 0xFE0E, 0xFE0F, 0xFEFF) or 0x1F000 <= code <= 0x1FAFF


@pytest.mark.parametrize(
    "text", ["\u200fJane Doe\u200e met Ann\U0001f642.", "\U0001f600Jane Doe\ufeff met Ann ."]
)
def test_emoji_and_marks_of_direction_are_in_no_token(text: str) -> None:
    found = tokenize(message(text))
    assert found.texts == ["Jane", "Doe", "met", "Ann", "."]
    assert [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)] == found.texts


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(MIXED, st.text(st.characters(), max_size=60)), max_size=4))
def test_every_character_is_in_one_token_of_its_region(texts: list[str]) -> None:
    given = message(*texts)
    found = tokenize(given)
    for text, start, end in zip(found.texts, found.starts, found.ends, strict=True):
        assert given.text[start:end] == text
    for place, region in enumerate(given.regions):
        joined = "".join(t for t, r in zip(found.texts, found.region, strict=True) if r == place)
        shown = "".join(one for one in given.text[region.start : region.end] if not wordless(one))
        assert "".join(joined.split()) == "".join(shown.split())
    assert found.ends_of_sentences[-1:] in ([], [len(found)])
    assert found.ends_of_sentences == sorted(set(found.ends_of_sentences))
    assert len(found.space) == len(found.sentence) == len(found)
    ends = [0, *found.ends_of_sentences]
    for number, (first, last) in enumerate(pairwise(ends)):
        assert set(found.sentence[first:last]) == {number}
        assert len(set(found.region[first:last])) == 1


@pytest.mark.parametrize("unit", ["a", "a.", "1,111", "a_", "_", "-", "'", "n't", "T-1", "@", "1."])
def test_long_lines_of_one_kind_are_read_whole(unit: str) -> None:
    text = unit * (40_000 // len(unit))
    assert "".join(tokenize(message(text)).texts) == text


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "tokens", "ends"), [("gum/dev", 0.994, 0.975), ("ewt/dev.conllu", 0.983, 0.9)]
)
def test_tokens_and_sentences_of_the_treebanks(name: str, tokens: float, ends: float) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"needs {DATA / name}")
    of_tokens, of_ends = token_scores(DATA / name)
    assert of_tokens >= tokens
    assert of_ends >= ends
