"""The templates of a document as the joint model sees them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.core import IntArray, Template
from partita.text.given_names import share_by_ending, share_of_women
from partita.text.mentions import is_personal_title
from partita.text.words import WordTable, shipped_words

if TYPE_CHECKING:
    from partita.configurations.joint.features_kernels import Mentions
    from partita.text.encoder import Encoder


KIND_NUMBERS = {kind: n for n, kind in enumerate(code.KINDS)}


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


POSSESSIVES = word_set("my our your his her its their whose thy 's ’s")
ABSOLUTE = word_set("mine ours yours hers theirs")
DEICTICS = word_set("here there now then today yesterday tomorrow tonight where when ago once")
THIS = ("this", "that", "these", "those")
PRONOUNS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(word_set("i me my mine myself"), "i")
    | dict.fromkeys(word_set("we us our ours ourselves"), "we")
    | dict.fromkeys(word_set("you your yours yourself yourselves ye thou thee thy thine"), "you")
    | dict.fromkeys(word_set("he him his himself"), "he")
    | dict.fromkeys(word_set("she her hers herself"), "she")
    | dict.fromkeys(word_set("it its itself"), "it")
    | dict.fromkeys(word_set("they them their theirs themselves themself em"), "they")
    | dict.fromkeys(THIS, "demonstrative")
    | dict.fromkeys(
        word_set("who whom whose which what whatever whoever whichever where"), "question"
    )
    | dict.fromkeys(
        word_set(
            "something someone somebody anything anyone anybody everything everyone everybody "
            "nothing noone nobody none one some all both another each many few several any most "
            "other others enough much more"
        ),
        "indefinite pronoun",
    )
)
WOMEN = word_set(
    "woman girl mother mom mum wife daughter sister aunt grandmother queen princess lady mrs ms "
    "miss madam actress niece goddess nun bride girlfriend"
)
MEN = word_set(
    "man boy father dad husband son brother uncle grandfather king prince mr sir lord gentleman "
    "actor nephew god monk groom boyfriend guy"
)


def words_of(template: Template) -> list[str]:
    """Return the words of an expression in lower case."""
    words = template.context.get("WORDS")
    return [str(word) for word in words] if words else template.text.lower().split()


def _surface(template: Template, words: Sequence[str]) -> str:
    """Return the one word that an expression consists of, else its head."""
    return words[0] if len(words) == 1 else template.head.lower()


def kind_of(template: Template, words: Sequence[str]) -> int:
    """Return the number of the expression's kind in KINDS."""
    return KIND_NUMBERS[_pronoun(template, words) or _nominal(template, words)]


def _pronoun(template: Template, words: Sequence[str]) -> str:
    word, alone = _surface(template, words), len(words) == 1
    if template.form == "pronoun":
        return PRONOUNS.get(word) or PRONOUNS.get(template.head.lower(), "other pronoun")
    return PRONOUNS.get(word, "") if alone and template.form == "indefinite" else ""


def _nominal(template: Template, words: Sequence[str]) -> str:
    plural = "plural " if is_plural(template) else ""
    if _surface(template, words) in DEICTICS:
        return "deictic"
    if template.form == "name":
        return f"{plural}name"
    if template.form == "definite":
        return _definite(str(template.context.get("DETERMINER", "")), plural)
    if template.form == "indefinite":
        determiner = template.context.get("DETERMINER")
        return "a" if determiner in ("a", "an") else "other determiner"
    return "numeral" if template.head[:1].isdigit() else f"{plural}bare"


def _definite(determiner: str, plural: str) -> str:
    if determiner == "the":
        return f"{plural}the"
    return "this" if determiner in THIS else "possessed"


def is_plural(template: Template) -> bool:
    number = template.number
    return number == "plural" or (isinstance(number, int) and number != 1)


PRONOUN_GENDERS = {code.HE: code.MASCULINE, code.SHE: code.FEMININE, code.IT: code.NEUTER}
SLOT_GENDERS = {"masc": code.MASCULINE, "fem": code.FEMININE, "neut": code.NEUTER}


