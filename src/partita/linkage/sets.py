"""Many coreference sets in flat arrays, and assumptions about their pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from partita.core import (
    BoolArray,
    CoreferenceSet,
    FloatArray,
    IntArray,
    Pair,
    PairProbabilities,
    Template,
    pair,
)
from partita.errors import InputError, Unit

SOFT = 1e-12


def _ranges(starts: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places of the chosen ranges, one after the other, and their lengths."""
    lengths = np.diff(starts)[numbers]
    ends = np.cumsum(lengths)
    offset = np.repeat(starts[:-1][numbers] - (ends - lengths), lengths)
    return np.arange(int(lengths.sum())) + offset, lengths


def softened(p: FloatArray) -> FloatArray:
    """Replace 0 and 1 by nearly certain probabilities."""
    return np.where(p == 0.0, SOFT, np.where(p == 1.0, 1.0 - SOFT, p))


@dataclass(frozen=True, slots=True)
class Assumed:
    """Pairs of one set that are assumed to corefer, and pairs assumed not to."""

    must: frozenset[Pair] = frozenset()
    apart: frozenset[Pair] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Across:
    """Compared pairs of records in different sets, whose scores are too low to connect them."""

    left: Sequence[str] = ()
    right: Sequence[str] = ()
    probability: FloatArray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Coreference sets in flat arrays, so that 100,000 of them stay cheap.

    Set k has the templates ids[starts[k]:starts[k+1]] in text order and the rows
    row_starts[k]:row_starts[k+1], whose `left` and `right` are positions within the set. `given`
    are the scores of the rows as they were given, where labels have moved them since.
    """

    file: str
    unit: Unit
    names: Sequence[str]
    ids: Sequence[str]
    starts: IntArray
    left: IntArray
    right: IntArray
    probability: FloatArray
    lines: IntArray
    row_starts: IntArray
    missing: float | None = None
    templates: Mapping[str, Template] = field(default_factory=dict)
    failed: Mapping[int, InputError] = field(default_factory=dict)
    singletons: tuple[Template, ...] = ()
    named: bool = False
    assumed: Mapping[int, Assumed] = field(default_factory=dict)
    evidence: bool = False
    across: Across = field(default_factory=Across)
    given: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.starts)

    def home(self, name: str) -> int | None:
        """Return the number of the set that has a template of this name."""
        if name not in self.ids:
            return None
        place = self.ids.index(name)
        return int(np.searchsorted(self.starts, place, side="right")) - 1

    def unlisted(self) -> IntArray:
        """Return for each set the number of pairs that the file does not list."""
        return self.sizes * (self.sizes - 1) // 2 - np.diff(self.row_starts)

    def slice(self, first: int, last: int) -> Sets:
        """Return some of the sets, without any data of the others."""
        a, b = int(self.starts[first]), int(self.starts[last])
        c, d = int(self.row_starts[first]), int(self.row_starts[last])
        ids = self.ids[a:b]
        return Sets(
            self.file,
            self.unit,
            self.names[first:last],
            ids,
            self.starts[first : last + 1] - a,
            self.left[c:d],
            self.right[c:d],
            self.probability[c:d],
            self.lines[c:d],
            self.row_starts[first : last + 1] - c,
            self.missing,
            {i: self.templates[i] for i in ids} if self.templates else {},
            {k - first: e for k, e in self.failed.items() if first <= k < last},
            named=self.named,
            assumed={k - first: a for k, a in self.assumed.items() if first <= k < last},
            evidence=self.evidence,
            given=None if self.given is None else self.given[c:d],
        )

    def chosen(self, numbers: IntArray) -> Sets:
        """Return some of the sets, one after the other, without what is assumed about them."""
        records, sizes = _ranges(self.starts, numbers)
        rows, counts = _ranges(self.row_starts, numbers)
        ids = [self.ids[n] for n in records.tolist()]
        return replace(
            self,
            names=[self.names[k] for k in numbers.tolist()],
            ids=ids,
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            left=self.left[rows],
            right=self.right[rows],
            probability=self.probability[rows],
            lines=self.lines[rows],
            row_starts=np.concatenate([[0], np.cumsum(counts)]),
            assumed={},
            given=None if self.given is None else self.given[rows],
        )

    def pairs(self) -> list[PairProbabilities]:
        """Return every set with its matrix."""
        sets = map(self._set, range(len(self)), self._apart())
        compared = map(self._compared, range(len(self)))
        columns = zip(sets, self._matrices(), compared, strict=True)
        return [PairProbabilities(*column) for column in columns]

    def _compared(self, k: int) -> BoolArray | None:
        """Return which pairs of a set are listed, where others have the model's default."""
        if not self.evidence:
            return None
        n = int(self.sizes[k])
        rows = slice(self.row_starts[k], self.row_starts[k + 1])
        compared = np.eye(n, dtype=np.bool_)
        compared[self.left[rows], self.right[rows]] = True
        compared[self.right[rows], self.left[rows]] = True
        return compared

    def _set(self, k: int, apart: frozenset[Pair]) -> CoreferenceSet:
        ids = self.ids[self.starts[k] : self.starts[k + 1]]
        templates = tuple([self.templates.get(i) or Template(i) for i in ids])
        must: frozenset[Pair] = frozenset()
        if k in self.assumed:
            must, apart = self.assumed[k].must, apart | self.assumed[k].apart
        return CoreferenceSet(templates, apart, must, self.names[k])

    def _apart(self) -> list[frozenset[Pair]]:
        """Return for each set the pairs listed with probability 0."""
        apart: list[frozenset[Pair]] = [frozenset()] * len(self)
        zero_rows = np.flatnonzero((self.probability == 0.0) & (not self.evidence))
        set_numbers = np.searchsorted(self.row_starts, zero_rows, side="right") - 1
        for set_number in dict.fromkeys(set_numbers.tolist()):
            rows, start = zero_rows[set_numbers == set_number], int(self.starts[set_number])
            ends = zip(self.left[rows].tolist(), self.right[rows].tolist(), strict=True)
            apart[set_number] = frozenset(
                pair(self.ids[start + a], self.ids[start + b]) for a, b in ends
            )
        return apart

    def _matrices(self) -> list[FloatArray]:
        """Return views of one buffer that is filled at once."""
        sizes = self.sizes
        ends = np.cumsum(sizes**2)
        begins = ends - sizes**2
        flat = np.full(ends[-1] if len(ends) else 0, self.missing or 0.0)
        each = np.repeat(np.arange(len(sizes)), np.diff(self.row_starts))
        probability = softened(self.probability) if self.evidence else self.probability
        flat[begins[each] + self.left * sizes[each] + self.right] = probability
        flat[begins[each] + self.right * sizes[each] + self.left] = probability
        cuts = zip(begins.tolist(), ends.tolist(), sizes.tolist(), strict=True)
        matrices = [flat[a:b].reshape(n, n) for a, b, n in cuts]
        for matrix in matrices if self.missing else ():
            np.fill_diagonal(matrix, 0.0)
        return matrices

    def line(self, k: int, left: str, right: str) -> int | None:
        """Return the line on which set k gives the probability of a pair, or None."""
        ids = list(self.ids[self.starts[k] : self.starts[k + 1]])
        a, b = sorted((ids.index(left), ids.index(right)))
        rows = slice(self.row_starts[k], self.row_starts[k + 1])
        matches = np.flatnonzero((self.left[rows] == a) & (self.right[rows] == b))
        return int(self.lines[rows][matches[0]]) if len(matches) else None


