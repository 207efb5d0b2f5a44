"""Statuses of values, and what entities are denied to be."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, Text

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From version 0002: what it holds has no statuses, and so is asserted."""
    op.add_column("entities", Column("denied", JSON(none_as_null=True), nullable=True))
    op.add_column("slot_values", Column("status", Text, nullable=True))
