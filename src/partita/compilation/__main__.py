"""Compile all groups of kernels for this machine: `python -m partita.compilation`."""

from partita.compilation.loading import compile_all

compile_all()
