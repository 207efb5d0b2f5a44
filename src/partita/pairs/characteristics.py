"""Characteristics of context: observations of a pair S, T, where T is later in the text.

Each is a named function from pairs to one of a few values, and its docstring is its documentation.
Those of PAPER are from the paper, those of EXTENDED were selected by their gain on held-out
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.pairs.columns import (
    DETERMINERS,
    FORMS,
    NIL,
    PRONOUNS,
    REGIONS,
    ROLES,
    Bools,
    Codes,
    Column,
    Places,
    StringSets,
    TemplateColumns,
)

BATCH = 1 << 14  # pairs whose columns fit in the cache

Cutoffs = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TemplatePairs:
    """Pairs of one document's templates, as positions; S is before T."""

    columns: TemplateColumns
    s: Places
    t: Places
    cutoffs: Cutoffs

    def both(self, column: Column) -> tuple[Column, Column]:
        return column[self.s], column[self.t]

    def equal(self, column: Column) -> Bools:
        """Return whether both hold the same value other than nil."""
        s, t = self.both(column)
        same: Bools = (s == t) & (s != NIL)
        return same


@dataclass(frozen=True, slots=True)
class Characteristic:
    """A function over pairs, and the names of its values."""

    of: Callable[[TemplatePairs], NDArray[np.generic]]
    values: tuple[str, ...]
    # Parameter files and the tables of the documentation name a characteristic by its function as
    # it was called when they were written; a function with a new name keeps its old one here.
    saved_name: str = ""

    @property
    def name(self) -> str:
        return self.saved_name or self.of.__name__

    @property
    def documentation(self) -> str:
        return " ".join((self.of.__doc__ or "").split())

    @property
    def features(self) -> tuple[str, ...]:
        """Return the features: each pairs a value with the outcome that S and T corefer."""
        return tuple(f"{self.name}: {value}" for value in self.values)


def any_pair(pairs: TemplatePairs) -> Codes:
    """Any two templates at all: its weight is the log-odds before anything is observed."""
    return np.zeros(len(pairs.s), dtype=np.uint8)


def slot_relation(pairs: TemplatePairs) -> NDArray[np.generic]:
    """What S is to T: their slot values are identical, S is properly subsumed by T (T is the more
    general one), S properly subsumes T, or they are otherwise consistent."""
    below, above = np.ones((2, len(pairs.s)), dtype=np.bool_)
    for slot in pairs.columns.slots:
        below &= slot.below(pairs.s, pairs.t)
        above &= slot.below(pairs.t, pairs.s)
    return 3 - 2 * below - above


def values_in_common(pairs: TemplatePairs) -> NDArray[np.generic]:
    """Whether S and T have two or more slot values in common that are not nil."""
    common = np.zeros(len(pairs.s), dtype=np.uint8)
    for slot in pairs.columns.slots:
        common += slot.equal(pairs.s, pairs.t)
    return common >= 2


def same_long_name(pairs: TemplatePairs) -> NDArray[np.generic]:
    """Whether the names of S and T are identical and of more than one word."""
    return pairs.equal(pairs.columns.name) & (pairs.columns.name_words.size[pairs.t] > 1)


def reference_of_t(pairs: TemplatePairs) -> NDArray[np.generic]:
    """How T refers: by an indefinite expression, a definite one (pronouns among them), neither."""
    return _REFERENCE[pairs.columns.form[pairs.t]]


def antecedent(pairs: TemplatePairs) -> NDArray[np.generic]:
    """For a definite T what the reference module says of S: preferred (directly or by a chain of
    preferred antecedents), possible, or not listed."""
    definite = _REFERENCE[pairs.columns.form[pairs.t]] == 1
    return np.where(definite, 1 + pairs.columns.antecedents[pairs.s, pairs.t], 0)


def distance(pairs: TemplatePairs) -> NDArray[np.generic]:
    """How far T is from S in characters, in five classes that had equal shares of the training
    pairs."""
    return np.searchsorted(np.array(pairs.cutoffs), characters(pairs), side="left")


_REFERENCE = np.array(
    [{"indefinite": 0, "definite": 1, "pronoun": 1}.get(f, 2) for f in FORMS] + [2]
)
NO_YES = ("no", "yes")
RELATIONS = ("identical", "properly subsumed by", "properly subsumes", "otherwise consistent")

