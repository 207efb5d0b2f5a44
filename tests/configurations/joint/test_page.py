"""What docs/how-it-works.md says about the joint model, against the code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracles.joint_explained import decision
from partita.configurations.count import bell
from partita.configurations.exact.listed import LARGEST
from partita.configurations.joint import codes, network_kernels, posterior
from partita.configurations.joint.model import shipped_joint_model
from partita.configurations.joint.posterior import joint_posterior
from partita.core import Template

PAGE = Path(__file__).parents[3] / "docs" / "how-it-works.md"
TEXT = "Acme bought Borealis . It paid the company in cash , and Acme was pleased"


def section() -> str:
    text = PAGE.read_text(encoding="utf-8").partition("## The joint model\n")[2]
    return " ".join(text.partition("\n## ")[0].split())


def test_the_numbers_of_the_page() -> None:
    page, units = section(), shipped_joint_model().units
    for words in (
        f"{len(codes.CELL)} [characteristics](glossary.md#characteristic) describe a template",
        f"{len(codes.NEW)} describe a template that starts a cell",
        f"for {codes.GATING} characteristics of the template alone",
        f"has {units} units: three networks of {(units - 2) // 3}, whose scores are averaged, and "
        "two that make up a linear one",
        f"not* a member of the cell, {network_kernels.DENIAL:.0f} is subtracted",
        f"Up to {LARGEST} templates all configurations (at most {bell(LARGEST):,})",
        f"There are {posterior.DRAWS}, or {posterior.DRAWS * posterior.FEW:,}/n but at least "
        f"{posterior.FEWEST_DRAWS} for n > {posterior.FEW} templates",
        f"keeps {posterior.WIDTH} partial configurations ({posterior.NARROW} for n > "
        f"{posterior.FEW})",
    ):
        assert words in page, words


def templates() -> list[Template]:
    found = []
    for n, word in enumerate(TEXT.split()):
        if word in ("Acme", "Borealis", "It", "company", "cash"):
            form = "pronoun" if word == "It" else "name" if word[0].isupper() else "definite"
            start = len(" ".join(TEXT.split()[:n]))
            found.append(
                Template(f"m{n}", word, start, start + len(word), form=form, head=word.lower())
            )
    return found


def test_choices_are_scored_as_the_page_says() -> None:
    """A softmax over all cells and "new", of a network with one hidden layer."""
    found = joint_posterior(templates(), shipped_joint_model())
    network, labels = found.network, np.array([0, 1, 0, 1, 2, 0])
    table, gate = network.table / codes.SCALE, network.gate / codes.SCALE
    first_cell, first_new = network.layout.cell, network.layout.new

    def score(rows: np.ndarray, which: int, out: np.ndarray) -> float:
        hidden = network.bias[which] + table[rows].sum(axis=0)
        return float(out @ np.where(hidden > 0, hidden, hidden / 10))

    logs = 0.0
    for j in range(len(labels)):
        choice = decision(found.mentions, network, labels, j)
        scores = np.empty(len(choice.classes) + 1)
        group = codes.GROUPS[choice.new[codes.N_KIND]]
        scores[:-1] = network.other[len(codes.OTHER) * group + choice.classes]
        for cell, values in zip(choice.among, choice.codes, strict=True):
            rows = first_cell + values
            scores[cell] = score(rows, 0, network.out[0] + gate[rows[: codes.GATING]].sum(axis=0))
        word = first_new[-1] + found.mentions.attributes[j, codes.LEXEME_ID]
        scores[-1] = score(np.append(first_new[:-1] + choice.new, word), 1, network.out[1])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        assert np.exp(choice.logs) == pytest.approx(shares, abs=1e-5)
        logs += np.log(shares[min(labels[j], len(shares) - 1)])
    text_order = np.empty_like(labels)
    text_order[found.order] = labels
    assert found.log_weight(text_order) == pytest.approx(logs, abs=1e-4)