def _gender(template: Template, words: Sequence[str], kind: int) -> int:
    """Return a bit by the pronoun, the slot, or a noun or title for men or women; else 0."""
    gender = PRONOUN_GENDERS.get(kind) or SLOT_GENDERS.get(str(template.context.get("GENDER")))
    if gender or kind <= code.LAST_PRONOUN or template.type not in ("person", "animal", ""):
        return gender or 0
    named = {template.head.lower(), words[0].rstrip(".") if words else ""}
    if named & WOMEN or named & MEN:
        return code.FEMININE if named & WOMEN else code.MASCULINE
    if template.form != "name" or template.type == "animal":
        return 0
    return _name_gender(str(template.slots.get("NAME", "")).split() or words)


def _name_gender(words: Sequence[str]) -> int:
    """Return the gender of a name by its first word, 0 if neither table tells it."""
    if not words:
        return 0
    listed, ending, vector = FIRST_OF_SEVERAL if len(words) > 1 else ALONE
    women, side = share_of_women(words[0]), vector * name_side(words[0].lower())
    by_letters = ending * _log_odds(share_by_ending(words[0]))
    side += by_letters if women is None else listed * _log_odds(women)
    if abs(side) < TELLING:
        return 0
    if len(words) > 1:
        return code.FEMALE_NAME if side > 0 else code.MALE_NAME
    return code.FEMALE_ALONE if side > 0 else code.MALE_ALONE


def _log_odds(share: float) -> float:
    return math.log(share / (1.0 - share))


# Weights of a listed name, an ending and the vector, fitted to the answers of GAP development, and
# the least log-odds that are used.
FIRST_OF_SEVERAL, ALONE, TELLING = (1.2, 0.4, 15.0), (0.4, 0.2, 5.0), 1.0
FEMALE, MALE = ("she", "her", "mother", "daughter"), ("he", "his", "father", "son")


@lru_cache(maxsize=1)
def _female_direction() -> NDArray[np.float64]:
    table = shipped_words()
    female, male = (
        table.vectors[[table.find(word) for word in words]].sum(axis=0, dtype=np.float64)
        for words in (FEMALE, MALE)
    )
    direction: NDArray[np.float64] = (female - male) / np.sqrt(((female - male) ** 2).sum())
    return direction


def name_side(word: str) -> float:
    """Return how much nearer a word is to words for women than to those for men."""
    table = shipped_words()
    row = table.find(word)
    return float(table.vectors[row].astype(np.float64) @ _female_direction()) if row >= 0 else 0.0


STOP = word_set(
    "the a an this that these those 's ’s my our your his her its their of in on at to for and or "
    "with by from as some any all each every no another"
)
REFLEXIVE = re.compile(r".+sel(f|ves)")
RELATIVE = word_set("that which who whose where")
PREPOSITIONS = word_set("in on at to for from with by about between")
STEM, HEAD_LETTERS = 5, 3  # letters that make a stem, and that find the head among the words
LONGEST, MOST_MODIFIERS = 8, 3
COMPANIES = word_set("corp corp. inc inc. ltd ltd. co. plc llc gmbh")  # "the company" has its word
PARTITIVES = word_set(
    "one two three four five some many most all both each few several none any half part number "
    "group lot lots kind type sort set series pair couple majority minority rest variety amount "
    "piece bit percent % portion dozen dozens hundred hundreds thousand thousands million range "
    "list array host third quarter remainder much more another either neither handful"
)


@dataclass(frozen=True, slots=True, eq=False)
class JointColumns:
    """`order` is the order of decisions, which is that of the mentions."""

    order: IntArray
    mentions: Mentions