PAPER: tuple[Characteristic, ...] = (
    Characteristic(any_pair, ("any",)),
    Characteristic(slot_relation, RELATIONS),
    Characteristic(values_in_common, NO_YES),
    Characteristic(same_long_name, NO_YES),
    Characteristic(reference_of_t, ("indefinite", "definite", "neither")),
    Characteristic(antecedent, ("not definite", "not listed", "possible", "preferred")),
    Characteristic(distance, ("very close", "close", "mid-distance", "far away", "very far away")),
)


def characters(pairs: TemplatePairs) -> Column:
    """Return the characters between the end of S and the start of T, 0 if they overlap."""
    between: Column = np.maximum(pairs.columns.start[pairs.t] - pairs.columns.end[pairs.s], 0)
    return between


def quintiles(distances: Iterable[Column]) -> Cutoffs:
    """Return the distances that split the training pairs into five classes of equal size."""
    pooled = np.concatenate([*distances, np.zeros(0, dtype=np.int32)])
    if not len(pooled):
        return (0.0, 0.0, 0.0, 0.0)
    return tuple(np.quantile(pooled, (0.2, 0.4, 0.6, 0.8), method="lower").astype(float).tolist())


def pairs_of(
    columns: TemplateColumns, left: IntArray, right: IntArray, cutoffs: Cutoffs
) -> TemplatePairs:
    """Return the pairs at these positions, each in text order."""
    s, t = np.minimum(left, right).astype(np.intp), np.maximum(left, right).astype(np.intp)
    return TemplatePairs(columns, s, t, cutoffs)


def characteristics_of(
    columns: TemplateColumns,
    left: IntArray,
    right: IntArray,
    chosen: Sequence[Characteristic] = PAPER,
    *,
    cutoffs: Cutoffs,
) -> Codes:
    """Return the codes of the values: one row per pair, one column per characteristic."""
    codes = np.empty((len(left), len(chosen)), dtype=np.uint8, order="F")
    for first in range(0, len(left), BATCH):
        batch = slice(first, first + BATCH)
        pairs = pairs_of(columns, left[batch], right[batch], cutoffs)
        for n, characteristic in enumerate(chosen):
            codes[batch, n] = characteristic.of(pairs)
    return codes


def feature_names(characteristics: Sequence[Characteristic]) -> tuple[str, ...]:
    """Return the features of all characteristics, in order."""
    return tuple(
        feature for characteristic in characteristics for feature in characteristic.features
    )


def feature_offsets(characteristics: Sequence[Characteristic]) -> IntArray:
    """Return where the features of each characteristic begin, and last their number."""
    return np.cumsum([0, *(len(characteristic.values) for characteristic in characteristics)])


def pair_log_odds(
    codes: Codes, characteristics: Sequence[Characteristic], weights: FloatArray
) -> FloatArray:
    """Return the sum of the weights of each pair's features."""
    total = np.zeros(len(codes))
    for n, first in enumerate(feature_offsets(characteristics)[:-1]):
        table = weights[first : first + len(characteristics[n].values)]
        if table.any():
            total += table[codes[:, n]]
    return total


Values = NDArray[np.generic]

_PRONOUN = FORMS.index("pronoun")


def forms(pairs: TemplatePairs) -> Values:
    """The forms of S and T together, pronouns apart from other definites."""
    s, t = pairs.both(pairs.columns.form)
    return s * (len(FORMS) + 1) + t


def regions(pairs: TemplatePairs) -> Values:
    """Where S and T stand: in the text, a heading, a subject line, a table, or elsewhere."""
    s, t = pairs.both(pairs.columns.region)
    return s * (len(REGIONS) + 1) + t


def type_agreement(pairs: TemplatePairs) -> Values:
    """Whether S and T are of the same type, where both are known."""
    return _agreement(pairs, pairs.columns.type)


def number_agreement(pairs: TemplatePairs) -> Values:
    """Whether S and T agree in number, where both are known."""
    return _agreement(pairs, pairs.columns.number)


def gender_agreement(pairs: TemplatePairs) -> Values:
    """Whether S and T agree in gender, where both are known."""
    return _agreement(pairs, pairs.columns.gender)


def heads(pairs: TemplatePairs) -> Values:
    """How the heads meet, by the form of T: the same head, the head of T is a word of S, the head
    of S is a word of T, or neither. Of pronouns only the same one counts."""
    columns = pairs.columns
    same = pairs.equal(columns.head)
    t_in_s = columns.words.holds(pairs.s, columns.head_bit[pairs.t])
    s_in_t = columns.words.holds(pairs.t, columns.head_bit[pairs.s])
    relation = np.where(same, 0, np.where(t_in_s, 1, np.where(s_in_t, 2, 3)))
    return columns.form[pairs.t] * 4 + relation


