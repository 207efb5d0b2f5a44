"""What the words of a mention, and the tree around it, say of the entity: slots of its template."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from partita.core import Assertion, Template
from partita.core.templates import ASSERTIONS
from partita.text.assertions import PAST, Scope, scopes, strongest
from partita.text.expressions import WORDED, Expression, Tree, Word, feature, quotations
from partita.text.given_names import share_by_ending, share_of_women
from partita.text.layout import TURN
from partita.text.names import RANKS

GENDERS = {"man": "male", "woman": "female"}
PLACED = frozenset(
    ["in", "at", "near", "from", "on", "outside", "inside", "around", "above", "under", "beside"]
)
SAYING = {
    "say", "tell", "ask", "add", "reply", "answer", "announce", "explain", "claim", "state",
    "write", "warn", "note", "argue", "shout", "whisper", "insist", "admit", "report", "declare",
    "think", "continue",
}  # fmt: skip
SCALES = {"hundred", "thousand", "million", "billion", "trillion", "dozen", "m", "bn", "k"}
UNITS = {"$", "€", "£", "¥", "%", "percent", "usd", "eur", "gbp"}
YEAR = re.compile(r"(1[0-9]|20|21)[0-9]{2}s?|[0-9]{1,2}[/.-][0-9]{1,2}([/.-][0-9]{2,4})?")
FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself"})
SECOND = frozenset({"you", "your", "yours", "yourself"})
HE = frozenset({"he", "him", "his", "himself"})
SHE = frozenset({"she", "her", "hers", "herself"})
PERSONS_OF_TALK = (FIRST_PERSON, SECOND, HE, SHE)
HAPPENING = frozenset({"take", "happen", "occur", "exist", "begin", "follow"})
POSSIBLE = 0.05  # least probability of a type that the last word of a name decides
CLEAR = 0.9  # least share of women, or of men, with a given name that tells the gender
LONGEST = 120  # characters of a role or description
TOLD = 0.5  # least probability of the type of a name that tells what it means
SPEAKING = 0.9  # probability that who speaks is a person, if nothing tells


@dataclass(frozen=True, slots=True, eq=False)
class WordLists:
    """The lists of `words.yaml`, by word."""

    nouns: Mapping[tuple[str, str], str]
    endings: Mapping[str, str]
    titles: Mapping[str, str]
    countries: Mapping[str, str]
    types: Mapping[str, str]  # the general type of each narrower one
    languages: Mapping[str, frozenset[str]]  # function words


@lru_cache
def word_lists() -> WordLists:
    """Read the lists that ship with the package."""
    from importlib.resources import files

    import yaml

    text = files("partita.domains.general").joinpath("words.yaml").read_text(encoding="utf-8")
    lists = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    narrower = {
        name: entity_type for entity_type, below in lists["sorts"].items() for name in below
    }
    return WordLists(
        {
            (entity_type, noun): name
            for entity_type, below in lists["sorts"].items()
            for name, nouns in reversed(below.items())
            for noun in nouns.split()
        },
        _by_word(lists["name_endings"]),
        _by_word(lists["titles"]),
        _by_word(lists["nationalities"]) | {name.lower(): name for name in lists["nationalities"]},
        narrower,
        {name: frozenset(words.split()) for name, words in lists["languages"].items()},
    )


def _by_word(lists: Mapping[str, str]) -> dict[str, str]:
    return {
        word.replace("-", " ").lower(): name
        for name, words in lists.items()
        for word in words.split()
    }


def with_details(
    expressions: Sequence[Expression], templates: Sequence[Template]
) -> Iterator[Template]:
    """Yield the templates of one sentence with the slots that words and tree fill."""
    by_head: dict[int, Template] = {}
    for expression, template in zip(expressions, templates, strict=True):
        by_head.setdefault(expression.head, template)
    filled_templates = []
    for expression, template in zip(expressions, templates, strict=True):
        named = replace(template, slots=dict(_names(expression, template)))
        slots = {**named.slots, **dict(_slots(expression, named, by_head))}
        filled = {name: value for name, value in slots.items() if value}
        parts = _name_parts(template.type, str(filled.get("NAME", "")))
        filled_templates.append(
            replace(template, slots=filled, context={**template.context, **parts})
        )
    yield from with_statuses(expressions, filled_templates)


def with_statuses(
    expressions: Sequence[Expression], templates: Sequence[Template]
) -> Sequence[Template]:
    """Return the templates of one sentence with what it denies, holds possible or reports.

    What is denied of a subject ("she is not a doctor") goes to the subject, and keeps the two
    apart. Events have a status as a whole.
    """
    words = expressions[0].at.tree.words if expressions else ()
    found = scopes([word.form.lower() for word in words], [word.xpos for word in words])
    if not found:
        return templates
    said: dict[str, list[tuple[Assertion, bool]]] = {}
    for expression, template in zip(expressions, templates, strict=True):
        if (scope := _scope(found, expression)) is not None:
            for owner, one in _assertions(scope, expression, template):
                said.setdefault(owner, []).append((one, owner == template.id))
    return [_with_assertions(template, said) for template in templates]


def _scope(found: Iterable[Scope], expression: Expression) -> Scope | None:
    """Return the scope that decides the status of a mention.

    A cue of denial or possibility governs the mention, or hangs on what governs it. The status of
    an event that is said to happen, or not, is that of the verb.
    """
    tree, head = expression.at.tree, expression.head
    if _happens(expression):
        head = tree.words[head].head
    told, above = head, {head, -1}
    while (up := tree.words[head].head) >= 0:
        above.add(head := up)
    return strongest(
        scope
        for scope in found
        if scope.first <= told < scope.last
        and (scope.cue[0] not in expression.inside or _is_no(tree, scope.cue[0], expression.head))
        and (scope.status == "reported" or not above.isdisjoint(_governors(tree, scope.cue)))
    )


def _is_no(tree: Tree, cue: int, head: int) -> bool:
    """Return whether a cue is the "no" of "she is no doctor"."""
    word = tree.words[cue]
    return word.head == head and word.form.lower() == "no"


def _governors(tree: Tree, cue: tuple[int, int]) -> Iterator[int]:
    """Yield what the words of a cue hang on; "neither" hangs on a subject, so also the verb."""
    for word in tree.words[slice(*cue)]:
        yield word.head
        if word.form.lower() in ("neither", "nor") and word.head >= 0:
            yield tree.words[word.head].head


def _happens(expression: Expression) -> bool:
    """Return whether a mention is the subject of a verb such as "take place"."""
    words = expression.at.tree.words
    word = words[expression.head]
    return word.relation.startswith("nsubj") and words[word.head].lemma in HAPPENING


def _assertions(
    scope: Scope, expression: Expression, template: Template
) -> Iterator[tuple[str, Assertion]]:
    """Yield what a scope says of a mention, each with the template that it is said of."""
    spans = expression.at.spans
    words = expression.at.tree.words[scope.cue[0] : scope.cue[1]]
    cue = " ".join(word.form for word in words)
    span = (spans[scope.cue[0]][0], spans[scope.cue[1] - 1][1])
    covered = (spans[scope.first][0], spans[scope.last - 1][1])
    subject = _described_thing(template)
    slot = next((name for name in ("ROLE", "DESCRIPTION") if name in template.slots), "")
    if subject and slot:
        owner = subject if scope.status == "denied" else template.id
        slots = {slot: [template.slots[slot]]}
        yield owner, Assertion(scope.status, slots, cue, span, covered)
        if template.type == "event" and scope.status == "denied":
            yield template.id, Assertion(scope.status, {}, cue, span, covered)
    elif template.type == "event" and (template.form != "definite" or _happens(expression)):
        yield template.id, Assertion(scope.status, {}, cue, span, covered)


def _with_assertions(
    template: Template, said: Mapping[str, list[tuple[Assertion, bool]]]
) -> Template:
    own = [one.plain() for one, _ in said.get(template.id, ())]
    denied = [
        one
        for one, mine in said.get(_described_thing(template), ())
        if not mine and one.status == "denied" and _is_own(one, template)
    ]
    if not own and not denied:
        return template
    context = dict(template.context) | ({ASSERTIONS: own} if own else {})
    if not denied:
        return replace(template, context=context)
    gone = {name for one in denied for name in one.slots}
    slots = {name: value for name, value in template.slots.items() if name not in gone}
    context |= {"COPULA_OF": "", "PREDICATE_OF": ""}
    if not all(one.cue.lower() in PAST for one in denied):  # who was the mayor is the same person
        context |= {"APPOSITION_OF": "", "DENIED_OF": _described_thing(template)}
    return replace(template, slots=slots, context=context)


def _subject(template: Template) -> str:
    """Return what a predicate is said of: "she is a doctor", "she used to be one"."""
    return str(template.context.get("COPULA_OF") or template.context.get("PREDICATE_OF") or "")


def _described_thing(template: Template) -> str:
    """Return what a predicate or an apposition describes."""
    return _subject(template) or str(template.context.get("APPOSITION_OF", ""))


def _is_own(one: Assertion, template: Template) -> bool:
    return all(template.slots.get(name) in values for name, values in one.slots.items())


def _slots(
    expression: Expression, template: Template, by_head: Mapping[int, Template]
) -> Iterator[tuple[str, Any]]:
    words = expression.at.tree.words
    yield "TYPE", narrower_type(template)
    yield "GENDER", _gender(template)
    yield from _described(expression, template)
    modifiers = [*template.context.get("MODIFIERS", ()), template.head]
    yield "NATIONALITY", _nationality(template, modifiers)
    yield "LOCATION", _nested(expression, template, by_head, "place")
    if template.type == "time":
        yield "DATE", template.text if _is_date(template) else ""
    else:
        yield "DATE", _nested(expression, template, by_head, "time")
    yield (
        "AMOUNT",
        _amount(
            expression.at.tree, expression.head, expression.inside, words[expression.head].form
        ),
    )


def _names(expression: Expression, template: Template) -> Iterator[tuple[str, str]]:
    """Yield the name without the title, and the title; capitalised words before it belong to it."""
    name = str(template.slots.get("NAME", ""))
    if not name or template.type == "time":
        return
    words, start = expression.at.tree.words, expression.head
    while start - 1 in expression.inside and _of_name(words[start - 1], start > 1):
        start -= 1
    first = name.split(" ")[0]
    before = [word.form for word in words[start : expression.head]]
    if first in before:
        before = before[: before.index(first)]
    elif f" {' '.join(before)} " in f" {name} ":
        before = []
    title, rest = split_title(" ".join([*before, name]), template.type == "person")
    yield "NAME", rest
    yield "TITLE", title


def _of_name(word: Word, inside: bool) -> bool:
    """Return whether a word before a name belongs to it; the first of a sentence only if it is a
    name itself."""
    capital = word.form[:1].isupper() and word.upos in ("ADJ", "NOUN", "PROPN", "NUM")
    return word.upos == "PROPN" or (capital and inside)


def split_title(name: str, person: bool = True) -> tuple[str, str]:
    """Return the titles at the start of a person's name, and the rest."""
    if not person:
        return "", name
    titles, words, place = word_lists().titles, name.split(), 0
    low = [word.rstrip(".").lower() for word in words]
    while place < len(words) - 1 and (
        low[place] in titles
        or (low[place] in RANKS and place + 2 < len(words) and low[place + 1] in titles)
    ):
        place += 1
    return " ".join(words[:place]), " ".join(words[place:])