def joint_columns(
    templates: Sequence[Template],
    lexicon: Mapping[str, int],
    incompatible: NDArray[np.bool_] | None = None,
    encoder: Encoder | None = None,
) -> JointColumns:
    """Return the arrays that the joint model reads of a document, lexemes as numbers.

    With an encoder, its vectors tell how similar expressions are.
    """
    from partita.configurations.joint.features_kernels import Mentions

    order = sorted(range(len(templates)), key=lambda n: (templates[n].start, templates[n].end))
    ordered = as_named([templates[n] for n in order])
    numbers: dict[str, int] = {}
    vocabulary: dict[str, int] = {"": 0}
    texts = _texts(ordered)
    attributes = _attributes(ordered, texts, lexicon, numbers, vocabulary)
    mentions = Mentions(
        attributes,
        np.array([type_shares(template) for template in ordered], dtype=np.int32).reshape(
            -1, code.S
        ),
        np.array([_strings(text, numbers) for text in texts], dtype=np.int64).reshape(-1, 4),
        _sets([[*text.content, text.head] if text.content else [] for text in texts], numbers),
        _sets([text.name for text in texts], numbers),
        _sets([[w for w in text.content if w[0].isdigit()] for text in texts], numbers),
        _sets([_modifiers(template) for template in ordered], numbers),
        _linked_templates(ordered),
        np.array([0, *rarities_of(list(numbers))], dtype=np.int64),
        kinship(tuple(vocabulary)),
        _phrases(texts)
        if encoder is None
        else encoder.vectors([" ".join(text.words) if text.content else "" for text in texts]),
        np.zeros((0, 0), np.bool_) if incompatible is None else incompatible[np.ix_(order, order)],
    )
    return JointColumns(np.array(order, dtype=np.int64), mentions)


OWN = frozenset(
    {"PARAGRAPH", "PARENT", "QUOTE", "QUESTION", "ROLE", "GOVERNOR", "HEAD_SPAN", "SYNTAX"}
)
SAID_WORDS = frozenset(
    {"WORDS", "MODIFIERS", "GENDER", "PERSON", "SORT_PROBABILITIES", "DETERMINER"}
)


def as_named(templates: Sequence[Template]) -> list[Template]:
    """Return templates in which *I* and *you* have the words of who is known to be meant.

    What a mention is in its own sentence (OWN and the syntax) stays.
    """
    by_id = {template.id: template for template in templates}
    named = []
    for template in templates:
        who = by_id.get(str(template.context.get("SPOKEN_BY", "")))
        if who is not None and who is not template:
            kept = {key: value for key, value in template.context.items() if key in OWN}
            words = {key: value for key, value in who.context.items() if key in SAID_WORDS}
            template = replace(
                template, text=who.text, head=who.head, form=who.form, slots=who.slots,
                number=who.number, type=who.type, context=words | kept,
            )  # fmt: skip
        named.append(template)
    return named


def type_shares(template: Template) -> list[int]:
    """Return the probability of each type in thousandths; all 0 if nothing is known."""
    shares = template.context.get("SORT_PROBABILITIES")
    if shares is None:
        shares = {template.type: 1.0} if template.type in code.TYPES[1:] else {}
    return [0, *(round(code.UNIT * float(shares.get(name, 0.0))) for name in code.TYPES[1:])]


@dataclass(frozen=True, slots=True)
class _Text:
    """The words of an expression; `content` are the informative ones, none for a pronoun.

    The head is repaired: a partitive ("one of the students") has the head of its whole, a
    coordination the heads of all that it joins; `parts` has bits for the two.
    """

    words: list[str]
    kind: int
    head: str
    parts: int
    content: list[str]
    name: list[str]


def _is_personal(template: Template, name: Sequence[str]) -> bool:
    """Return whether a name has a given name or an initial before another, or "Mr" and the like."""
    first = name[0] if name else ""
    title = str(template.slots.get("TITLE", ""))
    if len(name) > 1 and (len(first) == 1 or share_of_women(first) is not None):
        return True
    return bool(name) and is_personal_title(title)