def modifier_relation(pairs: TemplatePairs) -> Values:
    """What the modifiers of S are to those of T, for two templates with one head: none, the same,
    S has more, T has more, or each has some that the other has not."""
    same = pairs.equal(pairs.columns.head) & (pairs.columns.form[pairs.t] != _PRONOUN)
    return np.where(same, 1 + _set_relation(pairs, pairs.columns.modifiers), 0)


def names(pairs: TemplatePairs) -> Values:
    """What the names of S and T are to each other: identical, one's words among the other's, an
    acronym of the other, partly the same words, or different; and whether either is no name."""
    columns = pairs.columns
    both = (columns.name[pairs.s] != NIL) & (columns.name[pairs.t] != NIL)
    common = columns.name_words.common(pairs.s, pairs.t)
    s, t = pairs.both(columns.name_words.size)
    acronym = _cross_equal(pairs, columns.compact, columns.initials)
    within = common == np.minimum(s, t)
    parted = np.where(acronym, 3, np.where(common > 0, 4, 5))
    relation = np.where(pairs.equal(columns.name), 1, np.where(within, 2, parted))
    return np.where(both, relation, 0)


def overlap(pairs: TemplatePairs) -> Values:
    """Which share of the words of the shorter expression the longer one has too."""
    common = pairs.columns.words.common(pairs.s, pairs.t)
    s, t = pairs.both(pairs.columns.words.size)
    shorter = np.minimum(s, t)
    share = (common > 0) + (2 * common >= shorter).astype(np.int8) + (common == shorter)
    return np.where(shorter == 0, 0, np.where(common == 0, 1, 1 + share))


def same_text(pairs: TemplatePairs) -> Values:
    """Whether S and T are the same words, letter by letter, by the form of T."""
    same = pairs.equal(pairs.columns.text)
    return np.where(same, 1 + pairs.columns.form[pairs.t], 0)


def sentence_distance(pairs: TemplatePairs) -> Values:
    """How many sentences T is after S, by the form of T."""
    s, t = pairs.both(pairs.columns.sentence)
    return pairs.columns.form[pairs.t] * 7 + np.searchsorted(_SENTENCES, t - s, side="left")


def rivals(pairs: TemplatePairs) -> Values:
    """How many templates between S and T are compatible with T, by the form of T."""
    columns = pairs.columns
    kind = columns.kind[pairs.t]
    between = columns.rivals[kind, pairs.t] - columns.rivals[kind, pairs.s + 1]
    return columns.form[pairs.t] * 6 + np.searchsorted(_RIVALS, between, side="left")


def nearest(pairs: TemplatePairs) -> Values:
    """Whether S is the nearest compatible template before T, the nearest one with its head, both,
    or neither."""
    compatible = pairs.columns.previous[pairs.t] == pairs.s
    head = pairs.columns.previous_head[pairs.t] == pairs.s
    return np.where(compatible, 1, 0) + np.where(head, 2, 0)


def ties(pairs: TemplatePairs) -> Values:
    """What the sentence says of the two: one is in apposition to the other, one is the predicate
    of the other, or nothing."""
    columns = pairs.columns
    apposition = _points(pairs, columns.apposition)
    return np.where(apposition, 1, np.where(_points(pairs, columns.copula), 2, 0))


def nesting(pairs: TemplatePairs) -> Values:
    """Whether one expression contains the other, by whether the inner one is a pronoun."""
    columns = pairs.columns
    (s, t), (s_end, t_end) = pairs.both(columns.start), pairs.both(columns.end)
    t_inside = (t_end <= s_end) & (t_end > t)
    s_inside = (s >= t) & (s_end <= t_end) & (s_end > s) & ~t_inside
    inner = np.where(t_inside, columns.form[pairs.t], columns.form[pairs.s])
    return np.where(t_inside | s_inside, 1 + (inner == _PRONOUN), 0)


def same_speaker(pairs: TemplatePairs) -> Values:
    """For two pronouns of the first or second person: whether the person is the same, and whether
    the speaker is."""
    columns = pairs.columns
    s, t = pairs.both(columns.person)
    both_in_dialogue = (s < 2) & (t < 2)
    voice = _agreement(pairs, columns.speaker)
    return np.where(both_in_dialogue, 1 + 3 * (s != t) + voice, 0)


