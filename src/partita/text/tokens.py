"""Split text into tokens and sentences with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from partita.core import Message, Region
from partita.text.given_names import place_size

# one token together with their full stop
ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        "etc al inc ltd co corp jr sr vs dept approx est "
        "mr mrs ms dr prof gen col lt capt maj sgt cpl cmdr adm brig rev hon gov sen rep pres st "
        "mt ft cf e.g i.e viz "
        "jan feb mar apr jun jul aug sep sept oct nov dec tue tues wed thu thur thurs fri "
        "km mi ave blvd rd hwy bldg",
    )
)
POSSESSIVE = frozenset({"'s", "’s", "'", "’"})  # endings, tokens of their own
_PREFIXES = (
    "non|pre|post|re|pro|anti|semi|co|ex|e|mid|multi|over|under|vice|counter|ultra|trans|sub"
)
# after a number, tokens of their own: 40km, $2.1bn
_UNITS = "km|m|mi|nm|ft|cm|mm|kg|kt|kts|mph|kph|hrs?|min|ton|tons|mt|KM|M|MI|NM|FT|MM|KG|MT|bn|tn"

# words that a letter follows: in "Vitamin A. Mary" the full stop ends the sentence
_LETTERED = (
    "annex|appendix|category|chapter|exhibit|grade|group|hepatitis|influenza|option|phase|plan|"
    "schedule|section|series|team|terminal|type|vitamin|zone"
)
_NO_INITIAL = "".join(rf"(?<!\b(?i:{word}) [A-Z]\.)" for word in _LETTERED.split("|"))

PATTERNS = (
    # a plain word before white space or a comma: most of a text, tried first
    r"(?!(?i:cannot|gonna|wanna|gotta)\b)[^\W\d_]+(?=[\s,;)\]]|$)",
    # addresses
    r"(?i:https?://|www\.)[^\s<>\"()]*[^\s<>\"().,;:!?]",
    r"(?=[\w.+-]{1,200}+@)[\w+-]{1,64}+(?:\.{1,3}[\w+-]{1,64}+){0,8}(?:\.\.\.)?"
    r"@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}",
    r"[\w-]{1,64}+(?:\.[\w-]{1,64}+){0,6}"
    r"\.(?i:com|org|net|edu|gov|mil|int|pdf|docx?|html?|txt|xls)\b",
    # date-time groups, times, coordinates, grids
    r"\d{6}Z ?[A-Z]{3} ?\d{2}\b",
    r"\d{4}Z\b",
    r"\d{2,3}-\d{2}(?:-\d{2}(?:\.\d+)?)?[NSEW]\b",
    r"\d{2,7}(?:\.\d+)?[NS]\d{3,7}(?:\.\d+)?[EW]\b",
    r"\d{1,3}°(?: ?\d{1,2}(?:\.\d+)?['′])?(?: ?\d{1,2}(?:\.\d+)?[\"″])? ?[NSEW]\b",
    r"\d{1,2}[C-HJ-NP-X][A-HJ-NP-Z]{2} ?\d{4,10}\b",
    # designators: T-62, MiG-29, BTR-60PB, SA-2
    r"[A-Za-z]{1,6}-\d+[A-Za-z]{0,3}\b(?!-)",
    # dates with slashes and dashes, fractions, units such as 2/7
    r"\d{1,4}/\d{1,2}/\d{2,4}\b",
    r"\d{4}-\d{2}-\d{2}\b",
    r"\d{1,2}:\d{2}(?::\d{2})?",
    # numbers, ordinals, decades
    rf"\d{{1,3}}(?:,\d{{3}}){{1,6}}(?:\.\d+)?(?:(?!\w|,\d|\.\d)|(?=(?:{_UNITS})\b))",
    r"\d+(?:st|nd|rd|th|ST|ND|RD|TH|s)\b",
    r"['’]\d{2}s\b",
    r"\d+(?:\.\d+){1,9}(?!\w)",
    rf"\d+(?:\.\d+)?(?=(?:{_UNITS})\b)",
    r"\d+(?!\w|\.\d)",
    # names: O'Leary, d'Alene, AT&T
    r"[ODLdl]['’](?=[A-Z])(?!(?i:you|ya)\b)[^\W\d_]{3,}\b",
    r"[A-Z]{1,4}&[A-Z]{1,3}\b",
    # clitics
    r"[^\W\d_]+?(?=n['’]t\b|N['’]T\b)",
    r"[nN]['’][tT]\b",
    r"['’](?:s|re|ve|ll|d|m|S|RE|VE|LL|D|M)\b",
    r"(?:can|CAN|Can)(?=not\b|NOT\b)",
    r"(?i:gon|wan|got)(?=(?i:na|ta)\b)",
    # abbreviations
    r"(?:[^\W\d_]\.){2,}",
    rf"\b(?i:{'|'.join(sorted(map(re.escape, ABBREVIATIONS), key=len, reverse=True))})\.",
    r"\b(?i:nos?|figs?|vol|pp?|art)\.(?=\s{0,4}\d)",
    rf"\b[A-Z]\.(?=\s{{1,4}}[A-Z]){_NO_INITIAL}",
    # words with a prefix, words with digits or points in them, words
    rf"(?i:{_PREFIXES})-[^\W\d_]{{2,}}\b(?!-)",
    r"[^\W_]+(?:_+[^\W_]+)+",
    r"[^\W_]*\d[^\W_]*(?:\.\d[^\W_]*){0,9}",
    r"[^\W\d_]+",
    # dots, dashes, rows of one sign
    r"[:;]-?[)(DP](?!\w)",
    r"\.{2,}",
    r"[!?]{2,}",
    r"-{2,}",
    r"_+",
    r"([^\w\s])\1{2,}",
    r"\S",
)

# ends of words whose tokens depend on the text after the blank: 150430Z MAR 96, 35° 14' N,
# 18STG 1234, J. Smith, No. 4
OPEN_ENDED = re.compile(
    r"\d{6}Z(?:[A-Z]{3})?$|°[^NSEW]*$|\d{1,2}[C-HJ-NP-X][A-HJ-NP-Z]{2}$"
    r"|\b(?:[A-Z]|(?i:nos?|figs?|vol|pp?|art))\.$"
)

REMEMBERED = 1 << 16
LONGEST = 40
_TOKEN = re.compile("|".join(PATTERNS))
_WORD = re.compile(r"\S+")
# emoji, and marks of direction and of width zero: blanks, so that no name holds one
_WORDLESS = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff\U0001f000-\U0001faff]"
)
BACKTICK = re.compile(r"(?<=[A-Za-z])`(?=[A-Za-z])")  # an apostrophe, as in don`t
# accents that are characters of their own, after their letter: parts of a word like letters
_ACCENTS = re.compile(r"(?<=\w)[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff]+")

Scanned = tuple[list[str], list[int], list[int]]


def scan(text: str, start: int, end: int) -> Scanned:
    """Return the tokens of text[start:end] with their offsets in the text."""
    scanned: Scanned = ([], [], [])
    while start < end:
        start = _split_words(text, start, end, scanned)
    return scanned


def _split_words(text: str, start: int, end: int, scanned: Scanned) -> int:
    """Split words until a token reaches beyond its word; return where to go on."""
    texts, starts, ends = scanned
    for match in _WORD.finditer(text, start, end):
        word, (begin, stop) = match[0], match.span()
        pieces = _pieces(word) if stop - begin <= LONGEST else _split(word)
        if len(pieces) == 1:
            texts.append(word)
            starts.append(begin)
            ends.append(stop)
        elif pieces:
            for piece in pieces:
                texts.append(piece)
                starts.append(begin)
                begin += len(piece)
                ends.append(begin)
        else:
            behind = _split_in_context(text, begin, stop, end, scanned)
            if behind > stop:
                return behind
    return end


@lru_cache(maxsize=REMEMBERED)
def _pieces(word: str) -> tuple[str, ...]:
    return _split(word)


def _split(word: str) -> tuple[str, ...]:
    """Return the tokens of a word, or () if they depend on the text after the word."""
    if OPEN_ENDED.search(word, max(0, len(word) - LONGEST)):
        return ()
    return tuple(match[0] for match in _TOKEN.finditer(word))


def _split_in_context(text: str, begin: int, stop: int, end: int, scanned: Scanned) -> int:
    """Split a word together with the text after it; return the end of its last token."""
    texts, starts, ends = scanned
    for match in _TOKEN.finditer(text, begin, end):
        texts.append(match[0])
        starts.append(match.start())
        ends.append(match.end())
        if match.end() >= stop:
            break
    return ends[-1]


STOPS = frozenset((".", "?", "!", "…"))
CLOSERS = frozenset(('"', "'", ")", "]", "}", "”", "’", "»", "''"))
_OPENERS = frozenset(('"', "'", "(", "[", "“", "‘", "«", "``", "-", "–", "—", "•", "*"))
_STARTERS = frozenset(
    re.findall(
        r"\S+",
        "the a an this that these those it its he she they we i you there here in on at after "
        "before when while if as but and however according no one two some all both meanwhile",
    )
)
# in upper-case text a capital letter carries no information, so fewer words are safe
_UPPER_STARTERS = frozenset(
    re.findall(
        r"\S+",
        "the this these those it he she they we i there here however meanwhile according",
    )
)
_NEVER_FINAL = frozenset(("e.g.", "i.e."))
# Abbreviations that may end a sentence; a title or "No." is followed by a name or number.
_FINAL_ABBREVIATIONS = frozenset(
    ("etc.", "al.", "inc.", "ltd.", "co.", "corp.", "jr.", "sr.", "km.", "mi.")
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.){2,}")
_ROW = re.compile(r"[.?!]{2,}")


def sentence_ends(texts: Sequence[str], space: Sequence[int]) -> Iterator[int]:
    """Yield the index after the last token of each sentence."""
    count, place = len(texts), 0
    while place < count:
        place += 1
        token = texts[place - 1]
        if token[-1] not in ".?!…" or not _ends_sentence(texts, place, space):
            continue
        while place < count and texts[place] in CLOSERS and not space[place]:
            place += 1
        if texts[place : place + 3 : 2] == ["[", "]"] and texts[place + 1].isdigit():
            place += 3
        if place < count:
            yield place
    if count:
        yield count


def _ends_sentence(texts: Sequence[str], behind: int, space: Sequence[int]) -> bool:
    """Return whether the token before an index ends a sentence."""
    token, following = texts[behind - 1], _next_word(texts, behind)
    if token in STOPS or _ROW.fullmatch(token):
        if not following or _is_numbering(texts, behind):
            return False
        return _can_begin(following) or (token in "?!" and bool(space[behind]))
    low = token.lower()
    if low in _FINAL_ABBREVIATIONS or (_INITIALS.fullmatch(token) and low not in _NEVER_FINAL):
        before = texts[behind - 2] if behind > 1 else ""
        starters = _UPPER_STARTERS if before.isupper() else _STARTERS
        return following.lower() in starters and following[0].isupper()
    return False


def _next_word(texts: Sequence[str], place: int) -> str:
    """Return the first token from an index on that is no quotation mark or bracket."""
    while place < len(texts) and (texts[place] in CLOSERS or texts[place] in _OPENERS):
        place += 1
    return texts[place] if place < len(texts) else ""


def _can_begin(token: str) -> bool:
    return not token[0].islower() and token[0] not in ",;:%/&"


def _is_numbering(texts: Sequence[str], behind: int) -> bool:
    """Return whether the full stop belongs to "1." or "A." at the start of a region."""
    return behind == 2 and (texts[0].isdigit() or (len(texts[0]) == 1 and texts[0].isalpha()))


NONE, BLANK, LINE = 0, 1, 2  # what precedes a token


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Columns over the tokens of a message, in text order.

    `starts` and `ends` are offsets in the text of the message, `region` is an index into its
    regions, `sentence` counts from 0. `ends_of_sentences` holds the index after the last token of
    each sentence. `space` tells what precedes a token: nothing, a blank, or a line end.
    """

    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    region: list[int] = field(default_factory=list)
    sentence: list[int] = field(default_factory=list)
    space: list[int] = field(default_factory=list)
    ends_of_sentences: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)


