"""Phrases: spans of tokens with attributes, the lexicon that gives words their meaning, and what
the words of a phrase and its place in the clause tell of its template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from partita.core import Form
from partita.rules.domain import LexiconEntry
from partita.templates.slots import symbol
from partita.text.assertions import BELIEVING, SAYING
from partita.text.tokens import POSSESSIVE, lower_words

# noun: plural
NOUNS = """
man:men woman:women child:children foot:feet tooth:teeth goose:geese mouse:mice person:people
half:halves knife:knives life:lives wife:wives wolf:wolves leaf:leaves shelf:shelves loaf:loaves
thief:thieves calf:calves self:selves hoof:hooves wharf:wharves staff:staffs echo:echoes
hero:heroes potato:potatoes tomato:tomatoes torpedo:torpedoes embargo:embargoes veto:vetoes
cargo:cargoes volcano:volcanoes mosquito:mosquitoes crisis:crises analysis:analyses thesis:theses
oasis:oases datum:data medium:media phenomenon:phenomena criterion:criteria aircraft:aircraft
spacecraft:spacecraft sheep:sheep fish:fish deer:deer series:series species:species corps:corps
means:means headquarters:headquarters barracks:barracks works:works crossroads:crossroads
ordnance:ordnance personnel:personnel bus:buses gas:gases quiz:quizzes lens:lenses index:indexes
"""

# infinitive: past participle [third person]; "past" alone where the participle is the same
VERBS = """
be:was/were:been:is/am/are have:had:had:has do:did:done:does go:went:gone:goes say:said make:made
get:got:got/gotten take:took:taken come:came:come see:saw:seen know:knew:known give:gave:given
find:found think:thought tell:told become:became:become show:showed:shown leave:left feel:felt
put:put bring:brought begin:began:begun keep:kept hold:held write:wrote:written stand:stood
hear:heard let:let mean:meant set:set meet:met run:ran:run pay:paid sit:sat speak:spoke:spoken
lie:lay:lain lead:led read:read grow:grew:grown lose:lost fall:fell:fallen send:sent build:built
understand:understood draw:drew:drawn break:broke:broken spend:spent cut:cut rise:rose:risen
drive:drove:driven buy:bought wear:wore:worn choose:chose:chosen seek:sought throw:threw:thrown
catch:caught deal:dealt win:won forget:forgot:forgotten lay:laid sell:sold fight:fought
bear:bore:borne teach:taught eat:ate:eaten sing:sang:sung strike:struck hang:hung
shake:shook:shaken ride:rode:ridden feed:fed shoot:shot drink:drank:drunk hit:hit
arise:arose:arisen fly:flew:flown spread:spread sleep:slept cost:cost beat:beat:beaten light:lit
bind:bound cast:cast hide:hid:hidden swing:swung steal:stole:stolen wake:woke:woken swim:swam:swum
sweep:swept split:split slide:slid shut:shut sink:sank:sunk bend:bent blow:blew:blown burst:burst
dig:dug flee:fled freeze:froze:frozen hurt:hurt kneel:knelt lend:lent overrun:overran:overrun
oversee:oversaw:overseen quit:quit rid:rid ring:rang:rung shed:shed shine:shone
shrink:shrank:shrunk spin:spun spring:sprang:sprung stick:stuck sting:stung swear:swore:sworn
tear:tore:torn undergo:underwent:undergone undertake:undertook:undertaken
withdraw:withdrew:withdrawn withhold:withheld rebuild:rebuilt overthrow:overthrew:overthrown
foresee:foresaw:foreseen mislead:misled outfit:outfitted refit:refitted bleed:bled breed:bred
creep:crept cling:clung grind:ground weave:wove:woven weep:wept wind:wound
"""

# regular verbs whose infinitive the rules would not derive from their forms
REGULAR = """
complete require acquire compete delete promote devote quote vote operate die tie patrol control
admit permit commit submit refer occur transfer equip inspire expire retire desire hire explore
restore ignore score shore bore adore secure ensure assure insure endure procure obscure measure
pressure deplete invite unite ignite excite despite recite emplace enforce reinforce surprise
compile profile escape shape scrape scope cope elope develop envelop gallop benefit profit target
market budget exit edit credit inherit prohibit exhibit inhabit limit orbit edit audit interpret
blanket bracket rocket
"""


def irregular_plurals() -> dict[str, str]:
    """Return the plural of each irregular noun."""
    pairs = (both.partition(":") for both in NOUNS.split())
    return {noun: plural for noun, _, plural in pairs}


def irregular_verbs() -> dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Return past tense, participles and irregular present of each irregular verb."""
    verbs = {}
    for line in VERBS.split():
        verb, past, *rest = line.split(":")
        participle = rest[0] if rest else past
        present = rest[1].split("/") if len(rest) > 1 else []
        verbs[verb] = (tuple(past.split("/")), tuple(participle.split("/")), tuple(present))
    return verbs


