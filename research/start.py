"""Learn what a domain without keys starts from, leaving whole domains out.

python -m research.start [--out F] [--choose] [--curve]

Domains are depots, business news, general text (GUM, free genres, sets of at most 9 templates) and
the three small domains of tests/domains/small. Each has its keys twice: on the templates of the key
and on those that its rules extract, matched by place. The start maximises the likelihood of whole
keys, large domains cut to 24 documents, with a prior around the parameters of GUM, tempered; the
result is tempered again. --choose tries the settings (the strength of GUM, the precision of the
prior, the last strength): for each domain a model of the others is measured. Chosen is, of the
settings whose worst ratio to uniform is within .01 of the best, that of the best mean. The table
is of the settings below. --curve teaches each model 1, 2, 5, 10 and 20 messages of the domain that
was left out. The twelve messages of tests/domains/unseen are depots: they are measured with depots
left out, and choose nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from partita.configurations.odds import UNSCALED, ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.core import Configuration, Document, FloatArray, IntArray, Template
from partita.core.templates import KIND
from partita.corpora.documents import read_corpora
from partita.corpora.keys import match_by_id_or_place
from partita.domains import find_domain
from partita.evaluation.rows import table
from partita.evaluation.splits import Cut, cut_document, learn_excluded
from partita.pairs.characteristics import EXTENDED, feature_names
from partita.pairs.models import IDENTITY, MaximumEntropy
from partita.text.layout import parse_layout
from partita.training.few_keys import adapt_parameters, keyed_training_data, weights_at_scale
from partita.training.key_likelihood import KeyLikelihood, KeyPrior, fit_weights
from partita.training.lessons import Lesson, key_answer, lesson
from partita.training.pair_models import greedy_shares
from partita.training.parameter_files import (
    PairParameters,
    read_pair_parameters,
    write_pair_parameters,
)

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("PARTITA_DATA", ROOT.parent / "shared" / "data"))
GUM = ROOT / "research" / "gum_pairs.json"  # pair by pair from 117 documents
SMALL = ("football", "thefts", "trains")
FREE = ("academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage")
EVERY = 4  # of the documents of GUM one in so many
LARGEST = 9  # templates in a set of GUM
MOST = 24  # documents of a domain
KEYS = (1, 2, 5, 10, 20)
TOLD = ("ties: apposition", "ties: predicate")
LEARNED_FROM = "keys of depots, business news, three small domains and GUM's free genres"


@dataclass(frozen=True, slots=True)
class Settings:
    """How much of GUM's log-odds is kept, the precision of the prior, how much of the result."""

    of_gum: float = 0.4
    precision: float = 30.0
    strength: float = 1.0


CHOICES = tuple(Settings(*one) for one in product((0.4, 0.2), (10.0, 30.0), (1.0, 0.8, 0.6)))


def keyed(domain: str, corpus: Path) -> Iterator[Cut]:
    """Yield every message twice: with the templates of its key, and with those extracted."""
    found = find_domain(domain)
    for document in read_corpora([corpus], None):
        things = [n for n, one in enumerate(document.templates) if KIND not in one.context]
        keyed = part(document, np.array(things))
        yield cut_document(keyed, found.schema)
        message = parse_layout(document.name, document.text)
        extracted = _extracted(keyed, found.extract(message))
        if len(extracted):
            yield cut_document(extracted, found.schema)


def _extracted(document: Document, templates: Iterable[Template]) -> Document:
    things = (one for one in templates if KIND not in one.context)
    ordered = sorted(things, key=lambda one: (one.start, one.end))
    matched, _ = match_by_id_or_place(
        document.templates, {f"x{n}": replace(one, id=f"x{n}") for n, one in enumerate(ordered)}
    )
    kept = [(matched[f"x{n}"], one) for n, one in enumerate(ordered) if f"x{n}" in matched]
    own = {gold: one.id for gold, one in kept}
    cells = ([own[member] for member in cell if member in own] for cell in document.key)
    key = Configuration(cell for cell in cells if cell)
    return replace(document, templates=tuple(one for _, one in kept), key=key, alternatives=())


