"""Why the joint model linked two mentions: fifty links of five texts, against plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

import partita
from oracles.joint_explained import decision
from partita.app.explain import TOGETHER, Explanation
from partita.app.run import ResolvedMessage
from partita.configurations.joint import codes as code
from partita.configurations.joint.features import joint_columns
from partita.configurations.joint.model import shipped_joint_model
from partita.core import Template, restricted_growth

TEXTS = (
    """Mayor Ruth Okafor said on Tuesday that the city would buy three boats. She promised to
show them to the fishermen. Okafor did not name a price. The boats will be built in Leith,
she said, and the city will pay for them in two years. The fishermen thanked the mayor.
"They waited long," she told the council. The council had asked her for a plan. Her plan
was short.""",
    """Acme Corp. bought Borealis in May. The company paid in cash. Borealis makes pumps. Its
chief executive, Anna Lind, said that she was pleased with the price. Lind will stay at
Borealis for a year. Acme said that it had no further plans. The pumps are sold in Norway.
Tomas Lind, her brother, left the firm. He founded it with her.""",
    """Peter Marsh met his sister at the station. She had lost her bag. He looked for it in the
train, but the bag was gone. Marsh told the guard that it was red. The guard wrote it down
and gave him a form. His sister filled the form in. Then they took a taxi. The driver knew
them.""",
    """The patient, a woman of 54, came to the clinic with a cough. She had smoked for years. Dr.
Patel examined her and ordered an X-ray. The X-ray showed nothing. He told the patient to
stop smoking. She returned to the clinic in June. Patel was pleased with her. The cough
had gone.""",
    """When he was a boy, Henry Weir lived near the river. His mother sold fish there. Weir
