"""Build what is generated from the code: the reference and the pictures. Run by `make docs`."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from typer.main import get_command

import partita
from partita.cli import app

HERE = Path(__file__).parent


def reference() -> str:
    """The public names with their signatures and docstrings, and the commands' help."""
    names = [_entry(name, getattr(partita, name)) for name in partita.__all__]
    commands = [_help(name) for name in get_command(app).commands]
    return "\n".join(["# Reference", "", "Made from the code by `make docs`.", "",
                      "## Python", "", *names, "## Commands", "", *commands])  # fmt: skip


def _entry(name: str, thing: object) -> str:
    lines = [f"### `partita.{name}`", "", inspect.getdoc(thing) or "", ""]
    if inspect.isfunction(thing):
        lines[1:1] = ["", "```", f"{name}{inspect.signature(thing)}", "```"]
    elif inspect.isclass(thing):
        for part, value in vars(thing).items():
            if not part.startswith("_") and (
                callable(value) or isinstance(value, property | classmethod)
            ):
                text = inspect.getdoc(value)
                lines += [f"- `{part}`: {text.splitlines()[0]}"] if text else []
        lines.append("")
    return "\n".join(lines)


def _help(command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "partita", command, "--help"],
        capture_output=True, text=True, check=True,
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
    )  # fmt: skip
    return f"### `partita {command}`\n\n```\n{run.stdout.rstrip()}\n```\n"


def pictures(page: Path) -> None:
    """The pictures that the Python code of a page makes, called plot-…"""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", "".join(blocks)], cwd=folder, check=True)
        for made in sorted(Path(folder).glob("plot-*.svg")):
            (HERE / "pictures" / made.name).write_bytes(made.read_bytes())


def main() -> None:
    (HERE / "reference.md").write_text(reference(), encoding="utf-8")
    pictures(HERE / "plots.md")


if __name__ == "__main__":
    main()
