"""Templates drawn at random, with every slot that characteristics look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from partita.core import Antecedent, Template

FORMS = ("indefinite", "definite", "pronoun", "name", "bare", "")
WORDS = ("depot", "rail", "ammunition", "big", "kinston", "the", "us", "states", "united")
PRONOUNS = ("i", "you", "he", "she", "it", "they", "this", "who", "one")


def described(rng: np.random.Generator, number: int, before: list[Template]) -> Template:
    """One template after those before it."""
    form = FORMS[rng.integers(len(FORMS))]
    words = [WORDS[k] for k in rng.integers(len(WORDS), size=rng.integers(1, 4))]
    if form == "pronoun":
        words = [PRONOUNS[rng.integers(len(PRONOUNS))]]
    start = (before[-1].start if before else 0) + int(rng.integers(0, 60))
    return Template(
        id=f"m{number}",
        text=" ".join(words),
        start=start,
        end=start + int(rng.integers(0, 40)),
        region=str(rng.choice(["text", "heading", "subject", "table", "margin"])),
        sentence=(before[-1].sentence if before else 0) + int(rng.integers(0, 3)),
        type=str(rng.choice(["", "person", "place"])),
        head=words[-1] if rng.random() < 0.9 else "",
        number=[None, "singular", "plural", 1, 2][rng.integers(5)],
        form=form,  # type: ignore[arg-type]
        slots=_slots(rng, form, words),
        antecedents=_antecedents(rng, before),
        context=_context(rng, form, words, before),
    )


def documents(rng: np.random.Generator, size: int) -> list[Template]:
    found: list[Template] = []
    for number in range(size):
        found.append(described(rng, number, found))
    return found


def drawn(least: int = 0, most: int = 9) -> st.SearchStrategy[list[Template]]:
    return st.builds(
        lambda seed, size: documents(np.random.default_rng(seed), size),
        st.integers(0, 2**32),
        st.integers(least, most),
    )


def _slots(rng: np.random.Generator, form: str, words: list[str]) -> dict[str, Any]:
    return {"NAME": " ".join(words).upper()} if form == "name" and rng.random() < 0.7 else {}


def _context(
    rng: np.random.Generator, form: str, words: list[str], before: list[Template]
) -> dict[str, Any]:
    given: dict[str, Any] = {
        "MODIFIERS": words[:-1],
        "ROLE": str(rng.choice(["subject", "object", "other"])),
        "DETERMINER": str(rng.choice(["the", "a", "their", "which"])),
        "SPEAKER": str(rng.choice(["A", "B"])),
        "PARAGRAPH": len(before) // 3,
    }
    if form == "pronoun":
        given |= {"PERSON": str(rng.integers(1, 4)), "GENDER": str(rng.choice(["masc", "fem"]))}
    if before:
        earlier = before[rng.integers(len(before))].id
        given[str(rng.choice(["APPOSITION_OF", "COPULA_OF", "PARENT"]))] = earlier
    kept = {name: value for name, value in given.items() if rng.random() < 0.7}
    return {name: value for name, value in kept.items() if value not in ("", [])}


def _antecedents(rng: np.random.Generator, before: list[Template]) -> tuple[Antecedent, ...]:
    listed = [other.id for other in before if rng.random() < 0.3]
    return tuple(Antecedent(name, preferred=n == 0) for n, name in enumerate(reversed(listed)))