def tokenize(message: Message) -> Tokens:
    """Return the tokens of all regions; no sentence crosses a region."""
    return _tokens(message.text, tuple(message.regions))


@lru_cache(maxsize=1)  # extraction and the notes on a message ask for the same tokens
def _tokens(source: str, regions: tuple[Region, ...]) -> Tokens:
    tokens, text = Tokens(), BACKTICK.sub("'", _WORDLESS.sub(" ", source))
    letters = _ACCENTS.sub(lambda found: "a" * len(found[0]), text)
    for place, region in enumerate(regions):
        texts, starts, ends = scan(letters, region.start, region.end)
        if texts:
            if letters != text:
                texts = [text[start:end] for start, end in zip(starts, ends, strict=True)]
            _append(tokens, texts, starts, ends, place, text)
    return tokens


def _append(
    tokens: Tokens, texts: list[str], starts: list[int], ends: list[int], place: int, text: str
) -> None:
    space = _spaces(text, starts, ends, region=bool(tokens.texts))
    begin = 0
    for end in _with_dateline(texts, sentence_ends(texts, space)):
        tokens.sentence.extend([len(tokens.ends_of_sentences)] * (end - begin))
        tokens.ends_of_sentences.append(len(tokens.texts) + end)
        begin = end
    tokens.texts.extend(texts)
    tokens.starts.extend(starts)
    tokens.ends.extend(ends)
    tokens.space.extend(space)
    tokens.region.extend([place] * len(texts))