def _texts(templates: Sequence[Template]) -> list[_Text]:
    """Return the words of each expression."""
    inner: dict[str, list[tuple[Template, list[str]]]] = {}
    words = [words_of(template) for template in templates]
    names = _names(templates)
    for template, own in zip(templates, words, strict=True):
        inner.setdefault(str(template.context.get("PARENT", "")), []).append((template, own))
    return [
        _text(template, own, inner.get(template.id, ()), names.get(template.id, ""))
        for template, own in zip(templates, words, strict=True)
    ]


def _names(templates: Sequence[Template]) -> dict[str, str]:
    """Return the names of templates, a noun's from the name in apposition to it.

    So "its president" has it in "Its president, Ursula Stein, said".
    """
    own = {template.id: str(template.slots.get("NAME", "")) for template in templates}
    apposed = {
        str(template.context["APPOSITION_OF"]): own[template.id]
        for template in templates
        if template.form == "name" and "APPOSITION_OF" in template.context
    }
    nouns = {template.id for template in templates if template.form != "pronoun"}
    return {name: own[name] or apposed.get(name, "") if name in nouns else "" for name in own}


def _text(
    template: Template, words: list[str], inner: Sequence[tuple[Template, list[str]]], name: str
) -> _Text:
    kind, (head, parts) = kind_of(template, words), _head(template, words, inner)
    if kind <= code.LAST_PRONOUN:
        return _Text(words, kind, head, parts, [], [])
    telling = [word for word in words if _tells(word)]
    if template.form == "name":
        telling = ["company" if word in COMPANIES else word for word in telling]
    parts_of_name = [word.rstrip(".") for word in name.lower().split() if _tells(word)]
    return _Text(words, kind, head, parts, telling or [head or "?"], parts_of_name)


def _head(
    template: Template, words: Sequence[str], inner: Sequence[tuple[Template, list[str]]]
) -> tuple[str, int]:
    head = template.head.lower()
    conjuncts = [str(word) for word in template.context.get("CONJUNCTS", ())]
    if conjuncts:
        return "+".join(sorted([head, *conjuncts])), code.COORDINATED
    if head not in PARTITIVES or "of" not in words[:-1]:
        return head, 0
    after = " ".join(words[words.index("of") + 1 :])
    whole = [t.head.lower() for t, own in inner if after.startswith(" ".join(own))]
    return (whole[0] if whole else head), code.PARTITIVE


RARITIES = (7.0, 8.5, 10.0, 11.5, 13.0)  # of −log probability


def rarities_of(words: Sequence[str]) -> list[int]:
    """Return 1 for the commonest words to 6 for those that the table of words does not have."""
    table = shipped_words()
    rows = np.array([table.find(word) for word in words], dtype=np.int64)
    rarities = 1 + np.searchsorted(RARITIES, -table.frequencies[rows].astype(np.float64))
    listed: list[int] = np.where(rows < 0, len(RARITIES) + 1, rarities).tolist()
    return listed


COSINE_EDGES = (0.0, 0.15, 0.3, 0.45, 0.6)
TELLING_SENSES = 2


def kinship(words: Sequence[str]) -> NDArray[np.uint8]:
    """Return kin[later, earlier] for all pairs of words; see codes.COSINES."""
    table = shipped_words()
    rows = np.array([table.find(word) for word in words])
    known = rows >= 0
    vectors = table.vectors[rows]
    both = known[:, None] & known[None, :]
    cosines = np.einsum("ik,jk->ij", vectors, vectors)  # without threads, which cost more
    cosine = np.where(both, 1 + np.digitize(cosines, COSINE_EDGES), 0)
    senses = np.where(known[:, None], table.senses[rows], -1)
    relation = _relations(senses[:, :TELLING_SENSES], table)
    clusters = np.where(known, table.clusters[rows], 0)
    same = (clusters[:, None] == clusters[None, :]) & (clusters[:, None] > 0)
    _derivations(relation, rows, table)
    np.fill_diagonal(relation, code.SAME_WORD)
    np.fill_diagonal(cosine, code.COSINES - 1)
    kin: NDArray[np.uint8] = (cosine + code.COSINES * relation + code.SAME_CLUSTER * same).astype(
        np.uint8
    )
    return kin


