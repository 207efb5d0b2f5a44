"""Frozen records that flow between the modules."""

from partita.records.arrays import BoolArray, FloatArray, IntArray, components, linked_components
from partita.records.cells import Border, PartialCell, PartialConfiguration
from partita.records.configurations import (
    Cell,
    Configuration,
    restricted_growth,
    restricted_growth_rows,
)
from partita.records.distributions import (
    Budget,
    Distribution,
    Figures,
    Listed,
    Listing,
    PairProbabilities,
    Remainder,
)
from partita.records.documents import Document, Message, Region, RegionKind
from partita.records.entities import Denial, Entity, SlotValue
from partita.records.posterior import (
    Best,
    DrawnPosterior,
    Figure,
    Kind,
    Marginals,
    Method,
    Posterior,
)
from partita.records.templates import (
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
    "components",
    "linked_components",
    "pair",
    "restricted_growth",
    "restricted_growth_rows",
]