DATELINE = 16  # most words of a dateline
_DASHES = frozenset(("-", "--", "–", "—"))


def _with_dateline(texts: Sequence[str], ends: Iterator[int]) -> Iterator[int]:
    """Yield the ends of sentences, and that of the dateline before the first: BREMEN (Reuters) -"""
    if size := _dateline(texts):
        yield size
    yield from ends


def _dateline(texts: Sequence[str]) -> int:
    """Return the number of words of a dateline: a place in capitals up to a dash or colon."""
    if len(texts) < 4 or not (texts[0].isupper() and texts[0].isalpha() and len(texts[0]) > 2):
        return 0
    size = next((n for n, word in enumerate(texts[:DATELINE]) if word in _DASHES or word == ":"), 0)
    follows = texts[size + 1 : size + 2]
    if not size or not follows or (follows[0].isupper() and len(follows[0]) > 1):
        return 0
    capitals = next((n for n in range(size) if not texts[n].isupper()), size)
    listed = place_size(" ".join(texts[:capitals])) > 0
    signs = all(word[0].isupper() or not word[0].isalpha() for word in texts[:size])
    told = listed or (texts[size] != ":" and ("(" in texts[:size] or "," in texts[:size]))
    return size + 1 if signs and told else 0


def _spaces(text: str, starts: Sequence[int], ends: Sequence[int], *, region: bool) -> list[int]:
    """Return what precedes each token; a region begins a line unless it is the first."""
    spaces = [LINE if region else NONE]
    for end, start in zip(ends, starts[1:], strict=False):
        if end == start:
            spaces.append(NONE)
        elif start == end + 1 and text[end] == " ":
            spaces.append(BLANK)
        else:
            spaces.append(
                LINE if len(text[end:start].splitlines()) > 1 else _space(text[end:start])
            )
    return spaces


def _space(between: str) -> int:
    return LINE if between[-1:] in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" else BLANK


_PLAIN = re.compile(r"[a-z]+(?: [a-z]+)*")
_CLITICS = ("cannot", "gonna", "wanna", "gotta")


def lower_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case."""
    low = text.lower()
    if _PLAIN.fullmatch(low) and not any(word in low for word in _CLITICS):
        return tuple(low.split())
    return tuple(word.lower() for word in scan(text, 0, len(text))[0])
