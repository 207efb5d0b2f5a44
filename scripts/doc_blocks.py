"""Run the Python and console blocks of a page of the documentation; write what commands print.

    python scripts/doc_blocks.py README.md docs/index.md …

rewrites the outputs shown in the pages, or in all pages if none is named. In a console block `$ cat
FILE` makes the file with the lines shown if it is not there yet. A line `...` stands for any lines:
an output with such a line stays as it is, and is named where it no longer fits.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from typer.testing import CliRunner

from partita.cli import app

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONG_NUMBER = re.compile(r"\d+\.\d{9,}(e-?\d+)?")  # its last digits depend on the processor
COMPILING = re.compile(r"^partita: compiling for this machine, once.*\n", re.MULTILINE)  # or not
ELIDED = re.compile(r"^\.\.\.$", re.MULTILINE)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield each block that is run, as its kind and its content."""
    yield from BLOCK.findall(page.read_text(encoding="utf-8"))


def converse(code: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run every command of a console block; yield it, the output shown and the one printed."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        made = re.fullmatch(r"cat (\S+)", command)
        if made and not (folder / made[1]).exists():
            (folder / made[1]).write_text(expected, encoding="utf-8")
            yield command, expected, expected
        else:
            yield command, expected, COMPILING.sub("", _run(command, folder))


def fits(expected: str, printed: str) -> bool:
    """Return whether an output is as shown, lines `...` being any lines."""
    expected, printed = (
        LONG_NUMBER.sub(lambda number: f"{float(number[0]):.9g}", text)
        for text in (expected, printed)
    )
    lines = [".*" if line == "..." else re.escape(line) for line in expected.splitlines()]
    return re.fullmatch(r"\n".join(lines) + r"\n?", printed, re.DOTALL) is not None


def _run(command: str, folder: Path) -> str:
    """Return what a command prints; `partita` runs in this process, which saves starting one."""
    words = shlex.split(command)
    if words[0] != "partita" or "serve" in words or set(command) & set("|<;&$`*?"):
        return _shell(command, folder)
    redirected = [(words.index(mark), mark) for mark in (">", "2>") if mark in words]
    files = {mark: words[at + 1] for at, mark in redirected}
    arguments = words[1 : min([len(words), *(at for at, _ in redirected)])]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"}, prog_name="partita")
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    shown = {">": done.stdout, "2>": done.stderr}
    for mark, name in files.items():
        (folder / name).write_text(shown.pop(mark), encoding="utf-8")
    return "".join(shown.values())


def _shell(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONUTF8": "1"}
    run = subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


def rewritten(page: Path, folder: Path) -> str:
    """Return a page with the outputs that its commands print now."""
    names: dict[str, object] = {"__name__": "docs"}

    def rerun(block: re.Match[str]) -> str:
        kind, code = block.groups()
        if kind == "python":
            exec(compile(code, str(page), "exec"), names)  # noqa: S102
            return block[0]
        return f"```console\n{''.join(_rewritten(code, folder, page))}```"

    return BLOCK.sub(rerun, page.read_text(encoding="utf-8"))


def _rewritten(code: str, folder: Path, page: Path) -> Iterator[str]:
    for command, expected, printed in converse(code, folder):
        elided = ELIDED.search(expected)
        if elided and not fits(expected, printed):
            sys.stderr.write(f"{page.name}: edit the elided output of $ {command}\n")
        output = expected if elided else printed
        end = "" if not output or output.endswith("\n") else "\n"
        yield f"$ {command}\n{output}{end}"


def main() -> None:
    named = [Path(one).absolute() for one in sys.argv[1:]]
    pages = named or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        if not any(kind == "console" for kind, _ in blocks(page)):
            continue
        with TemporaryDirectory() as name, chdir(name):
            (Path(name) / "examples").symlink_to(ROOT / "examples")
            text = rewritten(page, Path(name))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
