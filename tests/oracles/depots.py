"""The paper's Figure 2 and a schema for it."""

from __future__ import annotations

from partita.core import Template
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.name import NameType, PlaceType
from partita.templates.quantities import NumberType
from partita.templates.schema import Schema

TYPES = Hierarchy.of(
    {
        "FACILITY": None,
        "DEPOT": "FACILITY",
        "BRIDGE": "FACILITY",
        "KIND": None,
        "RAIL": "KIND",
        "AMMUNITION": "KIND",
    }
)
SCHEMA = Schema(
    {
        "FACILITY": HierarchyType(TYPES, "FACILITY"),
        "NUMBER": NumberType(),
        "LOCATION": PlaceType(),
        "TYPE": HierarchyType(TYPES, "KIND"),
        "NAME": NameType(),
    },
    TYPES,
)
A = Template(
    "A",
    start=6,
    slots={"FACILITY": "DEPOT", "NUMBER": 1, "LOCATION": "KINSTON", "TYPE": "RAIL"},
)
B = Template("B", start=40, slots={"FACILITY": "DEPOT", "NUMBER": 1, "TYPE": "RAIL"})
C = Template(
    "C",
    start=150,
    slots={"FACILITY": "DEPOT", "NUMBER": 1, "LOCATION": "FAIRVIEW", "TYPE": "AMMUNITION"},
)
D = Template("D", start=250, slots={"FACILITY": "DEPOT", "NUMBER": 1})
