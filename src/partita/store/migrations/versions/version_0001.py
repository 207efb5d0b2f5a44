"""The first version of the tables; new stores are made at once as the code knows them."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing leads here: every store that has a version has at least this one."""