def narrower_type(template: Template) -> str:
    """Return the type below the general one, by the name's last word, the noun, or the gender."""
    lists = word_lists()
    if template.form == "name":
        words = [word.rstrip(".,").lower() for word in str(template.slots.get("NAME", "")).split()]
        if template.type == "place" and " ".join(words) in lists.countries:
            return "country"
        by_ending = lists.endings.get(words[-1], "") if words else ""
        if by_ending and _may_be(template, lists.types[by_ending]):
            return by_ending
        gender = _gender(template)
        return next((entity_type for entity_type, name in GENDERS.items() if name == gender), "")
    if template.form == "pronoun":
        return ""
    return lists.nouns.get((template.type, template.head.lower()), "")


def _may_be(template: Template, entity_type: str) -> bool:
    """Return whether a type is the most probable one, or not improbable."""
    shares: Mapping[str, float] = template.context.get("SORT_PROBABILITIES") or {}
    return template.type == entity_type or shares.get(entity_type, 0.0) >= POSSIBLE


def _gender(template: Template) -> str:
    """Return male or female, by pronoun, title, first name or noun."""
    if template.type not in ("person", ""):
        return ""
    by_pronoun = {"masc": "male", "fem": "female"}.get(str(template.context.get("GENDER", "")), "")
    if by_pronoun or template.form == "pronoun":
        return by_pronoun
    lists = word_lists()
    if template.form != "name":
        return GENDERS.get(lists.nouns.get(("person", template.head.lower()), ""), "")
    title, rest = split_title(str(template.slots.get("NAME", "")))
    title = f"{template.slots.get('TITLE', '')} {title}".strip()
    for word in title.split():
        if gender := GENDERS.get(lists.titles.get(word.rstrip(".").lower(), ""), ""):
            return gender
    return _gender_by_name(rest.split(), bool(title))