def _relations(senses: IntArray, table: WordTable) -> IntArray:
    """Return relation[later, earlier] by the first senses of the words."""
    classes = np.where(senses[:, 0] >= 0, table.classes[senses[:, 0]], 0)
    both = (classes[:, None] > 0) & (classes[None, :] > 0)
    same = classes[:, None] == classes[None, :]
    relation = np.where(both, np.where(same, code.SAME_CLASS, code.OTHER_CLASS), code.NO_RELATION)
    holders: dict[int, list[int]] = {}
    for word, held in enumerate(senses.tolist()):
        for sense in held:
            if sense >= 0:
                holders.setdefault(sense, []).append(word)
    for word, held in enumerate(senses.tolist()):
        for sense in held:
            for above in table.ancestors(sense)[1:]:
                for other in holders.get(above, ()):
                    relation[word, other] = code.EARLIER_ABOVE
                    relation[other, word] = code.LATER_ABOVE
    for together in holders.values():
        if len(together) > 1:
            relation[np.ix_(together, together)] = code.SYNONYM
    return relation


def _derivations(relation: IntArray, rows: IntArray, table: WordTable) -> None:
    places = {row: n for n, row in enumerate(rows.tolist()) if row >= 0}
    for row, place in places.items():
        first, last = np.searchsorted(table.derivations[:, 0], [row, row + 1]).tolist()
        for other in table.derivations[first:last, 1].tolist():
            if other in places:
                relation[place, places[other]] = code.DERIVED


COMMON_WORDS = 1e-3  # probability from which a word counts half or less in a phrase


def _phrases(texts: Sequence[_Text]) -> NDArray[np.float32]:
    """Return the mean vector of each expression's words, rare words counting more; 0 for none."""
    table = shipped_words()
    phrases = np.zeros((len(texts), table.vectors.shape[1]), dtype=np.float32)
    rows = [[row for row in map(table.find, text.content) if row >= 0] for text in texts]
    known = [n for n, held in enumerate(rows) if held]
    if known:
        every = np.array([row for held in rows for row in held])
        weights = COMMON_WORDS / (COMMON_WORDS + np.exp(table.frequencies[every]))
        starts = np.cumsum([0] + [len(rows[n]) for n in known[:-1]])
        sums = np.add.reduceat(weights[:, None] * table.vectors[every], starts)
        phrases[known] = sums / np.maximum(1e-6, np.sqrt((sums**2).sum(axis=1, keepdims=True)))
    return phrases


def lexeme(template: Template) -> str:
    """Return the lexicon's word for an expression: its head, pronouns marked."""
    words = words_of(template)
    return _lexeme(template, words, kind_of(template, words))


def _lexeme(template: Template, words: Sequence[str], kind: int) -> str:
    if kind > code.LAST_PRONOUN:
        return template.head.lower()
    return "*" + _surface(template, words)


def _tells(word: str) -> bool:
    return word not in STOP and any(letter.isalnum() for letter in word)


def _number(word: str, numbers: dict[str, int]) -> int:
    return numbers.setdefault(word, len(numbers) + 1)


def _strings(text: _Text, numbers: dict[str, int]) -> tuple[int, int, int, int]:
    """Return text, stem of the head, initials and the text without spaces, each as a number."""
    if not text.content:
        return 0, 0, 0, 0
    initials = "".join(word[0] for word in text.content) if len(text.content) > 1 else ""
    return (
        _number("text " + " ".join(text.content), numbers),
        _number("stem " + text.head[:STEM], numbers) if len(text.head) >= STEM else 0,
        _number("compact " + initials, numbers) if initials else 0,
        _number("compact " + "".join(text.content), numbers),
    )


def _sets(texts: Sequence[Sequence[str]], numbers: dict[str, int]) -> tuple[IntArray, IntArray]:
    """Return ascending numbers of distinct words, one after another, and where each begins."""
    word_sets = [sorted({_number(word, numbers) for word in words}) for words in texts]
    begin = np.cumsum([0] + [len(words) for words in word_sets]).astype(np.int64)
    return begin, np.array([word for words in word_sets for word in words], dtype=np.int64)


