"""The panel of claims: fused probabilities beside vote shares, Dawid–Skene and ACCU, set by set.

The constants of held-out claims (`HeldOutPrior`) are chosen for every family of sets on the other
families, from the candidates below, and each set is measured with those that its family did not
see. Log loss is −ln of the stated probability of the true value, at least .01, and that of unknown
where no source states it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray
from partita.evaluation.calibration import reliability, reliability_error
from partita.evaluation.fusion import true_pairs
from partita.evaluation.rows import table
from partita.fusion import slot
from partita.fusion.belief import SlotBelief, Tempering
from partita.fusion.blocs import find_blocs
from partita.fusion.claim_files import read_claims
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, fuse_slots
from partita.fusion.held_out import (
    HeldOutClaims,
    HeldOutPrior,
    fit_held_out,
    hold_out,
    log_likelihoods,
    most_reliable,
)
from partita.fusion.kinds import Reading
from partita.fusion.sources import read_nesting, read_truths
from partita.fusion.tempering import default_correlation, temper, tempered
from research.simulated_claims import FAMILIES, HARD, Truths

SEEDS = (1, 2)
FLOOR = 0.01
KNOWN_SHARE, KNOWN_DRAWS = 0.1, 3
CHANCE_DRAWS = 50  # of truths by the stated probabilities
ROUNDS = 50
FALSE_VALUES = 20.0  # n of ACCU: wrong values of an object
CANDIDATES = tuple(
    HeldOutPrior(default=default, weight=weight, reliable=reliable, spread=spread)
    for reliable, default, weight, spread in product(
        (0.3, 0.6), (0.1, 0.3, 0.6), (1.0, 2.0, 4.0), (0.7, 1.3, 2.0)
    )
)
KINDS_FOUND = ("heavy-tailed numbers", "definitions", "quotes", "classes")
Progress = Callable[[str], object]


@dataclass(frozen=True, slots=True, eq=False)
class ClaimSet:
    """Claims with truths, and how they are fused; sets of one `family` are left out together."""

    name: str
    family: str
    claims: Claims
    truths: Truths
    settings: FusionSettings


def public_sets(folder: Path) -> Iterator[ClaimSet]:
    """Yield the sets of a folder that are there."""
    places = folder / "birthplaces"
    if places.is_dir():
        nested = FusionSettings(reading=Reading(nesting=read_nesting(places / "hierarchy.csv")))
        for name, settings in (("birthplaces", nested), ("birthplaces, flat", FusionSettings())):
            yield _public(places, "places", name, settings, ("claims.csv", "groundtruths.csv"))
    if (folder / "book").is_dir():
        yield _public(folder / "book", "book", "book", FusionSettings(kinds={"": "people"}),
                      ("book.txt", "book_golden.txt"),
                      ("source", "object", "-", "authors"))  # fmt: skip
    for path in sorted(folder.glob("*/truth.csv")):
        name = path.parent.name
        claims = "answer.csv" if (path.parent / "answer.csv").exists() else "claims.csv"
        files = (claims, path.name)
        yield _public(path.parent, name.split("-")[0], name, FusionSettings(), files)


def _public(
    folder: Path, family: str, name: str, settings: FusionSettings, files: tuple[str, str],
    columns: tuple[str, ...] = (),
) -> ClaimSet:  # fmt: skip
    claims = read_claims(folder / files[0], columns)
    truths = read_truths(folder / files[1], list(claims.slots))
    return ClaimSet(name, family, claims, {thing: v for (thing, _), v in truths.items()}, settings)


def simulated_sets() -> Iterator[ClaimSet]:
    """Yield the simulated families, each with every seed; the hard ones are a family apart."""
    families = {**FAMILIES, **HARD}
    for name, seed in product(families, SEEDS):
        claims, truths = families[name](seed)
        kinds = {} if name in KINDS_FOUND else {"": "open"}
        family = "hard" if name in HARD else "simulated"
        settings = FusionSettings(kinds=kinds)
        yield ClaimSet(f"{name}, seed {seed}", family, claims, truths, settings)


@dataclass(frozen=True, slots=True)
class PanelFigures:
    """Accuracy, log loss and reliability error of the best value; unknown, stated and observed.

    `chance` is the error that statements have which are right.
    """

    accuracy: float
    loss: float
    error: float
    unknown: float
    unstated: float
    chance: float

    @classmethod
    def mean(cls, draws: Sequence[PanelFigures]) -> PanelFigures:
        """Return the mean of several draws."""
        return cls(*np.mean([astuple(one) for one in draws], axis=0).tolist())

    def cell(self) -> str:
        return " / ".join(
            f"{x:.3f}".removeprefix("0") for x in (self.accuracy, self.loss, self.error)
        )


@dataclass(frozen=True, slots=True, eq=False)
class FusedSet:
    """A set's belief before it was tempered, its held-out claims, and which pairs are true."""

    case: ClaimSet
    belief: SlotBelief
    held_out: HeldOutClaims | None
    right: BoolArray
    tested: IntArray

    @classmethod
    def of(cls, case: ClaimSet, known: Sequence[str] = (), groups: bool = True) -> FusedSet:
        """Fuse a set; the truths about `known` objects are given and not tested.

        Without `groups`, no groups of sources are looked for.
        """
        caught: dict[str, object] = {}

        def catch(name: str, call: Callable[..., object]) -> Callable[..., object]:
            def caller(*inputs: object) -> object:
                caught[name] = call(*inputs)
                caught[f"{name} of"] = inputs[0]
                return caught[name]

            return caller

        names = set(known)
        truths = {
            (n, case.claims.slots[0]): case.truths[n] for n in names & set(case.claims.objects)
        }
        with (
            patch.object(slot, "temper", catch("temper", temper)),
            patch.object(slot, "hold_out", catch("held", hold_out)),
            patch.object(slot, "find_blocs", find_blocs if groups else lambda *_: None),
        ):
            fuse_slots(case.claims, replace(case.settings, truths=truths))
        belief, held = caught["temper of"], caught.get("held")
        assert isinstance(belief, SlotBelief)
        assert held is None or isinstance(held, HeldOutClaims)
        objects = {name: n for n, name in enumerate(belief.parsed.statements.objects)}
        rest = {objects[n]: v for n, v in case.truths.items() if n in objects and n not in names}
        right = true_pairs(belief, rest, case.settings.reading.nesting)
        return cls(case, belief, held, right, np.array(sorted(rest)))

    def tempered(self, tempering: Tempering) -> PanelFigures:
        parameters = replace(self.belief.parameters, tempering=tempering)
        return self.measured(*tempered(replace(self.belief, parameters=parameters)))

    def measured(self, stated: FloatArray, unknown: FloatArray) -> PanelFigures:
        """Return the figures of probabilities of the belief's pairs and of unknown."""
        belief, objects = self.belief, len(unknown)
        true = np.bincount(belief.object, self.right, minlength=objects) > 0
        mass = np.bincount(belief.object, stated * self.right, minlength=objects)
        loss = -np.log(np.clip(np.where(true, mass, unknown), FLOOR, 1.0))[self.tested]
        order = np.lexsort((np.arange(len(stated)), -stated, belief.object))
        best = order[belief.starts[self.tested]]
        error = reliability_error(reliability(stated[best], self.right[best]))
        rng = np.random.default_rng(0)
        drawn = [reliability_error(reliability(stated[best], rng.random(len(best)) < stated[best]))
                 for _ in range(CHANCE_DRAWS)]  # fmt: skip
        return PanelFigures(
            float(self.right[best].mean()), float(loss.mean()), error,
            float(unknown[self.tested].mean()), float(np.mean(~true[self.tested])),
            float(np.mean(drawn)),
        )  # fmt: skip

    def before(self) -> Tempering:
        """Return the tempering without held-out claims."""
        return Tempering(default_correlation(self.belief.parameters.concentration))

    def candidates(self) -> Iterator[Tempering]:
        """Yield the tempering of every candidate; their likelihoods are computed once."""
        default = self.before().correlation
        logs: dict[float, FloatArray] = {}
        for prior in CANDIDATES:
            if self.held_out is None or self.belief.parameters.blocs:
                yield self.belief.parameters.tempering
                continue
            if prior.reliable not in logs:
                used = most_reliable(self.held_out, prior.reliable)
                logs[prior.reliable] = log_likelihoods(used)
            assumed = prior.of_kind(self.belief.parsed.kind)
            fit = fit_held_out(self.held_out, default, assumed, logs[prior.reliable])
            yield Tempering(fit.correlation, fit.share, fit.unknown)