def domains() -> dict[str, list[Cut]]:
    """Return the keyed documents of every domain."""
    news = ROOT / "examples" / "business-news" / "business_news"
    small = {name: ROOT / "tests" / "domains" / "small" / name for name in SMALL}
    folders = {"business news": news} | small
    depots = ROOT / "src" / "partita" / "domains" / "depots" / "corpus"
    found = {"depots": [cut for cut in keyed("depots", depots) if _may_teach(cut)]}
    found |= {name: list(keyed(str(at), at / "corpus")) for name, at in folders.items()}
    gum = [one for genre in FREE for one in sorted((DATA / "gum" / "train").glob(f"*_{genre}_*"))]
    texts = read_corpora(gum[::EVERY], None) if gum else ()
    found["general"] = [only_small(cut_document(one), LARGEST) for one in texts]
    found["unseen depots"] = list(keyed("depots", ROOT / "tests" / "domains" / "unseen"))
    return {name: cuts for name, cuts in found.items() if cuts}


def part(document: Document, members: IntArray) -> Document:
    """Return the document with these templates only."""
    if len(members) == len(document):
        return document
    templates = tuple(document.templates[n] for n in members.tolist())
    kept = {template.id for template in templates}
    others = tuple((_part_of(cells, kept), weight) for cells, weight in document.alternatives)
    return replace(
        document, templates=templates, key=_part_of(document.key, kept), alternatives=others
    )


def _part_of(cells: Configuration, kept: set[str]) -> Configuration:
    return Configuration([member for member in cell if member in kept] for cell in cells)


def only_small(cut: Cut, largest: int) -> Cut:
    """Return the document with its small sets only."""
    kept = [members for members in cut.sets if len(members) <= largest]
    members = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *kept]))
    document = part(cut.document, members)
    return Cut(
        document,
        cut.compatible[np.ix_(members, members)],
        document.labels,
        tuple(np.searchsorted(members, each) for each in kept),
        crosses=False,
        schema=cut.schema,
    )


def _may_teach(cut: Cut) -> bool:
    """Return whether a message of depots is of the parts that parameters are learned from."""
    return not cut.document.name.startswith("new")


def even_start() -> PairParameters:
    """Return the parameters of GUM with the characteristics of today."""
    gum = read_pair_parameters(GUM)
    return replace(gum, every_pair=_extended(gum.every_pair), questions=_extended(gum.questions))


def _extended(model: MaximumEntropy) -> MaximumEntropy:
    known = dict(zip(model.features, model.weights.tolist(), strict=True))
    weights = np.array([known.get(name, 0.0) for name in feature_names(EXTENDED)])
    return replace(model, characteristics=EXTENDED, weights=weights)


def learned(gum: PairParameters, lessons: Sequence[Lesson], settings: Settings) -> PairParameters:
    """Return the start that some domains give."""
    data, prior = keyed_training_data(gum, lessons), KeyPrior(8.0, 1.0, settings.precision)
    models = (
        (gum.every_pair, data.product, data.every),
        (gum.questions, data.merging, data.questions),
    )
    every, questions = (
        replace(model, weights=_tempered(model, likelihood, indices, prior, settings))
        for model, likelihood, indices in models
    )
    cuts = [one.cut for one in lessons]
    shares = greedy_shares(cuts)
    greedy = GreedyParameters(*(round(p, 6) for p in (shares.p2, shares.p3, shares.p_more)))
    masses = learn_excluded(cuts)
    digest = hashlib.sha256("".join(one.sha256 for one in lessons).encode()).hexdigest()
    return replace(
        gum,
        every_pair=replace(every, figures={"pairs": len(data.every)}),
        questions=replace(questions, figures={"pairs": len(data.questions)}),
        greedy=greedy,
        scaled=UNSCALED,
        excluded=round(masses.sets, 6),
        crossing=round(masses.documents, 6),
        learned_from=LEARNED_FROM,
        sha256=digest,
        figures={"documents": len(cuts), "sets": sum(len(cut.sets) for cut in cuts)},
    )


def _tempered(
    model: MaximumEntropy,
    likelihood: KeyLikelihood,
    indices: IntArray,
    prior: KeyPrior,
    settings: Settings,
) -> FloatArray:
    around = weights_at_scale(model, ScaledParameters(settings.of_gum, 0.0))
    told = [n for n, name in enumerate(model.features) if name in TOLD]
    around[told] = IDENTITY  # few keys have any: what a sentence says of two is not learned here
    weights = fit_weights(likelihood, indices, around, prior)
    return (settings.strength * weights).round(6)


