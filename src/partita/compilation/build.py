"""Build the libraries of a wheel: `python -m partita.compilation.build FOLDER`.

All groups are compiled for each level of x86-64, and linked by the C compiler (`CC`, else `cc`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partita.compilation.cache import writable_folder
from partita.compilation.loading import GROUPS, LEVELS, MANIFEST, fitting, start

LINK = ("-shared", "-s", "-Wl,--no-undefined", "-Wl,-z,noexecstack")


def build_libraries(out: Path) -> None:
    """Write the libraries and their manifest to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with _objects() as folder:
        with ThreadPoolExecutor(os.cpu_count()) as several:
            list(several.map(lambda group: _compile(group, folder), GROUPS))
        groups: dict[str, Any] = {}
        libraries = {}
        for level in LEVELS:
            codes = {}
            for group in GROUPS:
                described, codes[group] = fitting(group, [folder], level) or ({}, b"")
                groups[group] = {name: described[name] for name in ("sources", "entries")}
            libraries[level] = f"kernels-{level}.so"
            _link(codes, out / libraries[level])
    manifest = {"libraries": libraries, "groups": groups}
    (out / MANIFEST.name).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


@contextmanager
def _objects() -> Iterator[Path]:
    """Yield the folder for objects: they are kept, so that the next build is quick."""
    with tempfile.TemporaryDirectory() as temporary:
        yield writable_folder() or Path(temporary)


def _compile(group: str, folder: Path) -> None:
    with start(group, folder, *LEVELS) as process:
        _, error = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the kernels of {group} cannot be compiled: {error.decode()[-2000:]}")


def _link(codes: dict[str, bytes], path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        objects = [Path(folder) / f"{group}.o" for group in codes]
        for each, code in zip(objects, codes.values(), strict=True):
            each.write_bytes(code)
        compiler = os.environ.get("CC") or "cc"
        subprocess.run([compiler, *LINK, "-o", path, *objects, "-lm"], check=True)


if __name__ == "__main__":
    build_libraries(Path(sys.argv[1]))
