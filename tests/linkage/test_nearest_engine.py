"""Tables that nobody described: columns, candidates, pair model and level from the tables alone."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita
from oracles.people import people
from oracles.variant_tables import KINDS, variants
from partita.linkage.column_alignment import aligned_names, shared_words
from partita.linkage.match_level import (
    Places,
    best_few,
    gap_share,
    level_of_clean_tables,
    mixture_of,
    mutual_best,
    reciprocity,
    rival_share,
)
from partita.linkage.neighbours import gram_vectors, nearest_rows, word_vectors
from partita.linkage.one_to_one import level_of_matches, matched_odds, matching_messages, small_sets
from partita.linkage.pair_features import (
    FEATURES,
    ComparedRecords,
    PairEnds,
    candidate_ends,
    pair_features,
)
from partita.linkage.pair_trees import PairTrees, shipped_trees
from partita.linkage.record_tables import read_records
from partita.linkage.substitutions import substituted

RECORDS, TRUTH = people(120)
TEXTS = ["red apple", "red apple pie", "green pear", "green pears", "blue plum", "", "red plum"]


def dense(vectors):
    matrix = np.zeros((len(vectors), len(vectors.rarity)))
    for n in range(len(vectors)):
        row = slice(vectors.starts[n], vectors.starts[n + 1])
        matrix[n, vectors.terms[row]] = vectors.values[row]
    return matrix


@pytest.mark.parametrize("make", [word_vectors, gram_vectors])
def test_nearest_rows_are_those_of_all_cosines(make):
    vectors = make(TEXTS)
    matrix = dense(vectors)
    cosines = matrix @ matrix.T
    left, right = np.array([*combinations(range(len(TEXTS)), 2)]).T
    assert vectors.cosines(left, right) == pytest.approx(cosines[left, right])
    source = np.array([0, 1, 0, 1, 0, 1, 0])
    rows, others = nearest_rows(vectors, source, 1, 1)
    for n in range(len(TEXTS)):
        for same in (False, True):
            reached = [b for a, b in zip(rows, others, strict=True)
                       if a == n and (source[b] == source[n]) == same]  # fmt: skip
            allowed = [b for b in range(len(TEXTS)) if b != n and (source[b] == source[n]) == same]
            best = max(cosines[n, allowed])
            assert [cosines[n, b] for b in reached] == pytest.approx([best] if best > 0 else [])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_rows_that_share_the_words_of_their_sources_are_nearest_by_both(seed, across, within):
    """As if each row had its own words and those of its source in one vector."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 6, size=20)
    own, shared = (word_vectors([" ".join(rng.choice([*letters], size=rng.integers(0, 4)))
                                 for _ in range(count)])
                   for letters, count in (("abcde", 20), ("vwxyz", 6)))  # fmt: skip
    whole = np.hstack([dense(own), dense(shared)[source]])
    length = np.sqrt((whole**2).sum(axis=1))
    cosines = whole @ whole.T / np.where(length > 0, length, 1)
    cosines /= np.where(length > 0, length, 1)[:, None]
    rows, others = nearest_rows(own, source, across, within, of_sources=shared)
    for n in range(20):
        for same, most in ((False, across), (True, within)):
            reached = [b for a, b in zip(rows, others, strict=True)
                       if a == n and (source[b] == source[n]) == same]  # fmt: skip
            allowed = [b for b in range(20) if b != n and (source[b] == source[n]) == same]
            best = sorted((x for x in cosines[n, allowed] if x > 1e-12), reverse=True)[:most]
            assert len({*reached}) == len(reached)
            assert [cosines[n, b] for b in reached] == pytest.approx(best)


def test_texts_of_equal_letters_do_not_break_the_search():
    """A term that all rows have weighs nothing."""
    rows, _ = nearest_rows(word_vectors(["same"] * 50), np.zeros(50, dtype=np.int64), 0, 6)
    assert len(rows) == 0