APART, SAME = "!=", "="


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption that two templates are the same, or not."""

    left: str
    right: str
    same: bool


def parse_assumption(text: str, ids: set[str]) -> Assumption:
    """Parse an assumption; ids may contain = and !, so the reading with known ids is chosen."""
    possible = list(readings(text))
    if not possible:
        raise InputError(f"--assume {text!r} is not of the form A=B or A!=B")
    fitting = [r for r in possible if r.left in ids and r.right in ids]
    if len(fitting) > 1:
        raise InputError(f"--assume {text!r} can be read in {len(fitting)} ways")
    if not fitting:
        first = possible[0]
        unknown = first.left if first.left not in ids else first.right
        raise InputError(f"--assume {text!r}: there is no template {unknown!r}")
    if fitting[0].left == fitting[0].right:
        raise InputError(f"--assume {text!r} compares {fitting[0].left} with itself")
    return fitting[0]


def readings(text: str) -> Iterator[Assumption]:
    """Yield all readings of an assumption, those with != first."""
    for sign in (APART, SAME):
        position = text.find(sign)
        while position >= 0:
            left, right = text[:position].strip(), text[position + len(sign) :].strip()
            if left and right:
                yield Assumption(left, right, sign == SAME)
            position = text.find(sign, position + 1)


def conditioned(sets: Sets, assume: Sequence[str | Assumption]) -> Sets:
    """Return the sets under the assumptions; the probabilities stay the same."""
    if not assume:
        return sets
    ids = {*sets.ids, *(template.id for template in sets.singletons)}
    assumed = dict(sets.assumed)
    for assumption in (
        parse_assumption(one, ids) if isinstance(one, str) else one for one in assume
    ):
        set_numbers = list(_sets_with(sets, assumption))
        if assumption.same and not set_numbers:
            raise InputError(
                f"{assumption.left} and {assumption.right} are in different sets, so they cannot "
                "be the same; the file lists no chance of it",
                file=sets.file,
            )
        for set_number in set_numbers:
            assumed[set_number] = _add_assumption(assumed.get(set_number, Assumed()), assumption)
    return replace(sets, assumed=assumed)


def _sets_with(sets: Sets, assumption: Assumption) -> Iterator[int]:
    """Yield the sets that contain both templates."""
    for k in range(len(sets)):
        ids = sets.ids[sets.starts[k] : sets.starts[k + 1]]
        if assumption.left in ids and assumption.right in ids:
            yield k


def _add_assumption(assumed: Assumed, assumption: Assumption) -> Assumed:
    both = frozenset({pair(assumption.left, assumption.right)})
    if assumption.same:
        return Assumed(assumed.must | both, assumed.apart)
    return Assumed(assumed.must, assumed.apart | both)


def apart_within(sets: Sets, sources: Mapping[str, str]) -> Sets:
    """Return the sets where no two templates of one source are the same."""
    assumed = dict(sets.assumed)
    for k in range(len(sets)):
        ids = sets.ids[sets.starts[k] : sets.starts[k + 1]]
        same = {pair(a, b) for a, b in combinations(ids, 2) if sources[a] == sources[b]}
        before = assumed.get(k, Assumed())
        if same:
            assumed[k] = Assumed(before.must, before.apart | same)
    return replace(sets, assumed=assumed)
