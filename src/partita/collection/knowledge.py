"""A knowledge base: the tables of a collection, made of its documents and of who is who.

`SCHEMA` names the tables and their columns; docs/build.md explains them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from partita.collection.comparison import FEATURES
from partita.collection.documents import EntityRecord, Relation, SourceDocument
from partita.collection.resolution import Resolution
from partita.core import BoolArray, FloatArray, IntArray
from partita.core.tabular import Columns
from partita.fusion.answers import SlotAnswer
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, answers_by_object, fuse_slots
from partita.linkage.cluster_tables import binary_entropy

SCHEMA: Mapping[str, tuple[str, ...]] = {
    "documents": ("document", "title", "date", "publisher", "records"),
    "mentions": ("record", "entity", "document", "start", "end", "text", "form", "sentence"),
    "records": ("record", "entity", "membership", "document", "name", "type", "gender", "number",
                "mentions", "source_ids"),
    "entities": ("entity", "name", "type", "records", "documents", "mentions", "certainty",
                 "aliases", "description"),
    "names": ("entity", "name", "records"),
    "values": ("entity", "slot", "value", "probability", "documents", "status"),
    "relations": ("source", "target", "relation", "source_record", "target_record", "document",
                  "weight", "source_ids", "status", "start", "end"),
    "contradictions": ("entity", "slot", "values", "documents", "probabilities"),
    "review": ("left", "right", "left_name", "right_name", "probability", "bits", "for", "against"),
    "alternatives": ("entity", "kind", "other", "probability"),
    "kept_apart": ("left", "right", "name", "probability", "reason"),
    "worlds": ("world", "record", "entity"),
}  # fmt: skip
REVIEW = 50  # pairs that a person is asked for
ALTERNATIVE = 0.05  # least probability of a split or merge that is listed
CELLS = 20_000_000  # most rows of the table of worlds
EXCLUSIVE = ("gender", "nationality", "count")  # slots with one true value
SAID = ("asserted", "reported")  # what is denied or only possible is no claim
DOUBTFUL = 0.02  # least probability of a value that contradicts another
OPEN = "open"  # the kind of slots whose true value nobody may have said


class Claim(NamedTuple):
    """What a source says of an entity."""

    entity: str
    source: str
    slot: str
    value: str
    confidence: float
    status: str


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Everything that the tables are made of.

    `ids` are the ids of entities by the place of their first record, which persist.
    """

    documents: Sequence[SourceDocument]
    resolution: Resolution
    ids: Mapping[int, str]
    relations: Sequence[Relation] = ()
    worlds: int = 100
    seed: int = 0

    @property
    def records(self) -> tuple[EntityRecord, ...]:
        """The records of all documents."""
        return self.resolution.comparison.records

    @cached_property
    def members(self) -> dict[str, list[int]]:
        """The places of the records of each entity, the largest entity first."""
        found = entity_members(self.resolution.answer)
        named = {self.ids[places[0]]: places for places in found}
        return dict(sorted(named.items(), key=lambda item: (-len(item[1]), item[1][0])))

    @cached_property
    def entity(self) -> list[str]:
        """The entity of each record."""
        found = [""] * len(self.records)
        for name, places in self.members.items():
            for place in places:
                found[place] = name
        return found

    @cached_property
    def anchor(self) -> dict[str, int]:
        """The record that stands for each entity: the one with the fullest name."""
        return {name: max(places, key=self._prominence) for name, places in self.members.items()}

    def _prominence(self, place: int) -> tuple[bool, int, int, int]:
        one = self.records[place]
        return (
            bool(one.names),
            len(one.names[0].split()) if one.names else 0,
            len(one.mentions),
            -place,
        )

    @cached_property
    def membership(self) -> FloatArray:
        """The probability of each record that it is the same as the one that stands for it."""
        places = np.arange(len(self.records))
        anchors = np.array([self.anchor[name] for name in self.entity], dtype=np.int64)
        found = self.resolution.pair_probabilities(places, anchors)
        return np.where(places == anchors, 1.0, found)

    def name_of(self, entity: str) -> str:
        """Return the commonest of the fullest names of an entity, or what else it is called."""
        names = Counter(self.records[n].names[0] for n in self.members[entity]
                        if self.records[n].names)  # fmt: skip
        if not names:
            return self.records[self.anchor[entity]].label
        is_person = self.records[self.anchor[entity]].type == "person"

        def rank(name: str) -> tuple[bool, int, str]:
            length = len(name.split())
            return is_person and length > 1, names[name] * (1 + length), name

        return max(names, key=rank)

    def table(self, name: str) -> Columns:
        """Return the columns of a table."""
        made: Mapping[str, Callable[[], Columns]] = {
            "documents": self._documents, "mentions": self._mentions, "records": self._records,
            "entities": self._entities, "names": self._names, "values": self._values,
            "relations": self._relations, "contradictions": self._contradictions,
            "review": self._review, "alternatives": self._alternatives,
            "kept_apart": self._kept_apart, "worlds": self._worlds,
        }  # fmt: skip
        return made[name]()

    def _documents(self) -> Columns:
        rows = [(one.id, one.title, one.date, one.publisher, len(one.records))
                for one in self.documents]  # fmt: skip
        return _columns("documents", rows)

    def _mentions(self) -> Columns:
        rows = [
            (one.id, self.entity[n], one.document, m.start, m.end, m.text, m.form, m.sentence)
            for n, one in enumerate(self.records)
            for m in one.mentions
        ]
        return _columns("mentions", rows)

    def _records(self) -> Columns:
        membership = self.membership.tolist()
        rows = [
            (one.id, self.entity[n], membership[n], one.document, one.label, one.type, one.gender,
             one.number, len(one.mentions), list(one.source_ids))
            for n, one in enumerate(self.records)
        ]  # fmt: skip
        return _columns("records", rows)

    def _entities(self) -> Columns:
        rows = []
        for name, places in self.members.items():
            own = [self.records[n] for n in places]
            types = Counter(one.type for one in own if one.type)
            called = self.name_of(name)
            aliases = dict.fromkeys(n for one in own for n in one.names if n != called)
            rows.append((
                name, called, max(types, key=lambda t: (types[t], t)) if types else "", len(own),
                len({one.document for one in own}), sum(len(one.mentions) for one in own),
                float(self.membership[places].mean()), list(aliases),
                max((one.description for one in own), key=len, default=""),
            ))  # fmt: skip
        return _columns("entities", rows)

    def _names(self) -> Columns:
        rows = [
            (name, alias, count)
            for name, places in self.members.items()
            for alias, count in Counter(
                alias for n in places for alias in dict.fromkeys(self.records[n].names)
            ).items()
        ]
        return _columns("names", rows)

    def claims(self) -> list[Claim]:
        """Return what documents say of entities; a source is the publisher, if there is one."""
        publisher = {one.id: one.publisher or one.id for one in self.documents}
        return [
            Claim(self.entity[n], publisher[one.document], slot, value, p * weight, status)
            for n, (one, weight) in enumerate(
                zip(self.records, self.membership.tolist(), strict=True)
            )
            for slot, value, p, status in (*one.values, *_kinds(one))
        ]

    @cached_property
    def fused(self) -> dict[tuple[str, str], SlotAnswer]:
        """The fused answers of slots with one true value, by entity and slot."""
        rows = [(one.source, one.entity, one.slot, one.value, one.confidence)
                for one in self.claims()
                if one.slot in EXCLUSIVE and one.status in SAID]  # fmt: skip
        if not rows:
            return {}
        kinds = dict.fromkeys({row[2] for row in rows}, OPEN)
        return answers_by_object(fuse_slots(Claims.of(rows), FusionSettings(kinds=kinds)))

    def _values(self) -> Columns:
        """Values by fusion where one is true; of other slots, the probability that any is right."""
        said: dict[tuple[str, str], dict[str, list[Claim]]]
        said = defaultdict(lambda: defaultdict(list))
        for one in self.claims():
            said[one.entity, one.slot][one.value].append(one)
        rows = []
        for key, values in said.items():
            answer = self.fused.get(key)
            stated = {one.value: one.probability for one in answer.values} if answer else {}
            for value, claims in values.items():
                p = _any(one.confidence for one in claims) if answer is None else stated.get(value)
                status = min((one.status for one in claims), key=STATUSES.index)
                sources = len({one.source for one in claims})
                rows.append((*key, value, 0.0 if p is None else p, sources, status))
        return _columns("values", rows)

    def _contradictions(self) -> Columns:
        """Values of which one at most is true, each said and not refuted by the others."""
        rows = []
        for (entity, slot), answer in self.fused.items():
            values = [one for one in answer.values if one.sources and one.probability >= DOUBTFUL]
            if len(values) > 1:
                rows.append((entity, slot, [one.value for one in values],
                             sorted({name for one in values for name in one.sources}),
                             [one.probability for one in values]))  # fmt: skip
        return _columns("contradictions", rows)

    def _relations(self) -> Columns:
        place = {one.id: n for n, one in enumerate(self.records)}
        rows = [
            (self.entity[place[one.source]], self.entity[place[one.target]], one.relation,
             one.source, one.target, one.document, one.weight, [one.id], one.status, one.start,
             one.end)
            for one in self.relations
        ]  # fmt: skip
        return _columns("relations", rows)

    # --- what to look at ---

    @cached_property
    def across(self) -> BoolArray:
        """Which compared pairs are of different documents."""
        home = self.resolution.comparison.home
        found: BoolArray = home[self.resolution.left] != home[self.resolution.right]
        return found

    def _review(self) -> Columns:
        """Pairs in the order of the bits that an answer removes, one for each two entities."""
        p = self.resolution.probabilities
        worth = entropies(p) * self.across
        chosen: list[int] = []
        seen: set[tuple[str, str]] = set()
        for n in map(int, np.argsort(-worth, kind="stable")):
            a, b = int(self.resolution.left[n]), int(self.resolution.right[n])
            both = min(self.entity[a], self.entity[b]), max(self.entity[a], self.entity[b])
            if worth[n] <= 0.0 or len(chosen) == REVIEW:
                break
            if both in seen or not (self.records[a].names or self.records[b].names):
                continue
            seen.add(both)
            chosen.append(n)
        rows = []
        for n, (pro, contra) in zip(chosen, self.reasons(chosen), strict=True):
            one, two = self.ends(n)
            rows.append((one.id, two.id, one.label, two.label, float(p[n]), float(worth[n]), pro,
                         contra))  # fmt: skip
        return _columns("review", rows)

    def ends(self, pair: int) -> tuple[EntityRecord, EntityRecord]:
        """Return the records of a compared pair."""
        return (self.records[int(self.resolution.left[pair])],
                self.records[int(self.resolution.right[pair])])  # fmt: skip

    def _alternatives(self) -> Columns:
        """A split and a merge of each entity, at the next nodes of the tree without noise."""
        tree = self.resolution.plain
        found: list[tuple[str, str]] = []
        ends: list[tuple[int, int]] = []
        for name, places in self.members.items():
            node = int(self.resolution.answer[places[0]])
            for kind, join in (("split", node), ("merge", int(tree.parent[node]))):
                if join >= tree.count:
                    halves = (tree.joined.first, tree.joined.second)
                    one, two = (int(half[join - tree.count]) for half in halves)
                    other = one if kind == "merge" and two == node else two
                    found.append((name, kind))
                    ends.append((self._leaf(one + two - other), self._leaf(other)))
        left, right = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        same = self.resolution.pair_probabilities(left, right).tolist()
        rows = [(*one, self.records[other].id, 1.0 - p if one[1] == "split" else p)
                for one, (_, other), p in zip(found, ends, same, strict=True)]  # fmt: skip
        return _columns("alternatives", [row for row in rows if row[3] >= ALTERNATIVE])

    def _leaf(self, node: int) -> int:
        """Return the place of the first record below a node."""
        tree = self.resolution.plain
        while node >= tree.count:
            node = int(tree.joined.first[node - tree.count])
        return node

    def _kept_apart(self) -> Columns:
        """Pairs of records with an equal name that are different entities."""
        equal = self.resolution.equal_names
        p = self.resolution.probabilities
        chosen, seen = list[int](), set[tuple[str, str]]()
        for n in np.flatnonzero(equal & self.across).tolist():
            a, b = int(self.resolution.left[n]), int(self.resolution.right[n])
            both = min(self.entity[a], self.entity[b]), max(self.entity[a], self.entity[b])
            if both[0] == both[1] or both in seen or self.records[a].type == "time":
                continue
            seen.add(both)
            chosen.append(n)
        rows = []
        for n, (_, contra) in zip(chosen, self.reasons(chosen), strict=True):
            one, two = self.ends(n)
            rows.append((one.id, two.id, one.label, float(p[n]), contra))
        return _columns("kept_apart", rows)

    def reasons(self, pairs: Sequence[int]) -> list[tuple[str, str]]:
        """Return what speaks for compared pairs and what against them, in words."""
        places = np.array(pairs, dtype=np.int64)
        ends = self.resolution.left[places], self.resolution.right[places]
        found = []
        for n, values in zip(pairs, self.resolution.comparison.features(*ends), strict=True):
            row = dict(zip(FEATURES, values.tolist(), strict=True))
            both = self.ends(n)
            found.append(("; ".join(_for(row, *both)), "; ".join(_against(row, *both))))
        return found

    # --- worlds ---

    @cached_property
    def draws(self) -> IntArray:
        """Whole worlds, fewer where there are very many records."""
        most = max(CELLS // max(len(self.records), 1), 10)
        return self.resolution.worlds(min(self.worlds, most), self.seed)

    def _worlds(self) -> Columns:
        """Entities of worlds: one that starts at the same record has the same id."""
        import pyarrow

        count, draws = len(self.records), self.draws
        first = np.array([self.members[name][0] for name in self.entity], dtype=np.int64)
        names = [self.entity[n] if first[n] == n else f"{self.entity[n]}/{one.id}"
                 for n, one in enumerate(self.records)]  # fmt: skip
        starts = np.empty_like(draws)
        for n, labels in enumerate(draws):
            _, place, inverse = np.unique(labels, return_index=True, return_inverse=True)
            starts[n] = place[inverse]
        ids = [one.id for one in self.records]
        numbers = np.tile(np.arange(count, dtype=np.int32), len(draws))
        return {
            "world": pyarrow.array(np.repeat(np.arange(len(draws), dtype=np.int32), count)),
            "record": pyarrow.DictionaryArray.from_arrays(numbers, ids),
            "entity": pyarrow.DictionaryArray.from_arrays(starts.ravel().astype(np.int32), names),
        }


STATUSES = ("asserted", "reported", "possible", "denied")


def stated_relation(relation: str, status: str) -> str:
    """Return a relation with its status: what is denied or only reported is no plain fact."""
    return relation if status == "asserted" else f"{relation} ({status})"


def entity_members(labels: IntArray) -> list[list[int]]:
    """Return the places of each entity, in the order of their first records."""
    found: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(place)
    return list(found.values())


def _columns(table: str, rows: Sequence[Sequence[Any]]) -> Columns:
    return {name: [row[n] for row in rows] for n, name in enumerate(SCHEMA[table])}


def _kinds(one: EntityRecord) -> Iterator[tuple[str, str, float, str]]:
    """Yield the gender of a record, and how many things of a kind it is."""
    if one.gender:
        yield "gender", one.gender, 1.0, "asserted"
    if one.number.isdigit():
        yield "count", one.number, 1.0, "asserted"


def _any(probabilities: Any) -> float:
    """Return the probability that one of several is so, as if they were independent."""
    return 1.0 - float(np.prod([1.0 - min(p, 0.999) for p in probabilities]))


def entropies(p: FloatArray) -> FloatArray:
    """Return the bits of probabilities, none of them certain."""
    return binary_entropy(np.clip(p, 1e-12, 1.0 - 1e-12))


def _for(row: Mapping[str, float], a: EntityRecord, b: EntityRecord) -> list[str]:
    shared = [word for word in a.words if word in b.words]
    found = []
    if row["equal_name"]:
        found.append("equal names")
    elif row["name_shared"]:
        found.append(f"names share {' '.join(shared[:3])}" if shared else "names share words")
    elif row["acronym"]:
        found.append("one name is the acronym of the other")
    elif row["head_shared"]:
        found.append(f"both called {next((h for h in a.heads if h in b.heads), '')}")
    if row["documents"] >= 0.15:
        found.append(f"similar documents ({row['documents']:.2f})")
    if row["co_mention_share"] >= 0.2:
        found.append("other names in common")
    if row["gender_equal"]:
        found.append(f"both {a.gender}")
    if row["type_equal"] == 1.0:
        found.append(f"both {'an' if a.type[:1] in 'aeio' else 'a'} {a.type}")
    if row["nearby"] >= 0.15:
        found.append("similar sentences")
    return found[:3]


def _against(row: Mapping[str, float], a: EntityRecord, b: EntityRecord) -> list[str]:
    found = []
    if row["given_differ"] == 1.0:
        found.append("given names differ")
    if row["gender_differ"]:
        found.append(f"{a.gender} and {b.gender}")
    if row["type_equal"] == 0.0:
        found.append(f"{a.type} and {b.type}")
    if row["number_differ"]:
        found.append(f"{a.number} and {b.number}")
    if row["figures_differ"] or row["months_differ"]:
        found.append("different figures or dates")
    if row["documents"] < 0.05:
        found.append("unrelated documents")
    if not (row["name_shared"] or row["head_shared"] or row["acronym"]):
        found.append("no word in common")
    if row["same_document"]:
        found.append("of one document, where they were kept apart")
    return found[:3]