def _gender_by_name(words: Sequence[str], titled: bool) -> str:
    """Return male or female by the given name; the one name after a title is a family name."""
    if not words or words[0].endswith(".") or (titled and len(words) == 1):
        return ""
    women = share_of_women(words[0])
    if women is None and len(words) > 1:
        women = share_by_ending(words[0])
    if women is None or 1 - CLEAR < women < CLEAR:
        return ""
    return "female" if women >= CLEAR else "male"


def _described(expression: Expression, template: Template) -> Iterator[tuple[str, str]]:
    """Yield the role of a person or the description of a thing: an apposition, a predicate, or
    nouns before a name."""
    tree, slot = expression.at.tree, "ROLE" if template.type == "person" else "DESCRIPTION"
    linked = _described_thing(template)
    if linked and template.type != "time" and template.form in ("definite", "indefinite", "bare"):
        yield slot, _without_determiner(template)
    elif template.form == "name" and template.type == "person":
        before = [
            n for n in tree.related(expression.head, "compound", "nmod", "appos")
            if n < expression.head and n in expression.inside and tree.words[n].upos == "NOUN"
        ]  # fmt: skip
        yield slot, " ".join(tree.words[n].form for n in before)


def _without_determiner(template: Template) -> str:
    determiner = str(template.context.get("DETERMINER", ""))
    first, _, rest = template.text.partition(" ")
    text = rest if rest and first.lower() in (determiner, "a", "an", "the") else template.text
    return " ".join(text.split()) if len(text) <= LONGEST else ""