def test_columns_with_foreign_names_are_aligned_by_their_values():
    one = {"first_name": [r["first_name"] for r in RECORDS[::2]],
           "town": [r["town"] for r in RECORDS[::2]],
           "http://x.org/a#email": [r["email"] for r in RECORDS[::2]]}  # fmt: skip
    other = {"c1": [r["town"] for r in RECORDS[1::2]],
             "http://y.org/b#email": [r["email"] for r in RECORDS[1::2]],
             "c2": [r["first_name"] for r in RECORDS[1::2]],
             "notes": [f"{n} {n * n}" for n in range(len(RECORDS[1::2]))]}  # fmt: skip
    first, second = aligned_names([one, other])
    assert first == {"first_name": "first_name", "town": "town", "http://x.org/a#email": "email"}
    assert second["c1"] == "town"
    assert second["c2"] == "first_name"
    assert second["http://y.org/b#email"] == "email"
    assert second["notes"] == "notes"


def test_columns_with_shortened_names_are_aligned_where_no_values_are_equal():
    rng = np.random.default_rng(0)
    place = rng.uniform(-80, 80, (200, 2))
    one = {"lat": [f"{a:.3f}" for a, _ in place], "lon": [f"{b:.3f}" for _, b in place]}
    near = place + rng.normal(0, 0.01, place.shape)
    other = {"longitude_deg": [f"{b:.5f}" for _, b in near],
             "latitude_deg": [f"{a:.5f}" for a, _ in near]}  # fmt: skip
    assert aligned_names([one, other])[1] == {"longitude_deg": "lon", "latitude_deg": "lat"}
    assert shared_words(frozenset({"tel"}), frozenset({"telephone"})) == 1.0
    assert shared_words(frozenset({"id"}), frozenset({"identity"})) == 0.0


def test_tables_with_foreign_headers_are_linked():
    plain = ["first_name", "surname", "birth_date", "town", "email"]
    other = dict(zip(plain, ["a", "b", "c", "d", "e"], strict=True))
    renamed = [{"id": r["id"], **{other[k]: r[k] for k in plain}} for r in RECORDS[1::2]]
    tables = [RECORDS[::2], renamed]
    found = partita.link(tables)
    truth = TRUTH[::2] + TRUTH[1::2]
    labels = [row.cluster for row in found]
    same = [(labels[a] == labels[b], truth[a] == truth[b])
            for a, b in combinations(range(len(truth)), 2)]  # fmt: skip
    right = sum(a and b for a, b in same)
    assert 2 * right / (sum(a for a, _ in same) + sum(b for _, b in same)) > 0.9


def walk(trees: PairTrees, row) -> float:
    total = trees.start
    for node in trees.roots.tolist():
        while trees.feature[node] >= 0:
            value = row[trees.feature[node]]
            left = trees.missing_left[node] if np.isnan(value) else value <= trees.threshold[node]
            node = (trees.left if left else trees.right)[node]
        total += trees.value[node]
    return total


def test_the_shipped_trees_are_walked_and_rise_with_similarity():
    trees = shipped_trees()
    assert trees.features == FEATURES
    rng = np.random.default_rng(0)
    rows = rng.random((50, len(FEATURES)))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    assert trees.log_odds(rows) == pytest.approx([walk(trees, row) for row in rows])
    for name in ("words", "grams", "bits", "columns"):
        higher = rows.copy()
        higher[:, FEATURES.index(name)] += 0.3
        assert (trees.log_odds(higher) >= trees.log_odds(rows) - 1e-12).all()


def test_features_do_not_depend_on_the_order_of_records():
    def features(rows):
        records = ComparedRecords.of(read_records([rows], "id"))
        ends = candidate_ends(records)
        names = [row["id"] for row in rows]
        rows = zip(
            ends.left, ends.right, pair_features(records, ends, records.alike(ends)), strict=True
        )
        return {frozenset((names[a], names[b])): row for a, b, row in rows}

    one, other = features(RECORDS), features(RECORDS[::-1])
    assert len({*one} & {*other}) > 0.9 * len(one)
    at = [FEATURES.index(name) for name in ("words", "grams", "shared", "columns", "first")]
    for pair in {*one} & {*other}:
        assert one[pair][at] == pytest.approx(other[pair][at], nan_ok=True)


