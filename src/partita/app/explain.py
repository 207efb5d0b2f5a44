"""Explain why two templates were or were not resolved as the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.app.run import ResolvedMessage, saved
from partita.app.solve import LEARNED, parameters_path
from partita.configurations import PAIR_MODELS
from partita.configurations.greedy import GreedyParameters
from partita.configurations.odds import ScaledParameters
from partita.configurations.solve import solve
from partita.domains import Domain, find_domain, maximum_entropy
from partita.errors import InputError
from partita.pairs.columns import template_columns
from partita.pairs.explanation import PairExplanation, SetExplanation, explain_pair, explain_set
from partita.pairs.models import MaximumEntropy
from partita.records import Distribution, FloatArray, Id, PairProbabilities, Template, pair
from partita.records.tables import Columns, Tabular
from partita.results.saved_results import Alone, Result, read_results
from partita.templates.schema import Schema
from partita.training.pair_parameters import training_of
from partita.training.parameter_files import (
    model_parameters,
    read_pair_parameters,
    shipped_pair_parameters,
)
from partita.views import explanation as view
from partita.views.charts import explanation_chart, save

if TYPE_CHECKING:
    from partita.app.train import TrainedModel

SAME = 1e-6  # probabilities that differ by more come from other parameters


@dataclass(frozen=True, slots=True)
class Explanation(Tabular):
    """Why two templates were resolved as the same or not.

    `probability` is that of the pair alone, `marginal` the one in the distribution over
    configurations. `pair` has the features and their weights, where they are known, `rest` what
    the other templates of the set changed. The tables are `features` and `influences`.
    """

    left: str
    right: str
    probability: float
    marginal: float
    pair: PairExplanation | None
    rest: SetExplanation | None
    expressions: dict[str, str]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        told = view.PairSummary(self.left, self.right, self.probability, self.marginal)
        return view.text(told, self.pair, self.rest, self.expressions, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita explain --json` writes it."""
        return asdict(self)

    def save_chart(self, path: str | os.PathLike[str]) -> None:
        """Draw a waterfall chart; the ending of the file gives the format: svg, html or png."""
        told = view.PairSummary(self.left, self.right, self.probability, self.marginal)
        save(explanation_chart(told, self.pair, self.rest), Path(path))

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {"features": self._feature_columns, "influences": self._influence_columns}

    def _feature_columns(self) -> Columns:
        features = self.pair.contributions if self.pair else ()
        names = ("feature", "weight", "documentation")
        return {name: [getattr(one, name) for one in features] for name in names}

    def _influence_columns(self) -> Columns:
        influences = self.rest.influences if self.rest else ()
        return {
            "templates": [list(one.templates) for one in influences],
            "before": [one.before for one in influences],
            "after": [one.after for one in influences],
        }


def explain(
    results: ResolvedMessage | Distribution | str | os.PathLike[str],
    left: Id,
    right: Id,
    *,
    set_name: str | None = None,
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    domain: str | None = None,
) -> Explanation:
    """Explain why two templates were resolved as the same or not.

    `results` is what `run` or `solve` returns, or a file of results (JSONL); `left` and `right`
    are ids of templates. `set_name` names the coreference set; the default is the only one
    that holds both. Slots are compared as `domain` says, and `parameters` are those that the
    results were made with: results of `run` have both.
    """
    if isinstance(results, str | os.PathLike):
        lines, place = list(read_results(Path(results))), str(results)
    else:
        lines, place = saved(results), "the results"
    if isinstance(results, ResolvedMessage):
        domain = domain or results.settings.domain
        parameters = parameters or results.settings.parameters or None
    one, domain_of_run = _found(lines, set_name, (str(left), str(right)), place)
    path = parameters_path(parameters)
    return explained(one, str(left), str(right), path, domain or domain_of_run, place)


def explained(
    one: Result,
    left: str,
    right: str,
    parameters: Path | None,
    domain: str | None,
    place: str,
) -> Explanation:
    """The same for a set that has been found."""
    _refuse_unknown(one, left, right, place)
    about = None if domain is None else _domain(domain, parameters)
    given = _pairs(one)
    s, t = sorted((one.set.ids.index(left), one.set.ids.index(right)))
    probability, marginal = float(given.matrix[s, t]), float(one.marginals.value[s, t])
    notes: list[str] = []
    alone = _alone(one, left, right, probability, parameters, about, notes)
    rest = _rest(one, given, left, right, marginal, parameters, about, notes)
    said = {template.id: template.text for template in one.set.templates if template.text}
    return Explanation(
        one.set.ids[s], one.set.ids[t], probability, marginal, alone, rest, said, tuple(notes)
    )


def _domain(name: str, parameters: Path | None) -> Domain:
    domain = find_domain(name)
    return domain if parameters is None else domain.with_parameters(parameters)


