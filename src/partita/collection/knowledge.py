"""A knowledge base: the tables of a collection, made of its documents and of who is who.

`SCHEMA` names the tables and their columns; docs/build.md explains them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from partita.collection.comparison import FEATURES
from partita.collection.documents import EntityRecord, SourceDocument
from partita.collection.resolution import Resolution
from partita.core import BoolArray, FloatArray, IntArray
from partita.core.tabular import Columns
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
                  "weight", "source_ids"),
    "contradictions": ("entity", "slot", "values", "documents"),
    "review": ("left", "right", "left_name", "right_name", "probability", "bits", "for", "against"),
    "alternatives": ("entity", "kind", "other", "probability"),
    "kept_apart": ("left", "right", "name", "probability", "reason"),
    "worlds": ("world", "record", "entity"),
}  # fmt: skip
REVIEW = 50  # pairs that a person is asked for
ALTERNATIVE = 0.05  # least probability of a split or merge that is listed
CELLS = 20_000_000  # most rows of the table of worlds
EXCLUSIVE = ("gender", "nationality")  # slots with one true value


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two records, as another system gave it."""

    id: str
    source: str
    target: str
    relation: str = ""
    document: str = ""
    weight: float = 1.0


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
        return max(names, key=lambda name: (names[name] * (1 + len(name.split())), name))

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

    def claims(self) -> list[tuple[str, str, str, str, float, str]]:
        """Return what documents say of entities: entity, source, slot, value, probability, status.

        A source is the publisher, or the document where none is known.
        """
        publisher = {one.id: one.publisher or one.id for one in self.documents}
        return [
            (self.entity[n], publisher[one.document], slot, value, p * self.membership[n], status)
            for n, one in enumerate(self.records)
            for slot, value, p, status in (*one.values, *_gender(one))
        ]

    def _values(self) -> Columns:
        """Values with the share of what is said for them: of exclusive slots, they add up to 1."""
        said: dict[tuple[str, str], dict[str, list[tuple[str, float, str]]]]
        said = defaultdict(lambda: defaultdict(list))
        for entity, source, slot, value, p, status in self.claims():
            said[entity, slot][value].append((source, p, status))
        rows = []
        for (entity, slot), values in said.items():
            weights = {value: _any(p for _, p, _ in given) for value, given in values.items()}
            total = max(sum(weights.values()), 1.0) if slot in EXCLUSIVE else 1.0
            rows += [
                (entity, slot, value, weights[value] / total, len({one[0] for one in given}),
                 min((one[2] for one in given), key=STATUSES.index))
                for value, given in values.items()
            ]  # fmt: skip
        return _columns("values", rows)

    def _contradictions(self) -> Columns:
        said: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for entity, source, slot, value, p, status in self.claims():
            if slot in EXCLUSIVE and p >= 0.5 and status == "asserted":
                said[entity, slot][value].add(source)
        rows = [
            (entity, slot, sorted(values), sorted(set().union(*values.values())))
            for (entity, slot), values in said.items()
            if len(values) > 1
        ]
        return _columns("contradictions", rows)

    def _relations(self) -> Columns:
        place = {one.id: n for n, one in enumerate(self.records)}
        rows = [
            (self.entity[place[one.source]], self.entity[place[one.target]], one.relation,
             one.source, one.target, one.document, one.weight, [one.id])
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
        """The most probable split and merge of each entity, by the tree without noise."""
        tree, rows = self.resolution.plain, []
        for name, places in self.members.items():
            node = int(self.resolution.answer[places[0]])
            above = int(tree.parent[node])
            if node >= tree.count:
                p = 1.0 - float(tree.probability[node - tree.count])
                half = int(tree.joined.second[node - tree.count])
                rows.append((name, "split", self._leaf(half), p))
            if above >= 0:
                join = above - tree.count
                ends = int(tree.joined.first[join]), int(tree.joined.second[join])
                other = ends[1] if ends[0] == node else ends[0]
                rows.append((name, "merge", self._leaf(other), float(tree.probability[join])))
        rows = [row for row in rows if row[3] >= ALTERNATIVE]
        return _columns("alternatives", rows)

    def _leaf(self, node: int) -> str:
        """Return the first record below a node."""
        tree = self.resolution.plain
        while node >= tree.count:
            node = int(tree.joined.first[node - tree.count])
        return self.records[node].id

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


def entity_members(labels: IntArray) -> list[list[int]]:
    """Return the places of each entity, in the order of their first records."""
    found: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(place)
    return list(found.values())


def _columns(table: str, rows: Sequence[Sequence[Any]]) -> Columns:
    return {name: [row[n] for row in rows] for n, name in enumerate(SCHEMA[table])}


def _gender(one: EntityRecord) -> list[tuple[str, str, float, str]]:
    return [("gender", one.gender, 1.0, "asserted")] if one.gender else []


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
        found.append(f"both a {a.type}")
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
