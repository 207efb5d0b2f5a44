"""Find mentions in parsed sentences: heads, spans, types, with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.text.parser import check_model, feature_places
from partita.text.parser_kernels import HashedModel
from partita.text.tagger import Rows

# h: the head, g: its governor, k: its governor's; c: case word, d: determiner or possessor; l, m:
# nearest dependents on the left, r, q: on the right; p, f: words before and after, o, n: beyond
# them; rc: case word of r; s: subject, v: copula, j: conjunct, a: its "and"; gv: the governor's
# copula; e: outermost dependent on the left; b, t: words around the subtree; gc: case word of g.
POSITIONS = (
    "h", "g", "k", "c", "d", "l", "m", "r", "q", "p", "f", "o", "n", "rc", "s", "v", "j", "a", "gv",
    "e", "b", "t", "gc", "state",
)  # fmt: skip
# w: the dependent, i, o: its inner and outer sibling, l, r: its outermost dependents; a, z: first
# and last word of its subtree, b, t: the words around it; v, c, d: copula, case word and determiner
# of the head, wc: case word of the dependent.
CHILD_POSITIONS = (
    "w", "h", "g", "i", "o", "l", "r", "a", "z", "b", "t", "v", "c", "wc", "d", "state",
)  # fmt: skip
STATES = ("side", "size", "comma", "depth", "own")

TYPE_FEATURES = (
    "h.word", "h.word h.tag", "h.tag", "h.upos h.relation", "h.suffix3 h.upos", "h.suffix4",
    "h.suffix2 h.upos", "h.prefix3 h.upos", "h.kind", "h.kinds", "h.kind h.tag",
    "h.kind h.relation", "h.kind c.word", "h.kind d.word", "h.kind l.kind",
    "h.kind g.kind h.relation", "h.kind g.word h.relation", "h.kind s.kind",
    "h.kind rc.word r.kind", "l.kind h.tag", "r.kind h.tag r.relation", "g.kind h.relation h.tag",
    "j.kind h.kind", "h.kind h.sense", "p.kind h.kind", "f.kind h.kind", "h.kinds c.word",
    "s.kind h.tag v.word", "h.cluster", "h.group", "h.family", "h.sense", "h.shape h.tag",
    "h.shape h.context", "h.class", "h.relation h.tag g.tag", "h.relation g.word",
    "h.relation g.cluster", "h.relation g.sense h.sense", "h.relation g.group h.group",
    "h.word h.relation", "h.word g.word", "h.word g.tag", "h.word c.word", "h.word d.word",
    "h.cluster c.word", "h.group c.word g.cluster", "h.sense c.word", "h.tag c.word",
    "c.word g.word", "c.word g.tag h.tag", "c.word g.cluster h.tag", "h.tag d.word",
    "h.word d.tag", "h.sense d.word", "h.tag l.word", "h.word l.word", "h.tag l.tag l.relation",
    "h.word l.relation", "l.cluster h.tag", "l.group h.group", "l.sense h.sense", "m.word h.tag",
    "m.tag l.tag h.tag", "m.cluster h.tag", "h.word r.relation", "h.tag r.relation r.tag",
    "h.word rc.word", "h.word rc.word r.word", "h.sense rc.word r.sense",
    "h.tag rc.word r.cluster", "r.cluster h.tag", "r.word h.tag", "q.relation h.tag",
    "p.word h.word", "h.word f.word", "p.word h.tag", "f.word h.tag", "p.tag h.tag f.tag",
    "p.shape h.shape f.shape", "o.word p.word h.tag", "f.word n.word h.tag",
    "p.tag p.shape h.tag", "f.tag f.shape h.tag", "s.word h.tag", "s.sense h.sense",
    "s.word h.sense", "s.tag s.word v.word", "v.word h.tag", "v.word h.word", "j.word h.tag",
    "j.sense h.sense", "j.cluster h.tag", "a.word h.tag", "gv.word h.relation h.word",
    "e.word h.tag", "e.word h.word", "b.word h.tag", "t.word h.tag", "gc.word g.word h.relation",
    "h.relation g.relation k.tag", "h.relation g.relation k.word", "h.tag state.size",
    "h.tag state.own", "h.word state.own", "h.relation h.tag state.depth state.side",
    "h.tag h.lefts h.rights", "h.word h.lefts", "d.tag h.tag h.relation",
    "h.tag h.relation g.shape", "h.word g.relation h.relation", "h.relation g.word s.word",
    "l.word l.relation m.relation", "h.tag h.relation l.shape", "h.sense h.relation",
    "h.sense g.word h.relation", "h.cluster h.relation", "h.group h.tag l.tag",
)  # fmt: skip
SPAN_FEATURES = (
    "w.relation h.tag", "w.relation h.upos state.side", "w.relation w.tag h.tag",
    "w.relation w.word", "w.relation w.word h.tag", "w.relation w.tag h.relation",
    "w.relation h.relation g.tag", "w.relation h.word", "w.relation w.cluster h.tag",
    "w.tag w.word", "w.relation v.word", "w.relation state.own", "w.relation c.word",
    "w.relation wc.word", "w.relation wc.word h.word", "w.relation wc.word h.cluster",
    "w.relation wc.word w.cluster", "w.relation wc.word h.relation g.tag", "w.relation l.word",
    "w.relation l.tag l.relation", "w.relation r.relation", "w.relation i.relation",
    "w.relation i.relation i.word", "w.relation o.relation", "w.relation o.relation o.word",
    "w.relation i.relation o.relation", "w.word i.relation o.relation", "w.relation a.word",
    "w.relation a.tag a.word h.tag", "w.relation z.word", "w.relation b.word", "w.relation b.tag",
    "w.relation t.word", "w.relation t.tag", "w.word b.word", "w.word t.word t.tag",
    "w.word b.tag", "w.word b.tag t.tag", "w.relation d.word", "w.relation d.tag h.tag",
    "w.relation state.size", "w.relation state.depth", "w.relation state.comma h.tag",
    "w.relation w.tag state.depth state.side", "w.relation w.lefts w.rights", "w.relation w.shape",
    "w.relation h.lefts h.rights", "w.relation h.sense w.sense", "w.relation h.shape w.shape",
    "w.relation a.word h.relation state.size", "w.tag h.tag b.tag a.tag", "w.word h.word",
    "w.relation h.sense wc.word", "w.relation g.word", "w.relation w.context",
)  # fmt: skip
BOTH_FEATURES = (
    "h.tag", "h.word", "h.relation", "h.relation g.tag", "g.word", "h.relation g.word", "a.word",
    "a.word h.tag", "a.word h.tag j.tag", "h.tag j.tag", "h.word j.word", "h.cluster j.cluster",
    "h.group j.group", "h.sense", "j.sense", "h.sense j.sense", "j.word", "j.tag", "d.word",
    "c.word", "c.word h.tag", "e.word", "t.word", "t.tag", "state.size", "state.size h.tag",
    "state.depth", "b.word", "l.relation r.relation", "d.word h.tag", "h.relation h.tag j.tag",
    "j.lefts j.rights", "h.lefts h.rights", "h.shape j.shape", "gv.word h.relation",
)  # fmt: skip
# "sorts" are the types of mentions: the arrays of the model file are called sorts_used and
# sorts_weights, and the shipped file is older than the word in the code.
FEATURES = {"sorts": TYPE_FEATURES, "spans": SPAN_FEATURES, "both": BOTH_FEATURES}

ROLES = {
    "case": 1, "det": 2, "nmod:poss": 2, "nsubj": 3, "nsubj:pass": 3, "expl": 3, "cop": 4,
    "conj": 5, "cc": 6, "acl:relcl": 7, "acl": 7,
}  # fmt: skip


class Found(NamedTuple):
    """Mentions as arrays: head, first and last word among all words, 2 for a coordination beside
    its first conjunct; the probabilities of none and of each type."""

    places: IntArray
    chances: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MentionModel:
    """Learned weights: types of heads (none first), dependents in spans, coordinations."""

    types: tuple[str, ...]
    possible: NDArray[np.bool_]  # of each tag, whether it may be a head
    roles: NDArray[np.uint8]  # of each label
    models: dict[str, HashedModel]
    scales: NDArray[np.float64]  # the weight of 1 in each model

    def __post_init__(self) -> None:
        for model in self.models.values():
            check_model(model)

    def find(
        self,
        words: IntArray,
        rows: Rows,
        tags: NDArray[np.uint8],
        coarse: NDArray[np.uint8],
        ends: IntArray,
        heads: IntArray,
        relations: NDArray[np.uint8],
        threshold: float,
    ) -> Found:
        """Return the mentions whose probability is at least the threshold."""
        from partita.text.mention_kernels import find_all

        count, places, chances = find_all(
            words, rows, tags, coarse, ends, heads, relations, self.roles, self.possible,
            self.models["sorts"], self.models["spans"], self.models["both"], len(self.types),
            self.scales, threshold,
        )  # fmt: skip
        return Found(places[:count], chances[:count])


def mention_places() -> dict[str, IntArray]:
    """Return the features of the models as arrays for the compiled loops."""
    return {
        name: feature_places(features, CHILD_POSITIONS if name == "spans" else POSITIONS, STATES)
        for name, features in FEATURES.items()
    }


def roles_of(labels: Sequence[str]) -> NDArray[np.uint8]:
    """Return the role of each label."""
    return np.array([ROLES.get(label, 0) for label in labels], dtype=np.uint8)
