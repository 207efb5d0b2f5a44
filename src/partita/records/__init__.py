"""The former name of `partita.core`, for programs that import it."""

import sys
import warnings
from importlib import import_module

import partita.core
from partita.core import *  # noqa: F403

warnings.warn(
    "partita.records is now partita.core; the old name will be removed in version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
for _name in (
    *("arrays", "cells", "configurations", "distributions", "documents", "entities"),
    *("keys", "posterior", "tables", "templates"),
):
    sys.modules[f"{__name__}.{_name}"] = import_module(f"partita.core.{_name}")
__all__ = partita.core.__all__