def _attributes(
    templates: Sequence[Template],
    texts: Sequence[_Text],
    lexicon: Mapping[str, int],
    numbers: dict[str, int],
    vocabulary: dict[str, int],
) -> NDArray[np.int32]:
    attributes = np.zeros((len(templates), code.ATTRIBUTES), dtype=np.int32)
    counts = Counter(text.head for text in texts)
    for row, template, text in zip(attributes, templates, texts, strict=True):
        _refers(row, template, text)
        _stands(row, template)
        _means(row, template, text, vocabulary)
        row[code.HEAD], row[code.HEAD_COUNT] = _number(text.head, numbers), counts[text.head]
        row[code.PARTS], row[code.LENGTH] = text.parts, min(len(text.words), LONGEST)
        row[code.LEXEME_ID] = lexicon.get(_lexeme(template, text.words, text.kind), 0)
        row[code.MODIFIERS] = min(len(_modifiers(template)), MOST_MODIFIERS)
        row[code.COMPLEMENT] = _complement(template, text.words)
        row[code.FULL_NAME] = _is_personal(template, text.name)
    nominal = attributes[:, code.KIND] > code.LAST_PRONOUN
    attributes[:, code.RARITY] = np.where(nominal, rarities_of([text.head for text in texts]), 0)
    _parents(attributes, templates)
    _paragraphs(attributes)
    return attributes


TURNS = (0, 1, 3, 9)  # mentions of a paragraph


def _paragraphs(attributes: NDArray[np.int32]) -> None:
    """Fill how long the paragraph before is, and add whether it ends with a question."""
    mentions = Counter(attributes[:, code.PARAGRAPH].tolist())
    asks = dict(attributes[:, [code.PARAGRAPH, code.QUESTION]].tolist())
    for row in attributes:
        before = int(row[code.PARAGRAPH]) - 1
        row[code.TURN] = sum(mentions[before] > edge for edge in TURNS)
        row[code.QUESTION] += 2 * asks.get(before, 0)


def _refers(row: NDArray[np.int32], template: Template, text: _Text) -> None:
    """Fill how the expression refers."""
    kind, word = text.kind, _surface(template, text.words)
    pronoun = kind <= code.LAST_PRONOUN
    determiner = str(template.context.get("DETERMINER", ""))
    determiner = "possessor" if determiner in POSSESSIVES else determiner
    row[code.KIND], row[code.GENDER] = kind, _gender(template, text.words, kind)
    row[code.TYPE] = _place(template.type, code.TYPES)
    if template.number is not None and kind != code.YOU:
        row[code.NUMBER] = code.PLURAL if is_plural(template) else code.SINGULAR
    row[code.DETERMINER] = _place(determiner, code.DETERMINERS)
    row[code.POINTER] = _place(word, code.POINTING) if pronoun else 0
    reflexive = pronoun and REFLEXIVE.fullmatch(word) is not None
    row[code.FLAGS] = (word in POSSESSIVES or word in ABSOLUTE) + 2 * reflexive


def _means(
    row: NDArray[np.int32], template: Template, text: _Text, vocabulary: dict[str, int]
) -> None:
    """Fill what the table of words knows of the head, and of what governs it."""
    if text.kind > code.LAST_PRONOUN:
        row[code.NOUN_CLASS] = _noun_class(text.head)
        row[code.WORD] = vocabulary.setdefault(text.head, len(vocabulary))
    governor = str(template.context.get("GOVERNOR", ""))
    row[code.GOVERNOR] = vocabulary.setdefault(governor, len(vocabulary))
    row[code.CERTAINTY], row[code.PRESENCE] = _certainty(template), _presence(template)


def _noun_class(word: str) -> int:
    table = shipped_words()
    row = table.find(word)
    sense = int(table.senses[row, 0]) if row >= 0 else -1
    return int(table.classes[sense]) if sense >= 0 else 0


