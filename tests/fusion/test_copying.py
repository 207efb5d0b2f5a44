"""Sources that copy are noticed, and believed less where that is wished."""

from __future__ import annotations

import numpy as np

from partita.fusion.claims import Claims
from partita.fusion.fuse import Settings, by_object, changed, fuse


def crowd(copiers: int, objects: int = 120, seed: int = 3) -> Claims:
    """Five good sources, one bad one, and some that repeat all it says."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(objects):
        bad = f"wrong {rng.integers(1000)}" if rng.random() < 0.6 else f"true {n}"
        for k in range(5):
            said = f"true {n}" if rng.random() < 0.7 else f"wrong {rng.integers(1000)}"
            rows.append((f"good {k}", f"o{n}", "v", said))
        rows += [(f"bad {k}", f"o{n}", "v", bad) for k in range(1 + copiers)]
    return Claims.of(rows)


def test_a_copier_is_noticed_and_nobody_else():
    found = fuse(crowd(1), Settings(kinds={"": "open"})).copying
    assert [(one.original, one.copier) for one in found] == [("bad 0", "bad 1")]
    assert found[0].shared > 5 * found[0].expected
    assert found[0].significance < 1e-6
    assert 0.8 < found[0].share <= 1


def test_independent_sources_are_not_accused():
    assert fuse(crowd(0), Settings(kinds={"": "open"})).copying == ()


def test_copied_claims_can_be_believed_less():
    claims = crowd(2)
    plain = by_object(fuse(claims, Settings(kinds={"": "open"})))
    wary = by_object(fuse(claims, Settings(kinds={"": "open"}, discount=True)))

    def right(answers):
        return sum(a.values[0].value == f"true {a.object[1:]}" for a in answers.values())

    assert right(wary) >= right(plain)
    assert wary != plain


def test_what_changes_without_a_source():
    rows = [("ann", "x", "c", "Rome"), ("bob", "x", "c", "Rome"), ("cy", "x", "c", "Oslo"),
            ("ann", "y", "c", "Bonn")]  # fmt: skip
    fused = fuse(Claims.of(rows), Settings(kinds={"": "open"}))
    [lost] = [one for one in changed(fused, "ann") if one.object == "y"]
    assert (lost.before, lost.after) == ("Bonn", "")
    assert changed(fused, "cy") == ()