def brute(odds: np.ndarray) -> np.ndarray:
    """Return P(each pair matches) over all matchings of a table of odds."""
    edges = [(i, j) for i in range(odds.shape[0]) for j in range(odds.shape[1]) if odds[i, j] > 0]
    total, found = 0.0, np.zeros(odds.shape)
    for size in range(min(odds.shape) + 1):
        for chosen in combinations(edges, size):
            if len({i for i, _ in chosen}) == len({j for _, j in chosen}) == size:
                weight = float(np.prod([odds[e] for e in chosen]))
                total += weight
                for e in chosen:
                    found[e] += weight
    return found / total


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=4, max_size=4))
def test_matches_that_exclude_each_other_are_exact_on_a_tree(weights):
    odds = np.zeros((2, 3))  # a path: b0 - a0 - b1 - a1 - b2
    for (i, j), w in zip([(0, 0), (0, 1), (1, 1), (1, 2)], weights, strict=True):
        odds[i, j] = np.exp(w)
    i, j = np.nonzero(odds)
    ends, source = PairEnds(i, j + 2), np.array([0, 0, 1, 1, 1])
    log_odds = np.log(odds[i, j])
    messages = matching_messages(ends, log_odds, source)
    found = 1 / (1 + np.exp(-matched_odds(log_odds, messages)))
    assert found == pytest.approx(brute(odds)[i, j], abs=2e-3)
    kept, alone = small_sets(ends, log_odds, messages, -20.0, 5)
    assert kept.all()
    assert alone == pytest.approx(log_odds)


def test_mutual_best_pairs_say_how_many_records_match():
    rng = np.random.default_rng(0)
    count, near = 1000, 6
    for share in (0.2, 0.9):
        left = np.repeat(np.arange(count), near)
        right = count + rng.integers(count, size=count * near)
        score = rng.normal(size=count * near)
        matched = np.arange(int(share * count))
        left, right = np.append(left, matched), np.append(right, count + matched)
        score = np.append(score, rng.normal(6, 1, len(matched)))
        source = np.repeat([0, 1], count)
        ends = PairEnds(left, right)
        assert reciprocity(ends, score, source == 0) == pytest.approx(share, abs=0.12)


def test_rivals_and_mixture_find_the_share_of_matches():
    rng = np.random.default_rng(1)
    others = np.sort(rng.normal(size=(4000, 30)), axis=1)
    matched = rng.random(4000) < 0.6
    match = rng.normal(6, 1, 4000)
    best = np.where(matched, np.maximum(match, others[:, -1]), others[:, -1])
    second = np.where(matched, np.minimum(match, others[:, -1]), others[:, -2])
    assert rival_share(best, second) == pytest.approx(0.6, abs=0.05)
    _, even, share = mixture_of(best)
    assert share == pytest.approx(0.6, abs=0.05)
    assert 2.5 < even < 5.0


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_matches_are_counted_where_neighbours_are_each_others_nearest(share):
    """Points on a map: two that do not match are mutual best in most cases."""
    small, large, found = 400, 600, []
    matches = int(share * small)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        one, other = rng.random((small, 2)), rng.random((large, 2))
        other[:matches] = one[:matches] + rng.normal(0, 0.002, (matches, 2))
        distance = np.linalg.norm(one[:, None] - other[None], axis=2).ravel()
        left, right = (end.ravel() for end in np.indices((small, large)))
        near = distance < 0.15
        source, ends = np.repeat([0, 1], [small, large]), PairEnds(left[near], small + right[near])
        found.append(level_of_clean_tables(source, ends, -distance[near]).expected)
    assert np.median(found) == pytest.approx(matches, abs=0.08 * small)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_the_distance_of_the_two_best_scores_tells_the_share_of_matches(share):
    rng = np.random.default_rng(2)
    others = rng.exponential(size=(4000, 40))
    matched = rng.random(4000) < share
    others[matched, 0] = rng.normal(12.0, 1.0, int(matched.sum()))
    best = -np.sort(-others, axis=1)[:, :5]
    assert gap_share(best) == pytest.approx(share, abs=0.06)