def _found(
    lines: Sequence[Result | Alone], name: str | None, ids: tuple[str, str], place: str
) -> tuple[Result, str | None]:
    """Return the set, and the domain of the run that resolved its message."""
    sets = [one for one in lines if isinstance(one, Result)]
    if name is not None:
        chosen = [one for one in sets if one.set.name == name]
    else:
        chosen = [one for one in sets if {*ids} <= {*one.set.ids}]
    if not chosen and name is None:
        raise InputError(f"no set holds both {ids[0]} and {ids[1]}", file=place)
    if not chosen or (name is None and len(chosen) > 1):
        shown = [one.set.name for one in (chosen or sets)]
        named = ", ".join(shown[:10]) + (", …" if len(shown) > 10 else "")
        problem = f"has no set {name}" if name else f"has {len(chosen)} sets with both"
        raise InputError(f"{problem}; expected one of {named}", file=place)
    one = chosen[-1]
    alone = (a.domain for a in lines if isinstance(a, Alone) and a.message == one.message)
    return one, next(alone, "") or None


def _refuse_unknown(one: Result, left: str, right: str, place: str) -> None:
    for template in (left, right):
        if template not in one.set.ids:
            shown = ", ".join(one.set.ids[:20])
            problem = f"set {one.set.name} has no template {template}; expected one of {shown}"
            raise InputError(problem, file=place)
    if left == right:
        raise InputError(f"{left} is one template; expected two")


def _pairs(one: Result) -> PairProbabilities:
    matrix = one.probabilities.copy()
    np.fill_diagonal(matrix, 1.0)
    return PairProbabilities(one.set, matrix)


def _alone(
    one: Result,
    left: str,
    right: str,
    probability: float,
    parameters: Path | None,
    domain: Domain | None,
    notes: list[str],
) -> PairExplanation | None:
    """The features of the pair, unless nothing is known of them."""
    if one.model == "joint":
        notes.append("The joint model weighs cells, not pairs: a pair has no features of its own.")
        return None
    if pair(left, right) in {pair(*known) for known in one.set.incompatible}:
        notes.append("The two are known to be incompatible, whatever their features are.")
        return None
    if not all(_described(template) for template in one.set.templates):
        notes.append(
            "The results hold pair probabilities without what was observed of the templates: "
            "the features are unknown."
        )
        return None
    model = _model(one, parameters, domain)
    if model is None:
        notes.append("The pair model of the domain has no features that could be shown.")
        return None
    schema = None if domain is None else domain.schema
    found = explain_pair(model, _columns(one, schema), left, right)
    if abs(found.probability - probability) > SAME:
        notes.append(
            f"By these parameters the pair alone has {found.probability:.4f}, by the results "
            f"{probability:.4f}: these were made with other parameters."
        )
    return found


def _described(template: Template) -> bool:
    return bool(template.head or template.text or template.form or template.slots)


def _model(one: Result, path: Path | None, domain: Domain | None) -> MaximumEntropy | None:
    """Return the model of the domain or, without a domain, that of a file or the shipped one."""
    if domain is not None:
        return maximum_entropy(domain.pair_model(one.model), one.set.templates)
    learned = shipped_pair_parameters() if path is None else read_pair_parameters(path)
    return learned.pair_model(training_of(one.model))


def _columns(one: Result, schema: Schema | None) -> Any:
    """As the pairs of a set are observed when it is resolved."""
    place = {name: n for n, name in enumerate(one.set.ids)}
    compatible = np.ones((len(place), len(place)), dtype=np.bool_)
    for left, right in one.set.incompatible:
        compatible[place[left], place[right]] = compatible[place[right], place[left]] = False
    return template_columns(one.set.templates, schema=schema, compatible=compatible)


def _rest(
    one: Result,
    given: PairProbabilities,
    left: str,
    right: str,
    marginal: float,
    path: Path | None,
    domain: Domain | None,
    notes: list[str],
) -> SetExplanation | None:
    if one.model not in PAIR_MODELS:
        return None
    own = path or (domain and domain.parameter_file)
    if one.model == "scaled" and own is None:
        notes.append("The scale is the shipped one; --parameters F gives another.")
    learned = _model_parameters(one.model, path, domain)

    def marginals(pairs: PairProbabilities) -> FloatArray:
        return solve(pairs, one.model, parameters=learned, top=1).marginals.value

    return explain_set(given, left, right, marginal, marginals)


def _model_parameters(
    model: str, path: Path | None, domain: Domain | None
) -> GreedyParameters | ScaledParameters | None:
    if model not in LEARNED:
        return None
    if domain is None:
        return model_parameters(model, path)
    pairs = domain.pair_parameters
    return pairs.greedy if model == "greedy" else pairs.scaled
