"""Random small documents and joint models for tests."""

from __future__ import annotations

import numpy as np

from partita.configurations.joint.codes import SCALE
from partita.configurations.joint.model import FAR, GATED, STARTED, JointModel
from partita.core import Template

WORDS = ("the company", "Apex Corp", "Apex", "it", "he", "Mr. Lee", "Lee", "a factory", "they", "I")
FORMS = ("definite", "name", "name", "pronoun", "pronoun", "name", "name", "indefinite", "pronoun",
         "pronoun")  # fmt: skip
TYPES = ("", "person", "organization")


def random_templates(n: int, rng: np.random.Generator) -> tuple[Template, ...]:
    """n mentions in sentences of about three, paragraphs of five."""
    found = []
    for k in range(n):
        which = int(rng.integers(len(WORDS)))
        text = WORDS[which]
        context = {"WORDS": text.lower().split(), "ROLE": str(rng.choice(["subject", "object"]))}
        context["PARAGRAPH"] = k // 5
        context |= {"QUOTE": 1 + k // 7} if k % 7 in (2, 3) else {}
        context |= {"QUESTION": True} if k % 5 == 4 else {}
        context["GOVERNOR"] = str(rng.choice(["buy", "build", ""]))
        entity_type = str(rng.choice(TYPES))
        if entity_type and rng.random() < 0.5:
            first = round(float(rng.uniform(0.4, 1.0)), 3)
            context["SORT_PROBABILITIES"] = {entity_type: first, "object": 1.0 - first}
            context["MENTION_PROBABILITY"] = float(rng.random())
        context["SYNTAX"] = [k % 3, *np.random.default_rng(k).integers(0, 3, size=6).tolist()]
        slots = {"NAME": text} if FORMS[which] == "name" else {}
        found.append(
            Template(f"m{k + 1}", text, 10 * k, 10 * k + len(text), sentence=k // 3,
                     type=entity_type, head=text.split()[-1].lower(),
                     number="singular", form=FORMS[which], slots=slots, context=context)
        )  # fmt: skip
    return tuple(found)


def random_model(rng: np.random.Generator, units: int = 5) -> JointModel:
    """A model of random weights that knows one word."""
    table = rng.normal(size=(STARTED + 2, units)) / 6
    return JointModel(
        np.rint(table * SCALE) / SCALE,
        rng.normal(size=(2, units)),
        rng.normal(size=(2, units)),
        rng.normal(size=FAR) - 2.0,
        np.rint(rng.normal(size=(GATED, units)) / 10 * SCALE) / SCALE,
        rng.normal(size=2) / 10,
        ("company",),
        "random numbers",
        "0" * 64,
    )
