"""Runs in a database; all SQL is here.

The database packages are an optional extra: without them, importing this raises one clear error.
"""

from importlib.util import find_spec

from partita.errors import Unavailable

for _package in ("sqlalchemy", "alembic"):
    if find_spec(_package) is None:
        raise Unavailable(f"a store needs {_package}; install partita[store]")