def some(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return at most MOST documents, evenly spread, each with both kinds of templates."""
    names = list(dict.fromkeys(one.cut.document.name for one in lessons))
    kept = {names[n] for n in np.linspace(0, len(names) - 1, min(MOST, len(names))).astype(int)}
    return [one for one in lessons if one.cut.document.name in kept]


@dataclass(frozen=True, slots=True)
class Left:
    """A domain that was left out: bits per set of each model."""

    domain: str
    sets: int
    bits: Mapping[str, float]

    @property
    def ratio(self) -> float:
        return self.bits["evidential"] / self.bits["uniform"]


MODELS = ("uniform", "greedy", "merging", "evidential")
JUDGE = "unseen depots"


def bits(lessons: Sequence[Lesson], parameters: PairParameters, model: str) -> float:
    sets = sum(len(one.cut.sets) for one in lessons)
    return math.fsum(key_answer(one, parameters, model).bits for one in lessons) / sets


def leave_out(
    gum: PairParameters,
    lessons: Mapping[str, Sequence[Lesson]],
    settings: Settings,
    models: Sequence[str] = MODELS,
) -> Iterator[tuple[Left, PairParameters]]:
    """Yield every domain with its bits under a start that the others gave, and that start."""
    starts = {}
    for name, own in lessons.items():
        away = "depots" if name == JUDGE else name
        if away not in starts:
            others = [one for other, many in lessons.items() if other not in (away, JUDGE)
                      for one in some(many)]  # fmt: skip
            starts[away] = learned(gum, others, settings)
        found = {model: bits(own, starts[away], model) for model in models}
        yield Left(name, sum(len(one.cut.sets) for one in own), found), starts[away]


def choose(gum: PairParameters, lessons: Mapping[str, Sequence[Lesson]]) -> None:
    """Print the mean and the worst ratio to uniform under every choice."""
    chosen = {name: many for name, many in lessons.items() if name != JUDGE}
    lines = []
    for settings in CHOICES:
        found = [left for left, _ in leave_out(gum, chosen, settings, ("uniform", "evidential"))]
        ratios = [left.ratio for left in found]
        cells = (settings.of_gum, settings.precision, settings.strength, *ratios)
        cells += (float(np.mean(ratios)), max(ratios))
        lines.append([f"{cell:.2f}" for cell in cells])
        print("|", " | ".join(lines[-1]), "|", flush=True)
    head = ("GUM", "precision", "strength", *chosen, "mean", "worst")
    print(table(head, lines))


def show(gum: PairParameters, lessons: Mapping[str, Sequence[Lesson]], curve: bool) -> None:
    """Print the table of the settings and, if asked for, the curves."""
    lines, curves = [], []
    for left, start in leave_out(gum, lessons, Settings()):
        cells = [f"{left.bits[model]:.2f}" for model in MODELS]
        lines.append([left.domain, str(left.sets), *cells, f"{left.ratio:.2f}"])
        if curve:
            curves.append([left.domain, *_curve(lessons[left.domain], start)])
    print(table(("left out", "sets", *MODELS, "evidential / uniform"), lines))
    if curve:
        print("\n" + table(("left out", "uniform", "0", *map(str, KEYS)), curves))


def _curve(lessons: Sequence[Lesson], start: PairParameters) -> list[str]:
    """Return bits per set by number of messages learned from, in two halves of the messages."""
    names = list(dict.fromkeys(one.cut.document.name for one in lessons))
    halves = [set(names[n::2]) for n in range(2)]
    cells = []
    for keys in (-1, 0, *KEYS):
        spent, sets = 0.0, 0
        for held in halves:
            known = [name for name in names if name not in held][: max(keys, 0)]
            if len(known) < keys:
                continue
            taught = [one for one in lessons if one.cut.document.name in known]
            found, tested = (
                adapt_parameters(start, taught),
                [one for one in lessons if one.cut.document.name in held],
            )
            model = "uniform" if keys < 0 else "evidential"
            sets += sum(len(one.cut.sets) for one in tested)
            spent += math.fsum(key_answer(one, found, model).bits for one in tested)
        cells.append(f"{spent / sets:.2f}" if sets else "")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the start that all domains give")
    parser.add_argument("--choose", action="store_true", help="try all settings")
    parser.add_argument("--curve", action="store_true", help="measure learning curves")
    options = parser.parse_args()
    gum = even_start()
    lessons = {
        name: [lesson(cut, gum) for cut in cuts if cut.sets] for name, cuts in domains().items()
    }
    if options.choose:
        choose(gum, lessons)
    elif options.out is None:
        show(gum, lessons, options.curve)
    else:
        everything = [one for name, many in lessons.items() if name != JUDGE for one in some(many)]
        write_pair_parameters(options.out, learned(gum, everything, Settings()))


if __name__ == "__main__":
    main()
