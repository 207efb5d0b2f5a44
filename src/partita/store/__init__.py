"""Runs in a database: the only SQL.

The packages that speak it are an extra: without them, one clear line instead of a missing module.
"""

from importlib.util import find_spec

from partita.errors import Unavailable

for _package in ("sqlalchemy", "alembic"):
    if find_spec(_package) is None:
        raise Unavailable(f"a store needs {_package}; install partita[store]")