def pronouns(pairs: TemplatePairs) -> Values:
    """Which pronoun T is, and whether S is the same, another pronoun, or a description."""
    columns = pairs.columns
    s, t = pairs.both(columns.pronoun)
    kind = np.where(s == t, 0, np.where(columns.form[pairs.s] == _PRONOUN, 1, 2))
    return np.where(columns.form[pairs.t] == _PRONOUN, 1 + t * 3 + kind, 0)


def pronoun_of_s(pairs: TemplatePairs) -> Values:
    """Which pronoun S is, if it is one."""
    return pairs.columns.pronoun[pairs.s]


def roles(pairs: TemplatePairs) -> Values:
    """The grammatical roles of S and T in their clauses."""
    s, t = pairs.both(pairs.columns.role)
    return s * (len(ROLES) + 1) + t


def determiner_of_t(pairs: TemplatePairs) -> Values:
    """The determiner of T, and whether its head is that of S."""
    determiner = pairs.columns.determiner[pairs.t]
    return 2 * determiner + pairs.equal(pairs.columns.head)


def length_of_t(pairs: TemplatePairs) -> Values:
    """How many words the expression T has."""
    return np.searchsorted(_LENGTHS, pairs.columns.length[pairs.t], side="left")


def frequency(pairs: TemplatePairs) -> Values:
    """How many templates of the document have the head of T, and whether it is that of S."""
    times = np.searchsorted(_TIMES, pairs.columns.frequency[pairs.t], side="left")
    return 2 * times + pairs.equal(pairs.columns.head)


def same_place(pairs: TemplatePairs) -> Values:
    """Whether S and T have the same place, or places of which one lies in the other."""
    return _same(pairs, "place")


def same_name(pairs: TemplatePairs) -> Values:
    """Whether S and T have the same name, or names that can be of one thing."""
    return _same(pairs, "name")


def same_code(pairs: TemplatePairs) -> Values:
    """Whether S and T have the same code: a designation, a model, a number plate."""
    return _same(pairs, "code")


def same_quantity(pairs: TemplatePairs) -> Values:
    """Whether S and T have the same date, size or amount, or ones that can be of one thing."""
    return _same(pairs, "quantity")


def same_count(pairs: TemplatePairs) -> Values:
    """Whether S and T are counted and the counts are the same: six tanks, the six tanks."""
    return _agreement(pairs, pairs.columns.count)


def identifying_values(pairs: TemplatePairs) -> Values:
    """How many of place, name, code, count and quantity are the same: what all of them share, so
    that a domain profits from what others have learned of slots that those do not have."""
    kinds = (same_place, same_name, same_code, same_quantity, same_count)
    equal: Values = np.stack([of(pairs) == 1 for of in kinds]).sum(axis=0)
    return np.minimum(equal, 2)


def another(pairs: TemplatePairs) -> Values:
    """Whether T is called another, a second, a further one; whether S is; or both, with the same
    word or with different ones (the first, the second)."""
    s, t = pairs.both(pairs.columns.ordinal)
    both = np.where(s == t, 3, 4)
    return np.where((s != NIL) & (t != NIL), both, np.where(t > 0, 1, np.where(s > 0, 2, 0)))


def _same(pairs: TemplatePairs, kind: str) -> Values:
    """Return 0 unless both have a value of the kind, 1 if all such are equal, 2 otherwise."""
    equal, other = np.zeros((2, len(pairs.s)), dtype=np.bool_)
    for slot in pairs.columns.slots:
        if slot.kind == kind:
            s, t = pairs.both(slot.values)
            both, same = (s != NIL) & (t != NIL), slot.equal(pairs.s, pairs.t)
            equal |= same
            other |= both & ~same
    return np.where(other, 2, equal)


def _agreement(pairs: TemplatePairs, column: Column) -> Values:
    s, t = pairs.both(column)
    return np.where((s == NIL) | (t == NIL), 0, 1 + (s != t))


def _set_relation(pairs: TemplatePairs, sets: StringSets) -> Values:
    common = sets.common(pairs.s, pairs.t)
    s, t = pairs.both(sets.size)
    fuller = np.where(common == t, 2, np.where(common == s, 3, 4))
    return np.where((common == s) & (common == t), (s > 0).astype(np.int64), fuller)