bought the first boat with her money. The boat sank, and he nearly drowned. His mother
forbade him to sail it. The river froze that winter. Henry crossed it on foot. She never
heard of it.""",
)
LINKS = 50


@lru_cache
def answers() -> tuple[ResolvedMessage, ...]:
    return tuple(partita.run(text) for text in TEXTS)


def links() -> Iterator[tuple[int, str, str]]:
    """Two mentions of one entity, the later and the one before it."""
    for n, doc in enumerate(answers()):
        starts = {t.id: (t.start, t.end) for t in doc.mentions}
        for entity in doc.entities:
            ids = sorted(entity.templates, key=lambda name: starts[name])
            yield from ((n, later, earlier) for earlier, later in pairwise(ids))


def shares(
    templates: Sequence[Template], labels: np.ndarray, j: int, without: Sequence[str] = ()
) -> np.ndarray:
    """The probability of each cell of the earlier mentions, and of a new one, in this order."""
    model = shipped_joint_model()
    mentions, network = joint_columns(templates, model.lexemes).mentions, model.network
    found = decision(mentions, network, labels, j)
    kept = np.array([one.name not in without for one in code.CELL])
    kept_new = np.array([one.name not in without for one in code.NEW] + ["word" not in without])
    table, gate = model.table, model.gate
    layout = network.layout

    def score(rows: np.ndarray, used: np.ndarray, which: int, out: np.ndarray) -> float:
        hidden = model.bias[which] + table[rows[used]].sum(axis=0)
        return float(out @ np.where(hidden > 0, hidden, hidden / 10))

    scores = model.other[len(code.OTHER) * code.GROUPS[found.new[code.N_KIND]] + found.classes]
    scores = np.append(scores, 0.0)
    for cell, values in zip(found.among, found.codes, strict=True):
        rows, own = layout.cell + values, kept[: code.GATING]
        out = model.out[0] + gate[rows[: code.GATING][own]].sum(axis=0)
        scores[cell] = score(rows, kept, 0, out)
    word = layout.new[-1] + mentions.attributes[j, code.LEXEME_ID]
    scores[-1] = score(np.append(layout.new[:-1] + found.new, word), kept_new, 1, model.out[1])
    exponents = np.exp(scores - scores.max())
    return exponents / exponents.sum()


def log_odds(p: float) -> float:
    return float(np.log(p) - np.log1p(-p))


def placed(doc: ResolvedMessage, why: Explanation) -> tuple[list[Template], np.ndarray, int, int]:
    """The mentions in the order of decisions, labels as in the answer, and two places."""
    templates = sorted(doc.mentions, key=lambda t: (t.start, t.end))
    ids = [t.id for t in templates]
    homes = {name: n for n, entity in enumerate(doc.entities) for name in entity.templates}
    labels = np.array([homes.get(name, len(homes) + n) for n, name in enumerate(ids)])
    assert why.decision is not None
    j = ids.index(why.decision.template)
    i = ids.index(why.left if why.right == why.decision.template else why.right)
    labels[j] = labels[i]
    return templates, restricted_growth(labels), i, j


def test_taking_evidence_away_changes_the_probability_as_stated() -> None:
    seen = 0
    for n, later, earlier in list(links())[:LINKS]:
        doc = answers()[n]
        why = doc.explain(later, earlier)
        assert why.pair is not None
        assert why.decision is not None
        templates, labels, i, j = placed(doc, why)
        whole = shares(templates, labels, j)
        joined = log_odds(whole[labels[i]])
        assert why.pair.log_odds == pytest.approx(joined, abs=0.01)
        for one in why.pair.contributions:
            if one.feature == TOGETHER:
                continue
            p = shares(templates, labels, j, code.EVIDENCE[one.feature])[labels[i]]
            assert one.weight == pytest.approx(joined - log_odds(p), abs=0.02)
            if one.feature in why.decision.sentence and abs(one.weight) > 0.02:
                assert (one.weight > 0) == (p < whole[labels[i]])
        _check_carrier(why, templates, labels, i, j)
        _check_runner_up(why, templates, labels, i, j)
        seen += 1
    assert seen == LINKS


def _check_carrier(
    why: Explanation, templates: list[Template], labels: np.ndarray, i: int, j: int
) -> None:
    """Without the member that carries it the decision is less probable."""
    decided = why.decision
    assert decided is not None
    if decided.carrier_change <= 0.0:
        return
    carrier = [t.id for t in templates].index(decided.carrier)
    changed = labels.copy()
    changed[carrier] = labels.max() + 1
    rest = next(k for k in range(j) if labels[k] == labels[i] and k != carrier)
    changed = restricted_growth(changed)
    after = log_odds(shares(templates, changed, j)[changed[rest]])
    before = log_odds(shares(templates, labels, j)[labels[i]])
    assert before - after == pytest.approx(decided.carrier_change, abs=0.02)


def _check_runner_up(
    why: Explanation, templates: list[Template], labels: np.ndarray, i: int, j: int
) -> None:
    decided = why.decision
    assert decided is not None
    others = shares(templates, labels, j)
    others[labels[i]] = 0.0
    assert decided.runner_up_probability == pytest.approx(others.max(), abs=0.01)
    if decided.runner_up:
        place = [t.id for t in templates].index(decided.runner_up[0])
        assert others[labels[place]] == pytest.approx(others.max(), abs=0.01)


def test_the_sentence_comes_first() -> None:
    n, later, earlier = next(links())
    why = answers()[n].explain(later, earlier)
    assert why.decision is not None
    text = " ".join(str(why).split())
    assert " ".join(why.decision.sentence.split()) in text
    assert text.index("The next choice is") < text.index("feature")
    assert why.to_dict()["decision"]["carrier"] == why.decision.carrier


def test_what_is_denied_has_no_decision() -> None:
    doc = partita.run("Anna Berg is not the mayor. Anna Berg is a teacher.")
    ids = {t.text: t.id for t in doc.mentions}
    why = doc.explain(ids["Anna Berg"], ids["the mayor"])
    assert why.decision is None or why.marginal < 0.5
