"""Compare records that nobody described: nearest neighbours, and a pair model that transfers.

Candidates are the nearest records by words, n-grams and the most informative columns. Trees that
were learned on other tables and expectation maximisation on this one rank the pairs; a linear model
that is trained on the pairs of which these are sure refines the ranks; the number of matches comes
from this input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.configurations.forest.model import logistic
from partita.core import BoolArray, FloatArray, IntArray, linked_components
from partita.errors import InputError
from partita.linkage.column_agreement import AgreementLevels, ColumnAgreement
from partita.linkage.local_model import LocalModel
from partita.linkage.match_level import (
    FEWEST,
    MatchLevel,
    Places,
    consistent_rise,
    level_of_clean_tables,
    level_of_one_table,
    mutual_best,
    score_at,
    with_duplicates,
)
from partita.linkage.one_to_one import (
    level_of_matches,
    matched_odds,
    matching_messages,
    small_sets,
)
from partita.linkage.pair_features import (
    FEATURES,
    TRUSTED,
    ComparedRecords,
    Features,
    PairEnds,
    candidate_ends,
    distinct_pairs_of,
    pair_features,
)
from partita.linkage.pair_trees import PairTrees, shipped_trees
from partita.linkage.record_columns import Column
from partita.linkage.record_tables import NEAREST, Progress, RecordTable, Scored, Settings
from partita.linkage.substitutions import substituted
from partita.tables import Note

MIXED = 0.6  # weight of expectation maximisation beside the trees
SUREST = 20.0  # log-odds of expectation maximisation count no more
SURE = 1.0  # from the level, in log-odds: pairs that train the local model
# Of the log-odds on the sum of the scores, which tell partly the same: .35 or .5 has the fewest
# bits when any one family is left out. Half the error of the level flattens them; more costs bits
# where the ways of estimating disagree but the scores are far from all of them.
SLOPE, DOUBTED = 0.4, 0.5
FEW = 5  # nearest records, by which the number of matches beyond the candidates is extrapolated
SLOWEST = 0.9  # fall of the mean probability from one neighbour to the next, at most
UNSEEN = 0.5  # matches beyond the candidates that are expected at least
UNSURE = 1.0  # disagreement (factor e) about the number of matches that makes a result unreliable
# Of the probable pairs, those that chance explains, from which on nothing is known: .025 in
# RLdata10000, less in the other sets of the panel, .07 and more in tables of random words or
# numbers.
BY_CHANCE = 0.05
# Of the probable pairs, those with unrelated values in a column that tells much, from which on they
# may be of different things (people of one household): at most .42 in the panel, .8 and more in
# generated tables of households. Where given names differ so, the pairs are of different people.
UNRELATED, TELLING = 0.6, ("given name",)
# Of pairs that match, those that have an established word in place of another: .2 in the mean of
# the panel's sets, at most .43 (restaurants). Where it is UNRELATED and more of the probable pairs,
# as in tables of products in several sizes, most of these are of different things.
SUBSTITUTED = 0.2
WORTHWHILE = -7.0  # log-odds of a pair from which on its words are looked at
CHANCE = "no two records have more in common than chance explains"
LARGEST = 300  # records of a provisional cluster whose pairs are all compared
PER_RECORD = 40  # pairs that are added so, at most


@dataclass(frozen=True, slots=True, eq=False)
class ComparedPairs:
    """Pairs, their features, the log-odds of the trees, and how far columns agree."""

    ends: PairEnds
    features: Features
    trees: FloatArray
    agreement: AgreementLevels


class NearestEngine:
    """Compare the records of a table by what is nearest."""

    def __init__(
        self, table: RecordTable, one_to_one: bool, trees: PairTrees | None = None
    ) -> None:
        by_name = sorted(table.to_compare, key=lambda column: column.name)  # n-grams span columns
        self.table = replace(table, to_compare=by_name, text_only=sorted(table.text_only))
        self.one_to_one, self.trees = one_to_one, trees or shipped_trees()
        # Records are numbered by source, so that the order of tables changes nothing.
        self.order = np.argsort(np.array(table.sources), kind="stable")
        self.records = ComparedRecords.of(self.table.reordered(self.order))
        self._found: dict[bool, ComparedPairs] = {}
        self.repeated: list[str] = []
        self.labels = self.records.source
        self._log_odds: dict[tuple[int, int], float] = {}
        self._unmatched = np.ones(len(table))

    def fit(self, settings: Settings | None, progress: Progress, note: Note) -> Settings:
        """Return what is learned from the records, or the given model."""
        if settings is not None:
            return settings
        progress("searching nearest records")
        records = self.records
        pairs = self._candidates(False)
        repeated = np.zeros(int(records.source.max(initial=0)) + 1, dtype=np.bool_)
        if not self.one_to_one:
            repeated = with_duplicates(records.source, pairs.ends, pairs.trees)
        clean = bool((~repeated).any())
        if clean:
            names = sorted(self.table.source_names)
            self._set_repeated([name for name, k in zip(names, repeated, strict=True) if k])
            pairs = self._candidates(True)
        part = _Part.of(records.source, pairs.ends, repeated)
        progress(f"fitting the model to {len(pairs.trees):,} pairs")
        agreement = ColumnAgreement.fitted(records, pairs.agreement, not repeated.any())
        read, level = self._levelled(part, agreement, pairs, clean)
        if repeated.any():
            progress("comparing pairs within provisional clusters")
            expanded, odds = self._scored(read)
            rise = consistent_rise(expanded.ends, odds, len(records)) / read.steepness
            read = replace(read, level=read.level + rise)
        read, odds, unrelated, column = self._after_doubts(read, pairs)
        if clean:
            odds = matched_odds(odds, matching_messages(pairs.ends, odds, self.labels))
        doubts = self._doubts(level, pairs, odds)
        if column:
            doubts.append(f"probable pairs differ in {column} as random pairs do")
        if read.variants < 1.0:
            doubts.append("most probable pairs differ in a word or number that others have too")
        for remark in self._remarks(clean, doubts):
            note(remark)
        return {
            "engine": NEAREST, "clean": bool(clean), "repeated": self.repeated,
            "agreement": agreement.to_dict(),
            "local": read.local.to_dict(), "level": read.level, "error": read.error,
            "variants": read.variants,
            "estimates": dict(level.estimates), "matches": dict(level.matches),
            "disagreement": level.disagreement, "missed": self._missed(pairs.ends, odds),
            "doubts": doubts, "unknown": CHANCE in doubts, "unrelated": unrelated,
            "columns": {column.name: column.kind for column in self.table.to_compare},
            "text": [*self.table.text_only],
        }  # fmt: skip

    def _levelled(
        self, part: _Part, agreement: ColumnAgreement, pairs: ComparedPairs, clean: bool
    ) -> tuple[_ReadModel, MatchLevel]:
        """Return the model with a local model and the level, and how the level was estimated."""
        em = self._em(agreement, pairs)
        score = pairs.trees + MIXED * em
        level = part.level(score, em)
        same, rated = score[part.kept] > level.score, part.rated(score)
        same_sure, different = part.sure(score, level, rated & same)
        if len(self.records) < FEWEST:
            same_sure = np.zeros(len(score), dtype=np.bool_)
        local = LocalModel.fitted(pairs.features, same_sure, different)
        refined = score + local.log_odds(pairs.features)
        turn, error = level.score, level.error
        if level.expected is not None:
            expected, error = part.level(refined, em).expected or 0.0, 0.0
            turn = level_of_matches(part.ends, refined[part.kept], part.source, SLOPE, expected)
        elif same_sure.any():
            turn = part.score_above(refined, float((rated & same).sum()))
        return _ReadModel(clean, agreement, local, turn, error), level

    def _after_doubts(
        self, first: _ReadModel, pairs: ComparedPairs
    ) -> tuple[_ReadModel, FloatArray, float, str]:
        """Return the model that tells apart what its probable pairs confuse, and its log-odds; the
        share of these with unrelated values in a column, and the name of that column."""
        odds = self._odds(first, pairs)
        read, unrelated, column = self._told_apart(first, pairs, odds)
        if not column:
            read = self._with_variants(read, pairs, odds)
        return read, odds if read is first else self._odds(read, pairs), unrelated, column

    def _with_variants(
        self, read: _ReadModel, pairs: ComparedPairs, odds: FloatArray
    ) -> _ReadModel:
        """Return the model with the highest probability of pairs that seem to be variants.

        If a share r of the probable pairs is right, and SUBSTITUTED of these and all others have
        a word in place of another, the share of all that have is 1 − r·(1 − SUBSTITUTED).
        """
        same = odds > 0.0
        if same.sum() < FEWEST:
            return read
        swapped = substituted(self.records.texts, _kept(pairs.ends, same))
        share = float(swapped.mean())
        if share < UNRELATED:
            return read
        right = (1.0 - share) / (1.0 - SUBSTITUTED) * SUBSTITUTED / share
        return replace(read, variants=max(right, 1e-3))

    def _told_apart(
        self, read: _ReadModel, pairs: ComparedPairs, odds: FloatArray
    ) -> tuple[_ReadModel, float, str]:
        """Return the model, the share of the probable pairs with unrelated values in a column, and
        its name. If such values tell (given names), the level is raised until the others are left.
        """
        share, column = self._unrelated(pairs.ends, odds > 0.0)
        if column is None or column.kind not in TELLING:
            return read, share, "" if column is None else column.name
        above = np.sort(odds[odds > 0.0])[::-1]
        rise = score_at(above, (1.0 - share) * len(above)) / read.steepness
        return replace(read, level=read.level + rise), 0.0, column.name

    def score(self, model: Settings, link_above: float) -> Scored:
        """Return the scores of pairs within sets that scores above `link_above` connect."""
        pairs, odds, matched = self.scored_pairs(model)
        left, right = pairs.ends
        count, least = len(self.records), float(np.log(link_above) - np.log1p(-link_above))
        if model["clean"]:
            messages = matching_messages(pairs.ends, odds, self.labels)
            kept, odds = small_sets(pairs.ends, odds, messages, least, count)
        else:
            linked = odds > least
            home = linked_components(count, left[linked], right[linked])
            kept = home[left] == home[right]
        left, right = np.sort(self.order[np.stack([left, right])[:, kept]], axis=0)
        self._log_odds = dict(zip(zip(left.tolist(), right.tolist(), strict=True),
                                  odds[kept].tolist(), strict=True))  # fmt: skip
        none = np.where(kept, 0.0, -np.logaddexp(0.0, matched))
        outside = min(2.0 * float(model["missed"]) / count, 1.0 - 1e-6)
        alone = np.exp(sum(np.bincount(end, none, count) for end in pairs.ends))
        self._unmatched = np.empty(count)
        self._unmatched[self.order] = alone * (1.0 - outside)
        return Scored(left, right, odds[kept] / np.log(2.0), len(odds))

    def unmatched(self) -> FloatArray:
        """Return for every record P(no match beyond the pairs that were scored last)."""
        return self._unmatched

    def scored_pairs(self, model: Settings) -> tuple[ComparedPairs, FloatArray, FloatArray]:
        """Return the compared pairs, their log-odds by a model, and these given that matches of
        tables without duplicates exclude each other."""
        read = _ReadModel.of(model, len(self.table.to_compare))
        if model.get("repeated", []) != self.repeated:
            self._set_repeated(model["repeated"])
        pairs, odds = self._scored(read)
        if not read.clean:
            return pairs, odds, odds
        messages = matching_messages(pairs.ends, odds, self.labels)
        return pairs, odds, matched_odds(odds, messages)

    def _scored(self, read: _ReadModel) -> tuple[ComparedPairs, FloatArray]:
        pairs = self._candidates(read.clean)
        odds = self._odds(read, pairs)
        if not read.clean:
            more = self._expanded(pairs.ends, odds)
            if len(more.left) > len(pairs.ends.left):
                pairs = self._compared(more)
                odds = self._odds(read, pairs)
        return pairs, odds

    def weights(self, model: Settings, left: int, right: int) -> list[tuple[str, float]]:
        """Return what each column says about two records, after the prior.

        What the trees, the local model, the level and rivals add is said of the whole record.
        """
        read = _ReadModel.of(model, len(self.table.to_compare))
        number = np.argsort(self.order)
        ends = PairEnds(number[[left]], number[[right]])
        levels = AgreementLevels.of(self.records, ends, self.records.alike(ends))
        ratios = read.agreement.ratios(levels)[0]
        part = MIXED * read.steepness
        found = [("two random records", part * read.agreement.prior)]
        for column, ratio in zip(self.table.to_compare, ratios, strict=True):
            found.append((column.name, part * float(ratio)))
        total = self._log_odds.get((min(left, right), max(left, right)))
        if total is not None:
            found.append(("the whole record", total - sum(weight for _, weight in found)))
        return found

    def apart(self, model: Settings) -> Sequence[str] | None:
        """Return the source of each record of a table without duplicates, else a unique label."""
        if not model["clean"]:
            return None
        repeated = {*model.get("repeated", ())}
        return [f"{source}#{n}" if source in repeated else source
                for n, source in enumerate(self.table.sources)]  # fmt: skip

    def _set_repeated(self, names: Sequence[str]) -> None:
        """Set the tables with duplicates among others without: their records exclude nothing."""
        self.repeated, self._found = [*names], {}
        source, sources = self.records.source, np.array(sorted(self.table.source_names))
        numbers = len(sources) + np.arange(len(source))
        self.labels = np.where(np.isin(sources[source], self.repeated), numbers, source)

    def _candidates(self, clean: bool) -> ComparedPairs:
        """Return the nearest pairs, of different sources only if these have no duplicates."""
        if clean not in self._found:
            ends = self._found[False].ends if self._found else self._nearest()
            ends = _across(ends, self.labels) if clean else ends
            self._found = {clean: self._compared(ends)}
        return self._found[clean]

    def _nearest(self) -> PairEnds:
        return candidate_ends(self.records)

    def _compared(self, ends: PairEnds) -> ComparedPairs:
        alike = self.records.alike(ends)
        features = pair_features(self.records, ends, alike)
        levels = AgreementLevels.of(self.records, ends, alike)
        return ComparedPairs(ends, features, self.trees.log_odds(features), levels)

    def _em(self, agreement: ColumnAgreement, pairs: ComparedPairs) -> FloatArray:
        odds = agreement.prior + agreement.ratios(pairs.agreement).sum(axis=1)
        return np.asarray(np.clip(odds, -SUREST, SUREST))

    def _missed(self, ends: PairEnds, odds: FloatArray) -> float:
        """Return how many matches are expected beyond the candidates.

        The mean probability falls from neighbour to neighbour; the fall after the last two goes on.
        What is found within provisional clusters counts as found. In tables without duplicates
        the probabilities are those given that matches exclude each other.
        """
        record, p = np.concatenate(ends), np.tile(logistic(odds), 2)
        order = np.lexsort((-p, record))
        place = np.arange(len(record)) - np.searchsorted(record[order], record[order])
        means = [p[order][place == n].sum() / len(self.records) for n in (FEW - 1, FEW)]
        fall = min(means[1] / max(means[0], 1e-9), SLOWEST)
        return float(UNSEEN + len(self.records) * means[1] * fall / (1.0 - fall) / 2.0)

    def _doubts(self, level: MatchLevel, pairs: ComparedPairs, odds: FloatArray) -> list[str]:
        """Return why the result is not reliable."""
        doubts = []
        if len(self.table.to_compare) + len(self.table.text_only) < 2:
            doubts.append("one column is all that is compared")
        same = odds > 0.0
        by_chance = np.median(self._by_chance(pairs.features[same])) if same.any() else np.inf
        # Among few records no word is rare, so that chance explains whatever they have in common.
        if len(self.records) >= FEWEST and by_chance > BY_CHANCE * same.sum():
            doubts.append(CHANCE)
        elif level.disagreement > UNSURE:
            low, high = min(level.matches.values()), max(level.matches.values())
            doubts.append(f"estimates of the number of matches range from {low:,} to {high:,}")
        return doubts

    def _unrelated(self, ends: PairEnds, same: BoolArray) -> tuple[float, Column | None]:
        """Return the share of the probable pairs with unrelated values in a column, and which.

        It is the greatest of the columns that tell much, those of `TELLING` first, and 0 where it
        is small or pairs are few. Of unrelated values as many are no more alike than the median of
        random pairs as of these.
        """
        ends = _kept(ends, same)
        least = TRUSTED * max(column.information for column in self.records.columns)
        shares: list[tuple[bool, float, Column]] = []
        for own, column, chance in zip(
            self.records.columns, self.table.to_compare, self.records.chance, strict=True
        ):
            alike = own.similarities(ends)
            known = alike[~np.isnan(alike)]
            if own.information < least or min(len(known), len(chance)) < FEWEST:
                continue
            middle = np.median(chance)
            share = float((known <= middle).mean() / (chance <= middle).mean())
            shares.append((column.kind in TELLING, min(share, 1.0), column))
        found = [one for one in shares if one[1] >= UNRELATED]
        _, share, which = max(found, key=lambda one: one[:2], default=(False, 0.0, None))
        return share, which

    def _by_chance(self, features: Features) -> FloatArray:
        """Return how many pairs of all would have as much in common by chance, at most.

        Shared words with the rarities r occur together by chance in e^−Σr of the pairs. The
        agreement of each column is as rare as −log₂ of its bits, so that by chance the sum over k
        columns has a gamma distribution (Fisher's method).
        """
        count = len(self.records)
        names = ("filled", "bits", "shared")
        columns, bits, shared = (
            features[:, FEATURES.index(name)].astype(np.float64) for name in names
        )
        surprise = bits * np.log(max(count, 2))
        total, term = np.zeros(len(features)), np.exp(-surprise)
        for k in range(int(columns.max(initial=0.0))):
            total += np.where(columns > k, term, 0.0)
            term = term * surprise / (k + 1)
        words = np.exp(-shared * np.log(max(count, 2)))
        return np.asarray(np.minimum(total, words) * count * (count - 1) / 2.0)

    def _remarks(self, clean: bool, doubts: Sequence[str]) -> Iterator[str]:
        if self.repeated:
            named = ", ".join(self.repeated)
            yield f"tables that seem to have duplicates: {named}; the others seem to have none"
        elif clean and not self.one_to_one:
            yield "no table seems to have duplicates: a record matches one of another table at most"
        elif not clean and len(self.table.source_names) > 1 and len(self.records) >= FEWEST:
            yield "the tables seem to have duplicates of their own"
        if doubts:
            why = "; ".join(doubts)
            yield f"not reliable without labels ({why}): label the first 50 pairs of the review"

    def _odds(self, read: _ReadModel, pairs: ComparedPairs) -> FloatArray:
        """Return log-odds, nearer to even where the level is in doubt."""
        score = pairs.trees + MIXED * self._em(read.agreement, pairs)
        score = score + read.local.log_odds(pairs.features) - read.level
        odds = np.asarray(read.steepness * score)
        if read.variants < 1.0:
            highest = np.log(read.variants) - np.log1p(-read.variants)
            near = np.flatnonzero(odds > WORTHWHILE)
            swapped = substituted(self.records.texts, _kept(pairs.ends, near))
            odds[near[swapped]] = np.minimum(odds[near[swapped]], highest)
        return odds

    def _expanded(self, ends: PairEnds, odds: FloatArray) -> PairEnds:
        """Return the pairs and all others within provisional clusters that are not too large."""
        same, count = odds > 0.0, len(self.records)
        home = linked_components(count, ends.left[same], ends.right[same])
        sizes = np.bincount(home, minlength=count)
        order = np.argsort(home, kind="stable")
        order = order[(sizes[home[order]] > 2) & (sizes[home[order]] <= LARGEST)]
        parts, total = [(ends.left, ends.right)], 0
        for step in range(1, LARGEST):
            there = np.flatnonzero(home[order[step:]] == home[order[:-step]])
            total += len(there)
            if not len(there) or total > PER_RECORD * count:
                break
            parts.append((order[:-step][there], order[step:][there]))
        return distinct_pairs_of(parts, count)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The pairs by which the level is estimated, with their records counted anew.

    They are `kept` of all: those between tables without duplicates where there are several of
    these (`clean`), else all.
    """

    kept: BoolArray
    ends: PairEnds
    source: IntArray
    clean: bool

    @classmethod
    def of(cls, source: IntArray, ends: PairEnds, repeated: BoolArray) -> _Part:
        clean = bool((~repeated).sum() > 1)
        inside = ~repeated[source] if clean else np.ones(len(source), dtype=np.bool_)
        kept, number = inside[ends.left] & inside[ends.right], np.cumsum(inside) - 1
        own = np.unique(source[inside], return_inverse=True)[1]
        return cls(kept, PairEnds(number[ends.left[kept]], number[ends.right[kept]]), own, clean)

    def level(self, score: FloatArray, em: FloatArray) -> MatchLevel:
        """Return the level of the scores of all pairs."""
        if self.clean:
            return level_of_clean_tables(self.source, self.ends, score[self.kept])
        return level_of_one_table(self.ends, score, em, len(self.source))

    def rated(self, score: FloatArray) -> BoolArray:
        """Return the pairs that may match: in tables without duplicates, mutual best ones."""
        if not self.clean:
            return np.ones(len(self.ends.left), dtype=np.bool_)
        places = Places.of(self.source, self.ends)
        return mutual_best(places.ends, score[self.kept], len(places.smaller))

    def score_above(self, score: FloatArray, matches: float) -> float:
        """Return the score above which there are as many pairs that may match."""
        scores = score[self.kept]
        descending = np.sort(scores[self.rated(score)])[::-1]
        below = scores[scores < descending[-1]].max(initial=-np.inf)
        if np.isfinite(below):  # where all mutual best pairs match, it is between these
            descending = np.append(descending, below)
        return score_at(descending, matches)

    def sure(
        self, score: FloatArray, level: MatchLevel, matched: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """Return which of all pairs are taken for the same and for different.

        In tables without duplicates, these are mutual best pairs and their rivals.
        """
        if not self.clean:
            return score > level.score + SURE, score < level.score - SURE
        places = Places.of(self.source, self.ends)
        taken = np.zeros(len(places.smaller), dtype=np.bool_)
        for end in places.ends:
            taken[end[matched]] = True
        same, different = np.zeros((2, len(score)), dtype=np.bool_)
        same[self.kept] = matched
        different[self.kept] = ~matched & (taken[places.ends.left] | taken[places.ends.right])
        return same, different


@dataclass(frozen=True, slots=True, eq=False)
class _ReadModel:
    """A model as JSON holds it, read."""

    clean: bool
    agreement: ColumnAgreement
    local: LocalModel
    level: float
    error: float
    variants: float = 1.0

    @property
    def steepness(self) -> float:
        """The log-odds by score, averaged over the normal error of the level."""
        return float(SLOPE / np.sqrt(1.0 + np.pi / 8.0 * (DOUBTED * SLOPE * self.error) ** 2))

    @classmethod
    def of(cls, model: Mapping[str, Any], columns: int) -> _ReadModel:
        for name in ("clean", "agreement", "local", "level", "error"):
            if name not in model:
                raise InputError(f"the settings of the engine {NEAREST} have no {name}")
        agreement = ColumnAgreement.from_dict(model["agreement"])
        if len(agreement.same) != columns:
            raise InputError(
                f"the settings compare {len(agreement.same)} columns, the tables have {columns}"
            )
        local = LocalModel.from_dict(model["local"])
        return cls(bool(model["clean"]), agreement, local, float(model["level"]),
                   float(model["error"]), float(model.get("variants", 1.0)))  # fmt: skip


def _across(ends: PairEnds, source: IntArray) -> PairEnds:
    return _kept(ends, source[ends.left] != source[ends.right])


def _kept(ends: PairEnds, kept: BoolArray | IntArray) -> PairEnds:
    return PairEnds(ends.left[kept], ends.right[kept])
