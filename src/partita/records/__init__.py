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
_RENAMED = {"tables": "tabular"}
for _name in (
    *("arrays", "cells", "configurations", "distributions", "documents", "entities"),
    *("keys", "posterior", "tables", "templates"),
):
    _module = import_module(f"partita.core.{_RENAMED.get(_name, _name)}")
    sys.modules[f"{__name__}.{_name}"] = _module
__all__ = partita.core.__all__