def peer_probabilities(one: FusedSet) -> dict[str, FloatArray]:
    """Return the probabilities that vote shares, Dawid–Skene and ACCU give to the stated values."""
    statements, belief = one.belief.parsed.statements, one.belief
    count = len(statements.values)
    keys = belief.object * count + belief.value
    order = np.argsort(keys)
    pair = order[np.searchsorted(keys[order], statements.object * count + statements.value)]
    claims = np.bincount(pair, minlength=len(keys))
    total = np.bincount(belief.object, claims)[belief.object]
    votes = claims / np.maximum(total, 1)
    closed = belief.parsed.kind == "closed"
    return {
        "vote": votes,
        "dawid-skene": _confusions(one, pair, votes)
        if closed
        else _accuracies(one, pair, votes, None),
        "accu": _accuracies(one, pair, votes, FALSE_VALUES),
    }


def _accuracies(
    one: FusedSet, pair: IntArray, start: FloatArray, wrong: float | None
) -> FloatArray:
    """Return probabilities by one accuracy per source; errors are one of `wrong` values.

    Without `wrong`, they are the other stated values of the object (Dawid–Skene with one rate).
    """
    belief, source = one.belief, one.belief.parsed.statements.source
    stated = np.bincount(belief.object, start > 0)[belief.object]
    others = np.maximum(stated - 1.0, 1.0) if wrong is None else np.full(len(start), wrong)
    claims, probability = np.bincount(source), start
    for _ in range(ROUNDS):
        right = np.bincount(source, probability[pair])
        rate = np.clip((right + 0.8) / (claims + 1.0), 0.01, 0.99)
        votes = np.log(rate / (1 - rate))[source] + np.log(others[pair])
        logs = np.where(start > 0, np.bincount(pair, votes, minlength=len(start)), -np.inf)
        probability = _normalised(logs, belief.object)
    return probability