_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")
_Y = re.compile(r"[^aeiou]y$")
_DOUBLED = re.compile(r"[^aeiou]?[^aeiou][aeiou]([bdgklmnprt])$")
_TWIN = re.compile(r"([bdgmnprt])\1$")
# Stems that a silent e has been taken from: stor-ed, locat-ed, mov-ed, charg-ed.
_SILENT = re.compile(
    r"(?:[^aeiou][aeiou][bcdgkmprtvz]|[aeiou]{2}[vsz]|at|it|ut|iz|is|us|os|as|ys|iv|ov|uc|ic|ac|ag|ug|dg|rg"
    r"|lg|ng|nc|rc|rs|ns|ps|ls|rv|lv|ur|ar|ir|or|[bcdfgkpstz]l|u|e)$"
)
_FINAL = re.compile(r"(?:[^aeiou](?:er|en|on|or|it|et|el|il|op|ow|om|ep|ic)|at|ew|ow|oy|ay)$")


@dataclass(slots=True)
class WordForms:
    """Irregular words, and the lemmas of known forms."""

    plurals: Mapping[str, str] = field(default_factory=irregular_plurals)
    verbs: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=irregular_verbs
    )
    nouns_by_form: dict[str, str] = field(default_factory=dict)
    verbs_by_form: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nouns_by_form.update({form: noun for noun, form in self.plurals.items()})
        self.know(self.verbs)
        self.know(REGULAR.split())

    def know(self, verbs: Iterable[str]) -> None:
        """Map the forms of these verbs back to them."""
        for verb in verbs:
            for form, _ in self.conjugated(verb):
                self.verbs_by_form.setdefault(form, verb)

    def plural(self, noun: str) -> str:
        """Return the plural; of several words that of the last."""
        start, space, last = noun.rpartition(" ")
        return f"{start}{space}{self._plural(last)}"

    def _plural(self, noun: str) -> str:
        if noun in self.plurals:
            return self.plurals[noun]
        if noun.endswith("man") and len(noun) > 4:
            return f"{noun[:-3]}men"
        return f"{noun[:-1]}ies" if _Y.search(noun) else f"{noun}{_s(noun)}"

    def conjugated(self, verb: str) -> Iterator[tuple[str, str]]:
        """Yield the forms of a verb with their tags; of several words the first is conjugated."""
        first, space, rest = verb.partition(" ")
        for form, tag in self._conjugated(first):
            yield f"{form}{space}{rest}", tag

    def _conjugated(self, verb: str) -> Iterator[tuple[str, str]]:
        past, participle, present = self.verbs.get(verb, ((), (), ()))
        yield verb, "VB"
        third = f"{verb[:-1]}ies" if _Y.search(verb) else f"{verb}{_s(verb)}"
        yield from ((form, "VBZ") for form in present or (third,))
        yield _stem(verb, "ing"), "VBG"
        regular = _stem(verb, "ed")
        yield from ((form, "VBD") for form in past or (regular,))
        yield from ((form, "VBN") for form in participle or (regular,))

    def lemma(self, word: str, tag: str) -> str:
        """Return the singular or infinitive of a word in lower case, according to its tag."""
        if tag in ("NNS", "NNPS"):
            return self.nouns_by_form.get(word) or _singular(word)
        if not tag.startswith("V") and tag != "MD":
            return word
        if verb := self.verbs_by_form.get(word):
            return verb
        if tag == "VBZ" and word.endswith("s"):
            return _singular(word)
        if word.endswith("ied") and len(word) > 4:
            return f"{word[:-3]}y"
        ending = {"VBG": "ing", "VBD": "ed", "VBN": "ed"}.get(tag, "")
        if ending and word.endswith(ending) and len(word) > len(ending) + 1:
            return _infinitive(word[: -len(ending)])
        return word