def two_tables(rng, small, large, matches, strength):
    """Return sources, pairs and scores of tables of which some records match."""
    left = np.repeat(np.arange(small), large)
    right = small + np.tile(np.arange(large), small)
    score = rng.gumbel(size=small * large)
    for n in range(matches):
        score[n * large + n] = rng.normal(strength, 1.0)
    return np.repeat([0, 1], [small, large]), PairEnds(left, right), score


@pytest.mark.parametrize(
    ("small", "large", "matches"), [(200, 200, 190), (300, 300, 60), (100, 400, 40)]
)
def test_the_level_counts_the_matches_of_both_tables(small, large, matches):
    found = []
    for seed in range(5):
        source, ends, score = two_tables(np.random.default_rng(seed), small, large, matches, 14.0)
        level = level_of_clean_tables(source, ends, score)
        above = mutual_best(ends, score, len(source)) & (score > level.score)
        found.append(above.sum())
    assert np.median(found) == pytest.approx(matches, rel=0.2)


@pytest.mark.parametrize("matches", [12.0, 40.0])
def test_probabilities_that_exclude_each_other_add_up_to_the_matches(matches):
    source, ends, score = two_tables(np.random.default_rng(6), 60, 80, 30, 9.0)
    level = level_of_matches(ends, score, source, 0.8, matches)
    odds = 0.8 * (score - level)
    found = matched_odds(odds, matching_messages(ends, odds, source))
    assert (1.0 / (1.0 + np.exp(-found))).sum() == pytest.approx(matches, abs=0.5)


def test_a_few_records_keep_the_level_of_the_trees():
    source, ends, score = two_tables(np.random.default_rng(4), 5, 6, 2, 9.0)
    level = level_of_clean_tables(source, ends, score)
    assert (level.score, [*level.estimates]) == (0.0, ["trees"])


def test_a_record_has_a_place_in_every_other_table():
    """The best of a record in one table is no rival of its best in another."""
    source = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])
    ends = PairEnds(np.array([0, 0, 2]), np.array([2, 5, 5]))
    places = Places.of(source, ends)
    assert (places.smaller.sum(), places.larger.sum()) == (2 + 2 + 3, 3 + 4 + 4)
    assert len({*places.ends.left.tolist(), *places.ends.right.tolist()}) == 6
    best = best_few(places.ends, np.array([3.0, 2.0, 1.0]), len(places.smaller))
    assert np.isfinite(best[:, 0]).sum() == 6
    assert not np.isfinite(best[:, 1]).any()


def test_tables_with_duplicates_are_told_from_those_without():
    """Of three tables the last repeats its records: only there two of one table may be the same."""
    rows = [{k: v for k, v in one.items() if k != "id"} for one in people(80, twice=0.0)[0]]
    tables = [rows[:70], rows[10:], [*rows, *rows]]
    found = partita.link([pd.DataFrame(one) for one in tables])
    assert found.settings["clean"]
    assert found.settings["repeated"] == ["table_3"]
    assert any("duplicates: table_3; the others seem to have none" in one for one in found.notes)
    apart = found._engine.apart(found.settings)
    assert len({*apart}) == 2 + len(tables[2])


def test_of_few_records_nobody_says_that_tables_have_duplicates():
    left = pd.DataFrame({"name": ["Ann Lee", "Bo Chan"], "city": ["Rome", "Oslo"]})
    right = pd.DataFrame({"name": ["Anne Lee", "Cy Dorn"], "city": ["Rome", "Bonn"]})
    found = partita.link([left, right])
    assert not any("duplicates" in note for note in found.notes if "tables seem" in note)