def _confusions(one: FusedSet, pair: IntArray, start: FloatArray) -> FloatArray:
    """Return the probabilities of Dawid and Skene (1979): a confusion matrix for every source."""
    statements, belief = one.belief.parsed.statements, one.belief
    values, objects = len(statements.values), len(statements.objects)
    table_ = np.zeros((objects, values))
    table_[belief.object, belief.value] = start
    for _ in range(ROUNDS):
        prior = table_.mean(axis=0)
        counts = np.full((len(statements.sources), values, values), 0.01)
        np.add.at(counts.transpose(0, 2, 1), (statements.source, statements.value),
                  table_[statements.object])  # fmt: skip
        rates = counts / counts.sum(axis=2, keepdims=True)
        logs = np.tile(np.log(prior + 1e-9), (objects, 1))
        np.add.at(logs, statements.object, np.log(rates[statements.source, :, statements.value]))
        table_ = np.exp(logs - logs.max(axis=1, keepdims=True))
        table_ /= table_.sum(axis=1, keepdims=True)
    result: FloatArray = table_[belief.object, belief.value]
    return result


def _normalised(logs: FloatArray, objects: IntArray) -> FloatArray:
    top = np.full(int(objects.max()) + 1, -np.inf)
    np.maximum.at(top, objects, logs)
    weights = np.exp(logs - top[objects])
    shares: FloatArray = weights / np.bincount(objects, weights)[objects]
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class PanelRow:
    """A set with the figures of every method, and of every candidate of the constants."""

    case: ClaimSet
    truths: int
    peers: Mapping[str, PanelFigures]
    before: PanelFigures
    candidates: Sequence[PanelFigures]
    known: PanelFigures

    @property
    def vote(self) -> PanelFigures:
        return self.peers["vote"]

    @classmethod
    def of(cls, case: ClaimSet) -> PanelRow:
        one = FusedSet.of(case)
        nothing = np.zeros(len(one.belief.unknown))
        peers = {name: one.measured(p, nothing) for name, p in peer_probabilities(one).items()}
        found = [one.tempered(tempering) for tempering in one.candidates()]
        known = PanelFigures.mean([_a_tenth_known(case, draw) for draw in range(KNOWN_DRAWS)])
        plain = FusedSet.of(case, groups=False)
        before = plain.tempered(plain.before())
        return cls(case, len(one.tested), peers, before, found, known)

    def loss(self, n: int) -> float:
        """Return the log loss relative to votes; of simulated sets, relative to before."""
        figures = self.candidates[n]
        if self.case.family == "simulated":
            return (
                figures.loss
                - self.before.loss
                + 10 * max(0.0, figures.loss - self.before.loss - 0.015)
            )
        return (figures.loss - self.vote.loss) / max(self.vote.loss, 0.2)


