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
_HOMES = {
    "cells": ("cells",),
    "configurations": ("arrays", "configurations", "posterior"),
    "distributions": ("distributions",),
    "entities": ("entities",),
    "tabular": ("tables",),
    "templates": ("documents", "keys", "templates"),
}
for _home, _names in _HOMES.items():
    for _name in _names:
        sys.modules[f"{__name__}.{_name}"] = import_module(f"partita.core.{_home}")
__all__ = partita.core.__all__