def _s(word: str) -> str:
    return "es" if _HISSING.search(word) else "s"


def _stem(verb: str, ending: str) -> str:
    if verb.endswith("ie") and ending == "ing":
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not (ending == "ing" and verb.endswith(("ee", "oe", "ye"))):
        return f"{verb[:-1]}{ending}"
    if _Y.search(verb) and ending == "ed":
        return f"{verb[:-1]}ied"
    short = _DOUBLED.fullmatch(verb)
    return f"{verb}{short[1] if short else ''}{ending}"


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if re.search(r"(?:ss|sh|ch|x|zz)es$", word):
        return word[:-2]
    if word.endswith("men") and len(word) > 4:
        return f"{word[:-3]}man"
    return word if re.search(r"(?:ss|us|is|[^s])$", word) or len(word) < 3 else word[:-1]


def _infinitive(stem: str) -> str:
    if _TWIN.search(stem):
        return stem[:-1]
    if _DOUBLED.fullmatch(stem):  # a short stem would have been doubled: hop-ed is of hope
        return f"{stem}e"
    if _FINAL.search(stem) and not stem.endswith(("at", "ic")):
        return stem
    return (
        f"{stem}e" if _SILENT.search(stem) and not re.search(r"[aeiou]{2}[^vsz]$", stem) else stem
    )


# The tags that a tag of the lexicon covers.
_COVERED = {
    "NN": ("NN", "NNS", "NNP", "NNPS"),
    "NNP": ("NNP", "NNPS"),
    "JJ": ("JJ", "JJR", "JJS"),
    "RB": ("RB", "RBR", "RBS"),
    "VB": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
}


