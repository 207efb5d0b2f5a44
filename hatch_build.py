"""The build hook of the wheel: machine code of the kernels where it can be made.

`PARTITA_WHEEL` is `library` (machine code, or the build fails) or `pure` (none; the wheel then
requires Numba); without it, what this machine can do. `PARTITA_COMPILER` is a Python that has Numba
and the package's requirements; without it, the one that builds.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NUMBA = "numba>=0.61"
TAG = "py3-none-manylinux_2_29_x86_64"  # the C library of which exp, log and pow are used


class MachineCode(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the libraries to a wheel, or the requirement that compiles them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or not _library_wanted():
            build_data["dependencies"].append(NUMBA)
            return
        out = Path(self.root) / "build" / "libraries"
        compiler = os.environ.get("PARTITA_COMPILER") or sys.executable
        environment = {**os.environ, "PYTHONPATH": str(Path(self.root) / "src")}
        command = [compiler, "-m", "partita.compilation.build", str(out)]
        subprocess.run(command, check=True, env=environment)
        build_data["pure_python"], build_data["tag"] = False, TAG
        for file in out.iterdir():
            build_data["force_include"][str(file)] = f"partita/compilation/libraries/{file.name}"


def _library_wanted() -> bool:
    chosen = os.environ.get("PARTITA_WHEEL", "")
    if chosen not in ("", "library", "pure"):
        raise ValueError(f"PARTITA_WHEEL is {chosen!r} (expected library or pure)")
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    if chosen == "library" and not here:
        raise ValueError("a wheel with machine code is built on Linux on x86-64 only")
    able = os.environ.get("PARTITA_COMPILER") or importlib.util.find_spec("numba")
    return chosen == "library" or (not chosen and here and bool(able))
