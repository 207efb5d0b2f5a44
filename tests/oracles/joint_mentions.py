"""Random small documents and joint models for tests."""

from __future__ import annotations

import numpy as np

from partita.configurations.joint import codes as code
from partita.configurations.joint.model import STARTED, JointModel
from partita.records import Template

WORDS = ("the company", "Apex Corp", "Apex", "it", "he", "Mr. Lee", "Lee", "a factory", "they", "I")
FORMS = ("definite", "name", "name", "pronoun", "pronoun", "name", "name", "indefinite", "pronoun",
         "pronoun")  # fmt: skip
SORTS = ("", "person", "organization")


def random_templates(n: int, rng: np.random.Generator) -> tuple[Template, ...]:
    """n mentions in sentences of about three, paragraphs of five."""
    found = []
    for k in range(n):
        which = int(rng.integers(len(WORDS)))
        text = WORDS[which]
        context = {"WORDS": text.lower().split(), "ROLE": str(rng.choice(["subject", "object"]))}
        context["PARAGRAPH"] = k // 5
        slots = {"NAME": text} if FORMS[which] == "name" else {}
        found.append(
            Template(f"m{k + 1}", text, 10 * k, 10 * k + len(text), sentence=k // 3,
                     sort=str(rng.choice(SORTS)), head=text.split()[-1].lower(),
                     number="singular", form=FORMS[which], slots=slots, context=context)
        )  # fmt: skip
    return tuple(found)


def random_model(rng: np.random.Generator, units: int = 5) -> JointModel:
    """A model of random weights that knows one word."""
    return JointModel(
        rng.normal(size=(STARTED + 2, units)) / 3,
        rng.normal(size=(2, units)),
        rng.normal(size=(2, units)),
        rng.normal(size=len(code.OTHER)) - 2.0,
        ("company",),
        "random numbers",
        "0" * 64,
    )
