"""Runs in a database; all SQL is here.

The database packages are an optional extra: without them, importing this raises one clear error.
"""

from importlib.util import find_spec

from partita.errors import Unavailable

if find_spec("sqlalchemy") is None:
    raise Unavailable("a store needs sqlalchemy; install partita[store]")