def _certainty(template: Template) -> int:
    """Return 0 for an unknown type, 1 to 4 for a predicted one, 5 for a certain one."""
    shares = template.context.get("SORT_PROBABILITIES")
    if shares is None:
        return 5 if template.type in code.TYPES[1:] else 0
    highest = max(map(float, shares.values()), default=0.0)
    return 1 + sum(highest > edge for edge in (0.5, 0.7, 0.9))


def _presence(template: Template) -> int:
    """Return 0 for a mention that was given, 1 to 5 by the probability of a predicted one."""
    probability = template.context.get("MENTION_PROBABILITY")
    if probability is None:
        return 0
    return 1 + sum(float(probability) > edge for edge in (0.4, 0.6, 0.8, 0.95))


NO_SYNTAX = (-1, -1, -1, 0, -1, -1, -1)


def _stands(row: NDArray[np.int32], template: Template) -> None:
    """Return where the expression stands."""
    row[code.ROLE] = _place(str(template.context.get("ROLE", "")), code.ROLES)
    row[code.SENTENCE], row[code.START], row[code.END] = (
        template.sentence,
        template.start,
        template.end,
    )
    row[code.PARAGRAPH] = template.context.get("PARAGRAPH", 0)
    row[code.QUOTE] = template.context.get("QUOTE", 0)
    row[code.QUESTION] = bool(template.context.get("QUESTION", False))
    syntax = template.context.get("SYNTAX", NO_SYNTAX)
    row[code.HEAD_AT : code.HEAD_AT + len(NO_SYNTAX)] = syntax


def _modifiers(template: Template) -> list[str]:
    return [str(word).lower() for word in template.context.get("MODIFIERS", ())]


COMPLEMENTS = (frozenset({""}), frozenset({"of"}), RELATIVE, PREPOSITIONS)


def _complement(template: Template, words: Sequence[str]) -> int:
    """Return what follows the head: nothing, "of", a clause, another preposition, other words."""
    begin = template.head.lower()[:HEAD_LETTERS]
    heads = [n for n, word in enumerate(words) if word[:HEAD_LETTERS] == begin]
    after = words[heads[-1] + 1 :] if heads else []
    first = next((word for word in after if word[:1].isalnum()), "")
    found = (n for n, openers in enumerate(COMPLEMENTS) if first in openers)
    return next(found, len(COMPLEMENTS))


def _place(value: str, among: Sequence[str]) -> int:
    return among.index(value) if value in among else 0


def _parents(attributes: NDArray[np.int32], templates: Sequence[Template]) -> None:
    """Return what contains an expression, and who possesses it; only longer ones contain."""
    places = {template.id: n for n, template in enumerate(templates)}
    attributes[:, code.PARENT] = attributes[:, code.OWNER] = -1
    for n, template in enumerate(templates):
        around = places.get(str(template.context.get("PARENT", "")), -1)
        if around < 0 or not _contains(templates[around], template):
            continue
        attributes[n, code.PARENT] = around
        possessive = template.context.get("ROLE") == "possessive"
        if possessive and around > n and templates[around].start == template.start:
            attributes[around, code.OWNER] = n


def _contains(outer: Template, inner: Template) -> bool:
    longer = outer.end - outer.start > inner.end - inner.start
    return longer and outer.start <= inner.start and inner.end <= outer.end


def _linked_templates(templates: Sequence[Template]) -> IntArray:
    """Return what each template is in apposition to, a predicate of, and not; -1 for none."""
    places = {template.id: n for n, template in enumerate(templates)}
    tied = [
        [places.get(str(t.context.get("APPOSITION_OF", "")), -1),
         places.get(str(t.context.get("COPULA_OF") or t.context.get("PREDICATE_OF", "")), -1),
         places.get(str(t.context.get("DENIED_OF", "")), -1),
         *[places.get(str(one), -1) for one in (*t.context.get("BESIDES", ()), "", "")[:2]]]
        for t in templates
    ]  # fmt: skip
    return np.array(tied, dtype=np.int64).reshape(-1, 5)
