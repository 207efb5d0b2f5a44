"""The public names, and a reference that is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

import partita

DOCS = Path(__file__).parent.parent / "docs"


def test_the_public_names() -> None:
    assert partita.__all__ == [
        "Belief",
        "Budget",
        "Clusters",
        "Configuration",
        "Contradiction",
        "CoreferenceSet",
        "Distribution",
        "Domain",
        "Entity",
        "Evaluation",
        "Explanation",
        "InputError",
        "Key",
        "Message",
        "PairProbabilities",
        "PartitaError",
        "ResolvedMessage",
        "Template",
        "TooLarge",
        "TrainedModel",
        "Unavailable",
        "cluster",
        "evaluate",
        "explain",
        "fuse",
        "run",
        "solve",
        "train",
    ]
    assert all(hasattr(partita, name) for name in partita.__all__)


def test_the_reference_is_what_make_docs_makes() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        from make import reference
    finally:
        sys.path.remove(str(DOCS))
    assert (DOCS / "reference.md").read_text(encoding="utf-8") == reference()


def test_a_distribution_shows_itself() -> None:
    found = partita.solve([("A", "B", 0.7), ("B", "C", 0.4)])
    assert "(A B) (C)" in str(found)
    assert "<table" in found._repr_html_()


def test_a_distribution_gives_tables() -> None:
    found = partita.solve([("A", "B", 0.7), ("B", "C", 0.4)])
    assert found.to_pandas("pairs")["probability"].tolist() == [0.7, 0.0, 0.4]
    assert found.to_arrow().num_rows == 3
