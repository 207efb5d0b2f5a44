"""Keys can be withdrawn, and jobs are rows."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, ForeignKey, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column and the table; what is stored stays as it is."""
    op.add_column("keys", Column("withdrawn", Text, nullable=True))
    op.create_table(
        "jobs",
        Column("job", Text, primary_key=True, nullable=False),
        Column("run", Text, ForeignKey("runs.run", ondelete="CASCADE"), nullable=False),
        Column("request", JSON(none_as_null=True), nullable=False),
        Column("state", Text, nullable=False),
        Column("progress", Text, nullable=False),
        Column("result", JSON(none_as_null=True), nullable=True),
        Column("error", Text, nullable=True),
        Column("created", Text, nullable=False),
        Column("changed", Text, nullable=False),
    )