def random_numbers(rng):
    return [{"id": n, "a": rng.random(), "b": rng.random()} for n in range(300)]


def words(rng, count):
    return ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3))
            for _ in range(count)]  # fmt: skip


def test_tables_in_which_chance_explains_everything_say_so():
    rng = random.Random(1)
    names, others = words(rng, 200), words(rng, 150)
    apart = [
        [{"id": f"a{n}", "name": name} for n, name in enumerate(names)],
        [{"id": f"b{n}", "country": name.upper()} for n, name in enumerate(others)],
    ]
    for tables in (random_numbers(rng), [pd.DataFrame(one) for one in apart]):
        found = partita.link(tables)
        assert any("than chance explains" in note for note in found.notes)
        assert found.summary.precision is None
        assert found.summary.recall is None


def households(rng, column, values):
    """Return records of groups that share all but one column, some twice, and their entities."""
    surnames, streets, towns = words(rng, 200), words(rng, 150), words(rng, 30)
    rows, truth = [], []
    for home in range(200):
        address, phone = f"{rng.choice(streets)} {home % 90}", f"0{rng.randrange(10**7, 10**8)}"
        shared = {"surname": surnames[home], "address": address, "phone": phone}
        shared["town"] = rng.choice(towns)
        for value in rng.sample(values, rng.choice([1, 2, 3, 4])):
            for _ in range(rng.choice([1, 1, 2])):
                rows.append({"id": len(rows), column: value} | shared)
                truth.append((home, value))
    return rows, truth


@pytest.mark.parametrize("column", ["first_name", "remark"])
def test_records_that_share_all_but_one_column_are_no_sure_matches(column):
    """People of a household are told apart; of other columns nobody knows, and less is stated."""
    rng = random.Random(4)
    rows, truth = households(rng, column, words(rng, 120))
    found = partita.link(rows)
    assert any(f"differ in {column} as random pairs do" in note for note in found.notes)
    pairs = [(truth[a], truth[b]) for members in found.clusters.values()
             for a, b in combinations(members, 2)]  # fmt: skip
    precision = sum(a == b for a, b in pairs) / len(pairs)
    assert found.summary.precision.low <= precision
    if column == "first_name":
        assert precision > 0.8
        return
    assert precision < min(0.5, found.summary.precision.high)
    assert found.summary.precision.value < 0.7
    several = [row.exact for row in found if len(found.clusters[row.cluster]) > 1]
    assert max(several) < 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_things_that_come_in_variants_are_told_apart(kind):
    """All kinds but products and papers were looked at once, when the rule was made."""
    rows, truth = variants(kind, 3, 60)
    linked = partita.link(rows)
    clusters = [row.cluster for row in linked]
    pairs = [(truth[a] == truth[b], clusters[a] == clusters[b])
             for a, b in combinations(range(len(rows)), 2)]  # fmt: skip
    right = sum(same and together for same, together in pairs)
    precision = right / max(sum(together for _, together in pairs), 1)
    recall = right / sum(same for same, _ in pairs)
    assert recall >= 0.5
    stated = linked.summary.precision  # None: unknown
    assert stated is None or stated.low - 0.02 <= precision <= stated.high + 0.02
    if kind == "papers":  # it is a column by which they differ, and nobody knows what it says
        assert any("probable pairs differ in venue" in note for note in linked.notes)
        return
    assert precision >= 0.4
    assert any("differ in a word or number" in note for note in linked.notes)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("acme mug small black", "acme mug large black", True),
        ("acme mug small black", "acme mug smal black", False),  # an error
        ("acme mug small", "acme mug small black", False),  # nothing stands for the word
        ("acme mug 500 ml", "acme mug 250 ml", True),
        ("acme part 1 1", "acme part 2 1", True),  # words count as often as they stand there
        ("acme mug small unique", "acme mug large black", True),
        ("acme mug unique", "acme mug rare", False),  # no other record has these
    ],
)
def test_established_words_in_place_of_others(one, other, expected):
    often = ["small black 500", "large white 250", "part 1", "part 2"] * 4
    found = substituted([one, other, *often], PairEnds(np.array([0]), np.array([1])))
    assert found.tolist() == [expected]


