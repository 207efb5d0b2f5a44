"""Section 5 of the paper, on the bundled messages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from partita.app.paper import NOT_IN_PAPER, PaperExperiment, paper_experiment
from partita.corpora.documents import corpus_path
from partita.errors import InputError
from partita.options import PaperOptions


@pytest.fixture(scope="module")
def found() -> PaperExperiment:
    return paper_experiment(PaperOptions())


def test_the_splits_have_the_sizes_of_the_paper(found: PaperExperiment) -> None:
    assert [(one.train[0], one.test[0]) for one in found.splits] == [(60, 12), (57, 15), (47, 25)]


def test_every_constraint_of_a_selected_feature_holds(found: PaperExperiment) -> None:
    for one in found.splits:
        for model in one.models:
            assert model.violation < 1e-6
            assert NOT_IN_PAPER.isdisjoint(model.features)
            apart = {name.rsplit(" (", 1)[0] for name in model.boundary}
            assert apart.isdisjoint(model.features)
            assert all(np.isfinite(weight) for weight in model.features.values())
            assert 0 < model.bits < 1


def test_uniform_is_not_credited_with_ties(found: PaperExperiment) -> None:
    for one in found.to_dict()["splits"]:
        assert one["table"]["uniform"]["right"] is None
    for one in found.splits:
        rows = {row.model: row for row in one.rows}
        assert rows["uniform"].right == 0 < rows["evidential"].right


def test_the_report_stands_beside_the_paper(found: PaperExperiment) -> None:
    told = str(found)
    assert "| evidential |" in told
    assert "1.10 (17)" in told
    json.loads(found.json())


def test_a_prior_keeps_boundary_features_finite() -> None:
    with_prior = paper_experiment(PaperOptions(prior=True))
    assert any("same_long_name: yes" in model.features for model in with_prior.splits[0].models)


def test_too_few_messages_are_refused(tmp_path: Path) -> None:
    lines = (corpus_path() / "keys.jsonl").read_text(encoding="utf-8").splitlines()[:3]
    (tmp_path / "few.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="three splits need 12"):
        paper_experiment(PaperOptions(keys=tmp_path / "few.jsonl", domain="depots"))