def _cross_equal(pairs: TemplatePairs, left: Column, right: Column) -> Bools:
    """Whether one's left value is the other's right value."""
    (s_left, t_left), (s_right, t_right) = pairs.both(left), pairs.both(right)
    forward: Bools = (s_left == t_right) & (s_left != NIL)
    backward: Bools = (t_left == s_right) & (t_left != NIL)
    return np.logical_or(forward, backward)


def _points(pairs: TemplatePairs, target: Column) -> Bools:
    points: Bools = (target[pairs.t] == pairs.s) | (target[pairs.s] == pairs.t)
    return points


def _joint(*names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(", ".join(each) for each in product(*names))


_SENTENCES = np.array([0, 1, 2, 4, 8, 16])
_RIVALS = np.array([0, 1, 2, 5, 12])
_LENGTHS = np.array([1, 2, 4, 8])
_TIMES = np.array([1, 2, 4, 8])

_FORM = (*FORMS, "unknown form")
_REGION = (*REGIONS, "elsewhere")
_ROLE = (*ROLES, "other role")
_AGREEMENT = ("unknown", "same", "different")
_PRONOUNS = (*(group.split()[0] for group in PRONOUNS), "other pronoun", "no pronoun")
_DETERMINERS = (*(group.split()[0] for group in DETERMINERS), "other determiner", "no determiner")
_HEADS = ("same head", "T's head in S", "S's head in T", "other heads")
_MODIFIERS = (
    "other heads",
    "no modifiers",
    "the same",
    "S has more",
    "T has more",
    "both have more",
)
_NAMES = ("not both names", "identical", "words of the other", "acronym", "partly", "different")
_OVERLAP = ("nothing to compare", "none", "less than half", "half or more", "all")
_COUNTS = ("0", "1", "2", "3 to 5", "6 to 12", "more than 12")
_AFTER = ("same sentence", "1", "2", "3 or 4", "5 to 8", "9 to 16", "more than 16")
_VOICES = ("unknown speakers", "one speaker", "two speakers")
_PARTNERS = ("the same", "another pronoun", "no pronoun")

_SAME = ("not both", "same", "other")

IDENTIFYING: tuple[Characteristic, ...] = (
    Characteristic(identifying_values, ("none", "one", "two or more")),
    Characteristic(same_place, _SAME),
    Characteristic(same_name, _SAME),
    Characteristic(same_code, _SAME),
    Characteristic(same_quantity, _SAME),
    Characteristic(same_count, _SAME),
    Characteristic(another, ("neither", "T", "S", "both, same", "both, different")),
)

EXTENDED: tuple[Characteristic, ...] = (
    *PAPER,
    Characteristic(forms, _joint(_FORM, _FORM)),
    Characteristic(regions, _joint(_REGION, _REGION)),
    Characteristic(type_agreement, _AGREEMENT, saved_name="sort_agreement"),
    Characteristic(number_agreement, _AGREEMENT),
    Characteristic(gender_agreement, _AGREEMENT),
    Characteristic(heads, _joint(_FORM, _HEADS)),
    Characteristic(modifier_relation, _MODIFIERS, saved_name="modifiers"),
    Characteristic(names, _NAMES),
    Characteristic(overlap, _OVERLAP),
    Characteristic(same_text, ("no", *_FORM)),
    Characteristic(sentence_distance, _joint(_FORM, _AFTER), saved_name="sentences"),
    Characteristic(rivals, _joint(_FORM, _COUNTS)),
    Characteristic(nearest, ("neither", "nearest", "nearest with the head", "both")),
    Characteristic(ties, ("nothing", "apposition", "predicate")),
    Characteristic(nesting, ("none", "nested", "nested pronoun")),
    Characteristic(
        same_speaker,
        ("not both spoken", *_joint(("same person", "other person"), _VOICES)),
        saved_name="speakers",
    ),
    Characteristic(pronouns, ("no pronoun", *_joint(_PRONOUNS, _PARTNERS))),
    Characteristic(pronoun_of_s, _PRONOUNS),
    Characteristic(roles, _joint(_ROLE, _ROLE)),
    Characteristic(determiner_of_t, _joint(_DETERMINERS, ("other head", "same head"))),
    Characteristic(length_of_t, ("1", "2", "3 or 4", "5 to 8", "more than 8")),
    Characteristic(
        frequency,
        _joint(("1", "2", "3 or 4", "5 to 8", "more than 8"), ("other head", "same head")),
    ),
    *IDENTIFYING,
)
