"""The documentation is executed: Python blocks run, commands print what is shown.

In a console block `$ cat FILE` makes the file with the lines shown if it is not there yet, and a
line `...` stands for any lines.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {"__name__": "docs"}
    for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(code, str(page), "exec"), names)  # noqa: S102
        else:
            _converse(code, tmp_path)


def test_the_site_has_every_page_no_broken_link_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    """Strict mode fails for broken links and for pages that the navigation leaves out."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = re.compile(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]*")
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > len(PAGES) / 2
    for page in pages:
        assert not loaded.findall(page.read_text(encoding="utf-8")), page.name


def _converse(code: str, folder: Path) -> None:
    """Every command of a console block, and what it should have printed."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        made = re.fullmatch(r"cat (\S+)", command)
        if made and not (folder / made[1]).exists():
            (folder / made[1]).write_text(expected, encoding="utf-8")
            continue
        printed = _run(command, folder)
        assert _like(expected).fullmatch(printed), f"$ {command}\n{printed}"


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


def _like(expected: str) -> re.Pattern[str]:
    lines = [".*" if line == "..." else re.escape(line) for line in expected.splitlines()]
    return re.compile(r"\n".join(lines) + r"\n?", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_anchors_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    for target, anchor in links:
        headings = _anchors(page.parent / target if target else page)
        assert anchor in headings, f"{page.name} links to {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    text = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
