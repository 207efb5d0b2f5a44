"""What the rule language reads as values: text → number, date, measure, coordinate, or nothing."""

from __future__ import annotations

from partita.extraction.values_coordinate import coordinate
from partita.extraction.values_date import date
from partita.extraction.values_measure import measure
from partita.extraction.values_number import number

__all__ = ["coordinate", "date", "measure", "number"]
