"""Frozen records that flow between the modules."""

from partita.core.arrays import BoolArray, FloatArray, IntArray, components, linked_components
from partita.core.cells import Border, PartialCell, PartialConfiguration
from partita.core.configurations import (
    Cell,
    Configuration,
    restricted_growth,
    restricted_growth_rows,
)
from partita.core.distributions import (
    Budget,
    Distribution,
    Figures,
    Listed,
    Listing,
    PairProbabilities,
    Remainder,
    compatible_pairs,
)
from partita.core.documents import Document, Message, Region, RegionKind
from partita.core.entities import Denial, Entity, SlotValue
from partita.core.posterior import (
    Best,
    DrawnPosterior,
    Figure,
    Kind,
    Marginals,
    Method,
    Posterior,
)
from partita.core.templates import (
    Antecedent,
    Assertion,
    CoreferenceSet,
    Form,
    Id,
    Pair,
    Status,
    Template,
    pair,
)

__all__ = [
    "Antecedent",
    "Assertion",
    "Best",
    "BoolArray",
    "Border",
    "Budget",
    "Cell",
    "Configuration",
    "CoreferenceSet",
    "Denial",
    "Distribution",
    "Document",
    "DrawnPosterior",
    "Entity",
    "Figure",
    "Figures",
    "FloatArray",
    "Form",
    "Id",
    "IntArray",
    "Kind",
    "Listed",
    "Listing",
    "Marginals",
    "Message",
    "Method",
    "Pair",
    "PairProbabilities",
    "PartialCell",
    "PartialConfiguration",
    "Posterior",
    "Region",
    "RegionKind",
    "Remainder",
    "SlotValue",
    "Status",
    "Template",
    "compatible_pairs",
    "components",
    "linked_components",
    "pair",
    "restricted_growth",
    "restricted_growth_rows",
]
