"""Who is who in texts and records, with probabilities.

Verbs, the same as the commands:

    run       extract entities from a text and resolve coreference
    solve     compute the distribution over the configurations of one set
    cluster   cluster records by the scores of their pairs
    link      deduplicate or link tables of records
    fuse      combine what several sources say into one belief
    build     make one knowledge base of many documents
    train     train parameters from keys (gold labels)
    evaluate  measure results against keys
    explain   explain why two templates were resolved as the same or not

Every result has to_pandas(), to_arrow() and to_dict(), and shows itself in
a notebook. Probabilities are plain floats. Errors are subclasses of
PartitaError.

>>> import partita
>>> doc = partita.run("A depot was found in Kinston. The depot is new.")
>>> doc.to_pandas()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.app.build import KnowledgeBase, build
    from partita.app.cluster import Clusters, cluster
    from partita.app.evaluate import Evaluation, evaluate
    from partita.app.explain import Explanation, explain
    from partita.app.fuse import Belief, fuse
    from partita.app.link import LinkedRecords, link
    from partita.app.run import ResolvedMessage, run
    from partita.app.solve import solve
    from partita.app.train import TrainedModel, train
    from partita.core.configurations import Configuration
    from partita.core.distributions import Budget, Distribution, PairProbabilities
    from partita.core.entities import Entity
    from partita.core.templates import CoreferenceSet, Key, Message, Template
    from partita.domains import Domain
    from partita.errors import Contradiction, InputError, PartitaError, TooLarge, Unavailable

__version__ = "0.1.0"

__all__ = [
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
    "KnowledgeBase",
    "LinkedRecords",
    "Message",
    "PairProbabilities",
    "PartitaError",
    "ResolvedMessage",
    "Template",
    "TooLarge",
    "TrainedModel",
    "Unavailable",
    "build",
    "cluster",
    "evaluate",
    "explain",
    "fuse",
    "link",
    "run",
    "solve",
    "train",
]

_HOMES = {
    name: module
    for module, names in {
        "app.build": ("KnowledgeBase", "build"),
        "app.cluster": ("Clusters", "cluster"),
        "app.evaluate": ("Evaluation", "evaluate"),
        "app.explain": ("Explanation", "explain"),
        "app.fuse": ("Belief", "fuse"),
        "app.link": ("LinkedRecords", "link"),
        "app.run": ("ResolvedMessage", "run"),
        "app.solve": ("solve",),
        "app.train": ("TrainedModel", "train"),
        "domains": ("Domain",),
        "errors": ("Contradiction", "InputError", "PartitaError", "TooLarge", "Unavailable"),
        "core.configurations": ("Configuration",),
        "core.distributions": ("Budget", "Distribution", "PairProbabilities"),
        "core.entities": ("Entity",),
        "core.templates": ("CoreferenceSet", "Key", "Message", "Template"),
    }.items()
    for name in names
}


if not TYPE_CHECKING:  # a type checker sees the imports above, and no other names

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: `import partita` stays quick."""
        if name not in _HOMES:
            raise AttributeError(f"module 'partita' has no attribute {name!r}")
        value = getattr(import_module(f"partita.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