def test_ids_that_repeat_stand_beside_the_numbers_of_records():
    rows = [{"id": n // 2, "name": name} for n, name in enumerate(words(random.Random(2), 40))]
    found = partita.link(rows)
    assert found.columns("clusters")["id"] == [str(n // 2) for n in range(40)]
    assert [row.record for row in found] == [*range(1, 41)]
    assert any("the ids in id repeat" in note for note in found.notes)


def test_tables_without_duplicates_are_noticed():
    rows, truth = people(200)
    first: dict[int, int] = {}
    one, other = [], []
    for row, entity in zip(rows, truth, strict=True):
        seen = first[entity] = first.get(entity, 0) + 1
        if seen <= 2:
            (one if seen == 1 else other).append(row)
    notes: list[str] = []
    found = partita.link([one, other], note=notes.append)
    assert found.settings["clean"]
    assert any("no table seems to have duplicates" in note for note in notes)
    split: list[str] = []
    again = partita.link([rows[::2], rows[1::2]], note=split.append)
    assert not again.settings["clean"]


def test_a_table_with_duplicates_is_told_from_one_without():
    rows, _ = people(300, twice=0.7)
    copies, _ = people(300, twice=0.0)
    new = [row | {"id": f"n{row['id']}"} for row in copies[:200]]
    notes: list[str] = []
    found = partita.link([new, rows], note=notes.append)
    assert found.settings["repeated"] == ["table_2"]
    assert any("tables that seem to have duplicates: table_2" in note for note in notes)
    assert all(sum(str(one).startswith("n") for one in members) <= 1
               for members in found.clusters.values())  # fmt: skip


def test_a_list_of_names_alone_is_linked():
    chance = random.Random(1)
    parts = ["".join(chance.choices("bcdfglmnprst", k=1)) + chance.choice(("an", "er", "il", "os"))
             for _ in range(60)]  # fmt: skip
    names = ["".join(chance.choices(parts, k=3)).title() + " " +
             "".join(chance.choices(parts, k=2)).title() for _ in range(250)]  # fmt: skip
    copies = [name[:at] + name[at + 1 :] for name in names[:150]
              for at in [chance.randrange(1, len(name) - 1)]]  # fmt: skip
    rows = [{"id": n, "name": name} for n, name in enumerate([*names, *copies])]
    found = partita.link(rows)
    together = {tuple(members) for members in found.clusters.values() if len(members) == 2}
    right = sum((n, 250 + n) in together for n in range(150))
    assert right >= 75
    assert right >= 0.8 * sum(len(members) > 1 for members in found.clusters.values())


def test_what_cannot_be_linked_is_said():
    chance = random.Random(0)
    numbers = [{"id": n, "a": chance.randrange(10**6), "b": chance.randrange(10**6),
                "c": chance.random()} for n in range(600)]  # fmt: skip
    words = [{"id": n, "word": chance.choice("abcdefgh") + chance.choice("xyz")} for n in range(80)]
    letters = [[{"id": f"{k}{n}", f"{k}1": "".join(chance.choices(part, k=8)),
                 f"{k}2": "".join(chance.choices(part, k=6))} for n in range(150)]
               for k, part in (("a", "abcdefgh"), ("b", "stuvwxyz"))]  # fmt: skip
    for records in (numbers, words, letters):
        notes: list[str] = []
        found = partita.link(records, note=notes.append)
        assert any("not reliable without labels" in note for note in notes)
        recall = found.summary.recall
        assert recall is None or (recall.low < 0.5 and recall.value < 0.95)
