"""Who is who, with a probability distribution over the alternatives."""

from partita.app.solve import solve
from partita.errors import PartitaError
from partita.records import (
    Budget,
    Configuration,
    CoreferenceSet,
    Distribution,
    PairProbabilities,
    Template,
)

__all__ = [
    "Budget",
    "Configuration",
    "CoreferenceSet",
    "Distribution",
    "PairProbabilities",
    "PartitaError",
    "Template",
    "solve",
]
__version__ = "0.1.0"