def _a_tenth_known(case: ClaimSet, draw: int) -> PanelFigures:
    names = sorted(case.truths)
    chosen = np.random.default_rng(draw).permutation(len(names))[: int(KNOWN_SHARE * len(names))]
    informed = FusedSet.of(case, [names[n] for n in chosen.tolist()])
    return informed.tempered(informed.belief.parameters.tempering)


def best_candidate(rows: Sequence[PanelRow], family: str) -> int:
    """Return the candidate that is best on the other families: mean, worst set and mean error."""
    others = [row for row in rows if row.case.family != family]
    sizes = {name: sum(row.case.family == name for row in others)
             for name in {row.case.family for row in others}}  # fmt: skip
    weights = np.array([1.0 / sizes[row.case.family] for row in others])

    def objective(n: int) -> float:
        losses = np.array([row.loss(n) for row in others])
        errors = np.array([row.candidates[n].error for row in others])
        mean = float(np.average(losses + errors, weights=weights))
        return mean + 0.25 * max(0.0, float(losses.max()))

    return min(range(len(CANDIDATES)), key=objective)


HEADINGS = ["claims", "truths", "vote shares", "Dawid–Skene", "ACCU", "before", "fused",
            "fused, a tenth known", "its error by chance", "log loss / vote",
            "unknown, stated / true"]  # fmt: skip


def panel_table(folder: Path, progress: Progress = lambda _: None) -> str:
    """Measure all sets and return the table, the worst first."""
    rows = []
    for case in (*public_sets(folder), *simulated_sets()):
        progress(case.name)
        rows.append(PanelRow.of(case))
    chosen = {family: best_candidate(rows, family) for family in {r.case.family for r in rows}}
    found = [(row, row.candidates[chosen[row.case.family]]) for row in rows]
    found.sort(key=lambda pair: -pair[1].loss / pair[0].vote.loss)
    lines = [_cells(row, now) for row, now in found]
    priors = sorted({f"{f}: {CANDIDATES[n]}" for f, n in chosen.items()})
    return "\n".join([table(HEADINGS, lines), "", _summary(found), "", *priors, ""])


def _cells(row: PanelRow, now: PanelFigures) -> list[str]:
    peers = [row.peers[name].cell() for name in ("vote", "dawid-skene", "accu")]
    ratio = f"{now.loss / row.vote.loss:.2f}"
    unknown = f"{now.unknown:.3f} / {now.unstated:.3f}".replace("0.", ".")
    chance = f"{row.known.chance:.3f}".removeprefix("0")
    cells = [row.before.cell(), now.cell(), row.known.cell(), chance, ratio, unknown]
    return [row.case.name, f"{row.truths:,}", *peers, *cells]


def _summary(found: Sequence[tuple[PanelRow, PanelFigures]]) -> str:
    """Return the means over all sets, and over the public ones."""
    public = [pair for pair in found if pair[0].case.family not in ("simulated", "hard")]
    parts = []
    for name, some in (("all sets", found), ("public sets", public)):
        losses = np.mean(
            [
                (row.vote.loss, row.before.loss, now.loss, row.before.error, now.error)
                for row, now in some
            ],
            axis=0,
        )
        parts.append(
            f"{name}: log loss {losses[0]:.3f} (vote shares), {losses[1]:.3f} (before), "
            f"{losses[2]:.3f} (fused); error {losses[3]:.3f} (before), {losses[4]:.3f} (fused)"
        )
    return "\n".join(parts)