def _nationality(template: Template, modifiers: Iterable[str]) -> str:
    if template.type not in ("person", "organization"):
        return ""
    countries = word_lists().countries
    return next((countries[word.lower()] for word in modifiers if word.lower() in countries), "")


def _nested(
    expression: Expression, template: Template, by_head: Mapping[int, Template], entity_type: str
) -> str:
    """Return the place or time that modifies the head of the mention."""
    tree = expression.at.tree
    for place in tree.related(expression.head, "nmod", "obl", "appos"):
        other = by_head.get(place)
        if (
            other is None
            or other.type != entity_type
            or other.form == "pronoun"
            or other is template
        ):
            continue
        case = {tree.words[n].form.lower() for n in tree.related(place, "case")}
        direct = tree.words[place].relation == "appos" and entity_type == template.type == "place"
        timed = entity_type == "time" and template.type == "event"
        if case & PLACED or direct or timed:
            return other.text
    return ""


def _is_date(template: Template) -> bool:
    words = [str(word) for word in template.context.get("WORDS", ())]
    dates = (word_lists().nouns.get(("time", word.rstrip("."))) == "date" for word in words)
    return any(dates) or any(YEAR.fullmatch(word) for word in words) or template.form == "name"


def _amount(tree: Tree, head: int, inside: Iterable[int], form: str) -> str:
    """Return a number with its unit or noun: $3 million, 40 percent, twelve people."""
    within = set(inside)
    numbers = [n for n in tree.related(head, "nummod") if n in within]
    if not numbers:
        return form if tree.words[head].upos == "NUM" and form.lower() in UNITS else ""
    if not any(_numeric(tree, n) for n in numbers):
        return ""
    first, last = min(*numbers, head), max(*numbers, head)
    return _joined(tree, first, last) if last - first <= 4 else ""