_NOUNS = frozenset(_COVERED["NN"])
_MISTAKEN = frozenset({"JJ", "JJR", "JJS", "VB", "VBP", "VBN", "RB", "FW", "UH", "CD", "IN"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of one form of a word, if the tagger assigns one of the tags."""

    lemma: str
    tag: str  # of this form, if the tags of the words leave it open
    tags: frozenset[str]  # allowed tags; any tag if empty
    types: tuple[str, ...]
    says: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Multiword:
    """A multiword: the words after its first one, in lower case, and its meanings."""

    rest: tuple[str, ...]
    meanings: tuple[Meaning, ...]


@dataclass(slots=True)
class RuleLexicon:
    """Meanings by lower-case word; multiwords by their first two words, longest first."""

    forms: WordForms
    words: dict[str, list[Meaning]] = field(default_factory=dict)
    longer: dict[str, dict[str, list[Multiword]]] = field(default_factory=dict)
    retags: bool = False

    @classmethod
    def of(
        cls, entries: Iterable[LexiconEntry], verbs: Iterable[str], retags: bool = False
    ) -> RuleLexicon:
        forms = WordForms()
        # of two verbs with one form the longer: "gunned" is listed beside "gun"
        forms.know(sorted(verbs, key=lambda verb: (-len(verb), verb)))
        lexicon = cls(forms, retags=retags)
        multiwords: dict[tuple[str, ...], list[Meaning]] = {}
        for entry in entries:
            for form, meaning in _meanings(entry, forms):
                for pieces in {lower_words(form): None, lower_words(form.upper()): None}:
                    if len(pieces) == 1:
                        lexicon.words.setdefault(pieces[0], []).append(meaning)
                    elif pieces:
                        multiwords.setdefault(pieces, []).append(meaning)
        for pieces in sorted(multiwords, key=len, reverse=True):
            longer = Multiword(pieces[1:], tuple(multiwords[pieces]))
            lexicon.longer.setdefault(pieces[0], {}).setdefault(pieces[1], []).append(longer)
        return lexicon

    def tag(self, word: str, tag: str) -> str:
        """Return the tag of a word, corrected if the lexicon knows it as a noun only.

        A tagger may take "frigate" before "left" for an adjective, and "VANS" for the name of one.
        """
        meanings = self.words.get(word) if self.retags else None
        if not meanings or any(not m.tags or m.tags.isdisjoint(_NOUNS) for m in meanings):
            return tag
        plural = all(meaning.tag == "NNS" for meaning in meanings)
        if tag in ("NN", "NNP") and plural:
            return f"{tag[:3]}S"
        only = all(meaning.tags <= _NOUNS for meaning in meanings)
        return ("NNS" if plural else "NN") if only and tag in _MISTAKEN else tag

    def meanings(self, word: str, tag: str) -> list[Meaning]:
        """Return the meanings of a word with this tag."""
        meanings = self.words.get(word, ())
        return [meaning for meaning in meanings if not meaning.tags or tag in meaning.tags]


def combine_meanings(meanings: Iterable[Meaning]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the types and slots of all meanings; the first meaning wins."""
    types: dict[str, None] = {}
    says: dict[str, Any] = {}
    for meaning in meanings:
        types.update(dict.fromkeys(meaning.types))
        for slot, value in meaning.says.items():
            says.setdefault(slot, value)
    return tuple(types), says


def _meanings(entry: LexiconEntry, forms: WordForms) -> Iterator[tuple[str, Meaning]]:
    """Yield every form of every word of the entry."""
    tags = frozenset(tag for listed in entry.tags for tag in _COVERED.get(listed, (listed,)))
    for word, stands_for in entry.words.items():
        lemma = word.lower()
        says = {slot: _slot_value(value, stands_for or word) for slot, value in entry.says.items()}
        for form, tag in _forms(lemma, entry, forms):
            yield form, Meaning(lemma, tag, tags, entry.types, says)


def _slot_value(value: object, word: str) -> object:
    if isinstance(value, str):
        return symbol(word) if value == "$word" else value
    return (
        tuple(_slot_value(member, word) for member in value) if isinstance(value, tuple) else value
    )


def _forms(lemma: str, entry: LexiconEntry, forms: WordForms) -> Iterator[tuple[str, str]]:
    """Yield the forms of a lemma with their tags, each form once."""
    tags: dict[str, str] = {lemma: entry.tags[0] if entry.tags else ""}
    listed = entry.forms.get(lemma)
    if listed is not None:
        tag = "NNS" if "NN" in entry.tags else tags[lemma]
        for form in listed:
            tags.setdefault(form.lower(), tag)
    elif "NN" in entry.tags:
        tags.setdefault(forms.plural(lemma), "NNS")
    if "VB" in entry.tags and listed is None:
        for form, tag in forms.conjugated(lemma):
            tags.setdefault(form, tag)
    yield from tags.items()


Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """The tokens from `first` to `last`, both included; a word has no parts and no rule."""

    kind: str
    first: int
    last: int
    attributes: Attributes
    parts: tuple[Phrase, ...] = ()
    rule: str = ""

    @property
    def text(self) -> str:
        return str(self.attributes.get("text", ""))


@dataclass(slots=True, eq=False)
class SharedPhrase:
    """The attributes of a phrase, with the character that each phase reads for it.

    All occurrences of a word with the same tag in the same kind of region share one. A phrase
    built by a rule also has its parts.
    """

    attributes: dict[str, Any]
    characters: list[str]
    rule: str = ""
    parts: tuple[SharedPhrase, ...] = ()
    offsets: tuple[int, ...] = ()  # first tokens of the parts, relative to the phrase
    longer: Mapping[str, Sequence[Multiword]] | None = (
        None  # multiwords that begin with it, by second word
    )

    def phrase(self, first: int, last: int) -> Phrase:
        """Return the phrase at these tokens."""
        starts = [first + offset for offset in self.offsets]
        ends = [*(start - 1 for start in starts[1:]), last]
        parts = tuple(p.phrase(a, b) for p, a, b in zip(self.parts, starts, ends, strict=False))
        return Phrase(self.attributes["kind"], first, last, self.attributes, parts, self.rule)


def has_value(value: object) -> bool:
    """Return whether an attribute has a value: not missing, false or empty."""
    return value is not None and value is not False and value != "" and value != ()


PERSONS = {"first": "1", "second": "2", "third": "3"}
GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masc"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "fem"),
    **dict.fromkeys(("it", "its", "itself"), "neut"),
}


def phrase_head(phrase: Phrase) -> str:
    """Return the lemma of the head; for a multiword its last word.

    In "depot 14" and "warehouse b" the first word is the head, and so it is in the name of a
    person: GUM has it so, from which the pair parameters that Partita ships were learned.
    """
    attributes = phrase.attributes
    if attributes.get("form") == "name" and "PERSON" in attributes.get("namesort", ()):
        return str(attributes.get("name") or phrase.text).lower().split()[0].rstrip(".")
    words = str(attributes.get("lemma") or attributes.get("head") or phrase.text).lower().split()
    if not words:
        return ""
    numbered = len(words) > 1 and (len(words[-1]) == 1 or words[-1].isdecimal())
    return words[0 if numbered else -1].rstrip(".")


def phrase_form(phrase: Phrase) -> Form:
    form = phrase.attributes.get("form", "")
    return cast(Form, form) if form in get_args(Form) else ""


def phrase_number(phrase: Phrase) -> int | str | None:
    """Return a count, or else singular or plural if the group shows it."""
    number = str(phrase.attributes.get("number", ""))
    if number.isdecimal() and len(number) < 10:
        return "singular" if number == "1" else int(number)
    if number == "SINGULAR":
        return "singular"
    return "plural" if number else None


def phrase_modifiers(phrase: Phrase) -> list[str]:
    """Return the modifiers of the head, with the earlier words of a multiword."""
    attributes = phrase.attributes
    value = attributes.get("mods", ())
    mods = [value] if isinstance(value, str) else list(value)
    compound = str(attributes.get("lemma", "")).lower().split()[:-1]
    words = [word for mod in (*mods, *compound) for word in str(mod).lower().split()]
    return [word for word in dict.fromkeys(words) if word[:1].isalnum() and word not in _JOINING]


_JOINING = frozenset({"and", "or"})


def context_of(phrase: Phrase, words: Sequence[str]) -> dict[str, Any]:
    """Return the context of a template that follows from its own words."""
    pronoun = phrase.attributes.get("form") == "pronoun"
    lemma = words[-1] if words else ""
    return {
        "MODIFIERS": phrase_modifiers(phrase),
        "WORDS": list(words),
        "DETERMINER": str(phrase.attributes.get("det", "")),
        "PERSON": PERSONS.get(str(phrase.attributes.get("person", "")), "3") if pronoun else "",
        "GENDER": GENDERS.get(lemma, "") if pronoun else "",
        "REFLEXIVE": "yes" if pronoun and lemma.endswith(("self", "selves")) else "",
    }


OPENING = frozenset({",", "(", "-", "--", "–", "—"})
CLOSING = OPENING | {")", ".", ";", ":"}
COPULAS = frozenset({"be", "become", "remain"})
HOLDING = frozenset({"have", "contain", "include", "comprise", "consist", "hold", "house"})
SUBORDINATING = frozenset(
    ["that", "whether", "if", "because", "although", "though", "unless", "while", "whereas"]
)
EMBEDDING = SAYING | BELIEVING | {"know", "find"}  # their object may be a clause
BETWEEN = frozenset({"when", "location", "time", "date"})  # allowed before the verb
WAYS = frozenset({"bearing", "measure"})  # allowed before a preposition


@dataclass(frozen=True, slots=True)
class PhraseRelations:
    """The role of a phrase, and the positions of the phrases it is related to (-1: none)."""

    role: str
    apposition: int
    copula: int
    whole: int


def phrase_relations(phrases: Sequence[Attributes], n: int) -> PhraseRelations:
    """Return the relations of the noun group at a position."""
    apposition = _apposition(phrases, n)
    role = _role(phrases, n, apposition)
    return PhraseRelations(role, apposition, _copula(phrases, n), _whole(phrases, n))


def _whole(phrases: Sequence[Attributes], n: int) -> int:
    """Return what a group is a part of, or -1.

    Examples: "the depot's tanks", "hangars of the base", "the base has three hangars".
    """
    before, beside = _at(phrases, n - 1), _at(phrases, n - 2)
    if _text(before) in POSSESSIVE and beside.get("kind") == "ng":
        return n - 2
    if _at(phrases, n).get("form") == "pronoun" and (holder := _binder(phrases, n)) >= 0:
        return holder
    if _text(_at(phrases, n + 1)).lower() == "of" and _at(phrases, n + 2).get("kind") == "ng":
        return n + 2
    at = n - 2 if _text(before).lower() == "of" else n - 1
    verb, subject = _at(phrases, at), _at(phrases, at - 1)
    holds = verb.get("kind") == "vg" and verb.get("lemma") in HOLDING
    return at - 1 if holds and subject.get("kind") == "ng" else -1


def _binder(phrases: Sequence[Attributes], n: int) -> int:
    """Return the group that a pronoun cannot be: what stands before its preposition, or -1.

    Example: "a warehouse 2 km south of it" is not "it".
    """
    if not _preposition(_at(phrases, n - 1)) or _text(_at(phrases, n)).lower().endswith(
        ("self", "selves")
    ):
        return -1
    at = n - 1
    while _preposition(_at(phrases, at)) or _at(phrases, at).get("kind") in WAYS:
        at -= 1
    at -= _at(phrases, at).get("lemma") in COPULAS  # "another depot is near it"
    return at if _at(phrases, at).get("kind") == "ng" else -1


def _at(phrases: Sequence[Attributes], n: int) -> Attributes:
    return phrases[n] if 0 <= n < len(phrases) else {}


def _text(phrase: Attributes) -> str:
    return str(phrase.get("text", ""))


def _role(phrases: Sequence[Attributes], n: int, apposition: int) -> str:
    if _text(_at(phrases, n + 1)) in POSSESSIVE:
        return "possessive"
    if apposition >= 0:
        return "apposition"
    before = _at(phrases, n - 1)
    if _preposition(before):
        return "oblique"
    if before.get("kind") == "vg":
        return "other" if before.get("lemma") in COPULAS else "object"
    return "subject" if _followed_by_verb(phrases, n) else "other"


def _preposition(phrase: Attributes) -> bool:
    kind = phrase.get("kind")
    if kind == "word":
        return phrase.get("tag") in ("IN", "TO") and phrase.get("word") not in SUBORDINATING
    return kind in ("bearing", "location")


def _followed_by_verb(phrases: Sequence[Attributes], n: int) -> bool:
    """Return whether a finite verb follows, after prepositional phrases, times and adverbs."""
    at = n + 1
    while phrase := _at(phrases, at):
        if phrase["kind"] == "vg":
            return bool(phrase.get("form", "finite") == "finite")
        if _preposition(phrase) and _at(phrases, at + 1).get("kind") == "ng":
            at += 1
        elif phrase["kind"] not in BETWEEN and not _adverb(phrase):
            return False
        at += 1
    return False


def _adverb(phrase: Attributes) -> bool:
    return phrase.get("kind") == "word" and str(phrase.get("tag", "")).startswith("RB")


def _apposition(phrases: Sequence[Attributes], n: int) -> int:
    """Return the group that this one describes, or the group that this name is of, or -1.

    Examples: "Landers, the air base, …", "a Danish goalkeeper, Jens Holt, …", "the other bridge, a
    road bridge, …". A group before another conjunct is part of a list instead: "Landers, a depot,
    and a bridge".
    """
    name, mark, group = (_at(phrases, n + k) for k in (-2, -1, 0))
    if name.get("kind") != "ng" or _text(mark) not in OPENING or not mark:
        return -1
    listed = _text(_at(phrases, n + 2)).lower() in ("and", "or", "&")
    described = ("definite", "indefinite")
    forms = name.get("form"), group.get("form")
    heads = (str(each.get("lemma", "")).split()[-1:] for each in (name, group))
    again = forms == described and next(heads) == next(heads)
    describes = again or ("name" in forms and (forms[0] in described or forms[1] in described))
    return n - 2 if _closed(phrases, n) and describes and not listed and _agree(group, name) else -1


def _copula(phrases: Sequence[Attributes], n: int) -> int:
    """Return the subject of "the facility is an ammunition depot", or -1.

    What is denied is excluded, but what corrects it is not: "is not a tank but a truck".
    """
    corrects = _text(_at(phrases, n - 1)).lower() == "but"
    subject = subject_of(phrases, n - 2 if corrects else n)
    verb = next((p for p in reversed(phrases[max(subject, 0) : n]) if p.get("kind") == "vg"), {})
    says = bool(verb.get("negated")) == corrects
    return subject if subject >= 0 and says and _agree(phrases[n], phrases[subject]) else -1


def subject_of(phrases: Sequence[Attributes], n: int) -> int:
    """Return the subject of which the group at a position is said by a copula, or -1.

    Between them only adverbs, verbs before "to be", and after the subject prepositional phrases
    and a relative clause may stand: "the site near Halvik is probably a radar station", "is
    believed to be one", "the vehicle that left Arden is a tank", "the vehicle seen there is one".
    """
    at = _before_adverbs(phrases, n - 1)
    verb = _at(phrases, at)
    if verb.get("kind") != "vg" or verb.get("lemma") not in COPULAS:
        return -1
    at = _before_adverbs(phrases, at - 1)
    if verb.get("form") == "infinitive" and _at(phrases, at).get("kind") == "vg":
        at = _before_adverbs(phrases, at - 1)
    at = _before_clause(phrases, at)
    subject = _at(phrases, at)
    if subject.get("kind") != "ng" or subject.get("person") in ("there", "relative"):
        return -1
    return at


def described_by(phrases: Sequence[Attributes], n: int) -> int:
    """Return what the group at a position is said of after a comma and an adverb, or -1.

    Examples: "the building, formerly a school, …", "the site (not a depot) …".
    """
    at = n - 2 if _text(_at(phrases, n - 1)).lower() == "once" else _before_adverbs(phrases, n - 1)
    if at == n - 1 or _text(_at(phrases, at)) not in OPENING or not _closed(phrases, n):
        return -1
    at = _before_modifiers(phrases, at - 1)
    return at if _at(phrases, at).get("kind") == "ng" else -1


def _closed(phrases: Sequence[Attributes], n: int) -> bool:
    """Return whether an aside ends behind the group at a position."""
    after = _at(phrases, n + 1)
    return not after or _text(after) in CLOSING or _preposition(after)


def _before_clause(phrases: Sequence[Attributes], n: int) -> int:
    """Return the position before prepositional phrases, times, a relative clause or an aside."""
    closed = _before_comma(phrases, n)
    if closed < n and _at(phrases, closed).get("form") in ("definite", "indefinite"):
        opening = _before_adverbs(phrases, closed - 1)
        if _text(_at(phrases, opening)) == "," and opening > 0:
            return _before_modifiers(phrases, opening - 1)
    at = _before_modifiers(phrases, closed)
    if _relative(_at(phrases, at - 2)) and _at(phrases, at - 1).get("lemma") not in EMBEDDING:
        at -= 1  # behind the clause's object
    verb = _at(phrases, at)
    if verb.get("kind") == "vg" and _relative(_at(phrases, at - 1)):
        return _before_modifiers(phrases, _before_comma(phrases, at - 2))
    if closed < n:
        return n
    reduced = verb.get("kind") == "vg" and verb.get("form") == "participle"
    return _before_modifiers(phrases, at - 1) if reduced else at


def _before_comma(phrases: Sequence[Attributes], n: int) -> int:
    return n - 1 if _text(_at(phrases, n)) == "," else n


def _before_modifiers(phrases: Sequence[Attributes], n: int) -> int:
    while True:
        if _at(phrases, n).get("kind") == "ng" and _preposition(_at(phrases, n - 1)):
            n -= 2
        elif _at(phrases, n).get("kind") in BETWEEN:
            n -= 1
        else:
            return n


def _relative(phrase: Attributes) -> bool:
    return phrase.get("person") == "relative"


def _before_adverbs(phrases: Sequence[Attributes], n: int) -> int:
    while _adverb(_at(phrases, n)):
        n -= 1
    return n


def _agree(left: Attributes, right: Attributes) -> bool:
    return str(left.get("number", "")) == str(right.get("number", ""))
