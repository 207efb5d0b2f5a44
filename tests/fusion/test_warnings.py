"""A second solution that explains the claims nearly as well is found and said."""

from __future__ import annotations

import numpy as np
import pytest

from partita.app.fuse import fuse_claims
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, fuse_slots
from partita.fusion.warnings import belief_warnings
from partita.options import FuseOptions
from partita.views.fusion import fused_json


def colluding(sources, together, objects=60):
    """Sources of which some always state the same wrong value; the others are right in 80 %."""
    rng = np.random.default_rng(0)
    return [
        (f"s{s}", f"o{n}", "value", f"w{n}" if s < together
         else f"t{n}" if rng.random() < 0.8 else f"x{n}.{rng.integers(20)}")
        for n in range(objects)
        for s in range(sources)
    ]  # fmt: skip


def kinds_of_warnings(rows, **options):
    [belief] = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": "open"}, **options)).slots
    return belief, {one.kind: one for one in belief_warnings(belief)}


@pytest.mark.parametrize(("sources", "together"), [(10, 5), (9, 6)])
def test_a_coalition_that_may_be_right_is_a_second_solution(sources, together):
    belief, warned = kinds_of_warnings(colluding(sources, together))
    assert belief.second.changed > 0.9
    trusted = {f"s{n}" for n in range(together)}
    if belief.best()["o0"][0] == "w0":
        trusted = {f"s{n}" for n in range(together, sources)}
    assert set(belief.second.sources) == trusted
    text = warned["second solution"].text
    assert "is nearly as likely" in text
    assert "--known" in warned["second solution"].advice


def test_independent_sources_have_no_second_solution():
    rng = np.random.default_rng(1)
    rows = [
        (f"s{s}", f"o{n}", "value", f"t{n}" if rng.random() < 0.8 else f"x{n}.{rng.integers(20)}")
        for n in range(60)
        for s in range(8)
    ]
    belief, warned = kinds_of_warnings(rows)
    assert belief.second is None
    assert "second solution" not in warned


def test_known_reliabilities_leave_no_second_solution():
    sure = {f"s{n}": 0.95 for n in range(10)}
    belief, _ = kinds_of_warnings(colluding(10, 5), reliabilities=sure)
    assert belief.second is None


def test_the_second_solution_is_in_notes_and_json(tmp_path):
    path = tmp_path / "claims.csv"
    lines = [f"{o},{s},{v}" for s, o, _, v in colluding(9, 6)]
    path.write_text("object,source,value\n" + "\n".join(lines) + "\n", encoding="utf-8")
    fusion = fuse_claims([path], FuseOptions(kinds={"": "open"}))
    assert any("another solution, which trusts s0, s1, s2, s3 and 2 more" in note
               or "another solution, which trusts s6, s7, s8" in note
               for note in fusion.notes)  # fmt: skip
    kinds = [one["kind"] for one in fused_json(fusion.fused)["warnings"]]
    assert "second solution" in kinds