def _numeric(tree: Tree, place: int) -> bool:
    word = tree.words[place]
    lower = word.form.lower()
    return (
        lower[:1].isdigit()
        or lower in WORDED
        or lower in SCALES
        or feature(word, "NumType") == "Card"
    )


def _joined(tree: Tree, first: int, last: int) -> str:
    text = " ".join(tree.words[n].form for n in range(first, last + 1))
    return re.sub(r"([$€£¥]) ", r"\1", text).replace(" %", "%")


def _name_parts(entity_type: str, name: str) -> dict[str, str]:
    """Return the given and the family name of a person of two or more names."""
    words = name.split()
    if entity_type != "person" or len(words) < 2:
        return {}
    return {"GIVEN_NAME": words[0], "FAMILY_NAME": words[-1]}


MAIL_FIELDS = frozenset({"bcc", "cc", "date", "from", "re", "reply-to", "sent", "subject", "to"})
GREETING = re.compile(r"(?:^|\n)\s*(?:Dear|Hi|Hello|Hey) ([A-Z][^,:!\n]{0,60})[,:!]?\s*(?=\n)")
SIGNED = r"\s*([A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3})\s*?(?:,|\n|\Z)"
CLOSING = re.compile(
    r"\n\s*(?i:(?:(?:with )?(?:best|kind|warm)(?: (?:wishes|regards))?|regards|sincerely|yours"
    r"(?: \w+)?|love|thanks|thank you|cheers)[,.!]?\s*\n)" + SIGNED
)
SENDER = re.compile(r"^From: ", re.MULTILINE)
SIGNATURE = re.compile(rf"\n\s*\n{SIGNED}\s*\Z")


@dataclass(slots=True)
class _Talk:
    """A stretch of text that someone says or writes, and where both persons are named."""

    start: int
    end: int
    speaker: int  # the place of the name in the text, -1 if it is unknown
    hearer: int = -1


def speakers(
    text: str, sentences: Sequence[Sequence[Expression]], templates: Sequence[Template]
) -> dict[str, dict[str, Any]]:
    """Return what is known of who speaks: contexts by template.

    SPEAKER names who says a mention. SPOKEN_BY is the mention that names who *I* or *you* is.
    BESIDES are pronouns of the same speech or letter that are others: *I* and *you* are neither he
    nor she.
    """
    talks = [*_turns(text), *_letters(text), *_quoted(text, sentences)]
    if not talks:
        return {}
    named, said = _named(templates), _shortest(talks)
    found: dict[str, dict[str, Any]] = {}
    latest: dict[tuple[int, int], str] = {}  # pronouns by talk and kind
    for template in templates:
        if (talk := said(template.start)) is not None:
            if besides := _others(template, id(talk), latest):
                found[template.id] = {"BESIDES": besides}
            if (who := named.get(talk.speaker)) is not None:
                speaker = str(who.slots.get("NAME") or who.text)
                found.setdefault(template.id, {})["SPEAKER"] = speaker
            if (who := named.get(_meant(template, talk))) is not None:
                found.setdefault(template.id, {})["SPOKEN_BY"] = who.id
    return found


def as_person(template: Template) -> Template:
    """Return who says *I*, or is addressed, as a person if nothing tells what the name means."""
    shares: Mapping[str, float] = template.context.get("SORT_PROBABILITIES") or {}
    if not shares or max(shares.values()) >= TOLD:
        return template
    person = {name: (1.0 - SPEAKING) * share for name, share in shares.items()}
    person["person"] = person.get("person", 0.0) + SPEAKING
    context = {**template.context, "SORT_PROBABILITIES": person}
    return replace(template, type="person", context=context)


def _others(template: Template, talk: int, latest: dict[tuple[int, int], str]) -> list[str]:
    """Return the latest pronouns of a talk that are others than a pronoun, and note the pronoun."""
    word = template.text.lower()
    kind = next((n for n, words in enumerate(PERSONS_OF_TALK) if word in words), -1)
    if kind < 0 or template.form != "pronoun":
        return []
    others = (2, 3) if kind < 2 else (0, 1)
    latest[talk, kind] = template.id
    return [latest[talk, other] for other in others if (talk, other) in latest]


def _shortest(talks: Sequence[_Talk]) -> Callable[[int], _Talk | None]:
    """Return a function that finds the shortest stretch around a place, the first of equals."""
    edges = sorted({edge for talk in talks for edge in (talk.start, talk.end)})
    within: list[_Talk | None] = [None] * (len(edges) + 1)  # by the number of edges up to a place
    shortest_first = sorted(talks, key=lambda one: one.end - one.start)
    for talk in shortest_first[::-1]:
        first, last = bisect_right(edges, talk.start), bisect_left(edges, talk.end) + 1
        within[first:last] = [talk] * (last - first)
    return lambda place: within[bisect_right(edges, place)]


def _named(templates: Sequence[Template]) -> dict[int, Template]:
    """Return for each place of the text the longest mention whose head is there, or it begins."""
    found: dict[int, Template] = {}
    for one in templates:
        for place in {one.start, one.context.get("HEAD_SPAN", (one.start,))[0]}:
            longest = found.get(place)
            inside = one.start <= place < one.end
            if inside and (longest is None or one.end - one.start > longest.end - longest.start):
                found[place] = one
    return found


def _meant(template: Template, talk: _Talk) -> int:
    """Return where the person is named that *I* or *you* is, -1 if this is not known."""
    if template.form != "pronoun" or template.number == "plural":
        return -1
    word = template.text.lower()
    return talk.speaker if word in FIRST_PERSON else talk.hearer if word in SECOND else -1


def _turns(text: str) -> Iterator[_Talk]:
    """Yield the turns of a dialogue: lines that begin with a name and a colon."""
    marks = [m for m in TURN.finditer(text) if m[1].lower() not in MAIL_FIELDS]
    names = [m[1] for m in marks]
    first = {m[1]: m.start(1) for m in reversed(marks)}
    if len(marks) < 2 or len(set(names)) < 2:
        return
    for n, mark in enumerate(marks):
        end = marks[n + 1].start() if n + 1 < len(marks) else len(text)
        others = [name for name in reversed(names[:n]) if name != names[n]]
        called = [name for name in set(names) - {names[n]} if _calls(text[mark.end() : end], name)]
        hearer = called[0] if len(called) == 1 else next(iter(others), "")
        yield _Talk(mark.end(), end, first[names[n]], first.get(hearer, -1))


def _calls(said: str, name: str) -> bool:
    """Return whether someone is addressed by name: "Bob, can you drive?"."""
    return re.search(rf"(?:^|[.?!,] ?){re.escape(name)}[,.?!]", said) is not None


def _letters(text: str) -> Iterator[_Talk]:
    """Yield letters and the mails of a thread: who is greeted in each and who signs it."""
    edges = [0, *(mark.start() for mark in SENDER.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        closing, greeting = CLOSING.search(text, start, end), GREETING.search(text, start, end)
        signed = closing or (SIGNATURE.search(text, start, end) if greeting else None)
        if signed:
            yield _Talk(
                greeting.end() if greeting else start,
                signed.start(),
                signed.start(1),
                greeting.start(1) if greeting else -1,
            )


def _quoted(text: str, sentences: Sequence[Sequence[Expression]]) -> Iterator[_Talk]:
    """Yield the quotations with their speakers; one of several sentences has the first found."""
    quotes = quotations(text)
    said: set[tuple[int, int]] = set()
    for expressions in sentences if quotes else ():
        if not expressions:
            continue
        spans = expressions[0].at.spans
        start, end = spans[0][0], spans[-1][1]
        for quote in quotes:
            near = quote[0] < end and start < quote[1] + 2 and quote not in said
            if near and (who := _speaker(expressions, quote)) is not None:
                said.add(quote)
                yield _Talk(*quote, who.at.spans[who.head][0])


def _speaker(expressions: Sequence[Expression], quote: tuple[int, int]) -> Expression | None:
    tree, spans = expressions[0].at.tree, expressions[0].at.spans
    for expression in expressions:
        word = tree.words[expression.head]
        inside = quote[0] <= spans[expression.head][0] < quote[1]
        if inside or word.head < 0 or word.relation.partition(":")[0] != "nsubj":
            continue
        if tree.words[word.head].lemma.lower() in SAYING:
            return expression
    return None
