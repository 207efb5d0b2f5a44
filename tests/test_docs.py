"""The documentation is executed: Python blocks run, commands print what is shown.

In a console block `$ cat FILE` makes the file with the lines shown if it is not there yet, and a
line `...` stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doc_blocks import blocks, converse, fits

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {"__name__": "docs"}
    for kind, code in blocks(page):
        if kind == "python":
            exec(compile(code, str(page), "exec"), names)  # noqa: S102
        else:
            for command, expected, printed in converse(code, tmp_path):
                assert fits(expected, printed), f"$ {command}\n{printed}"


def test_the_site_has_every_page_no_broken_link_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    """Strict mode fails for broken links and for pages that the navigation leaves out."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = re.compile(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]*")
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > len(PAGES) / 2
    assert (tmp_path / "search" / "search_index.js").exists()  # the search works from a folder
    for page in pages:
        assert not loaded.findall(page.read_text(encoding="utf-8")), page.name


LISTED = (ROOT / "docs" / "paper-terms.txt").read_text(encoding="utf-8").split("[pages]\n")
TERMS = LISTED[0].split("[terms]\n")[1].splitlines()
NOT_PROSE = re.compile(r"^```.*?^```$|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)
OTHER_SENSES = re.compile(r"Tab key|arrow keys|shortcut keys?|[\w-]+ keys? of a table")


@pytest.mark.parametrize("page", LISTED[1].split())
def test_pages_for_everybody_do_not_use_the_terms_of_the_paper(page: str) -> None:
    prose = OTHER_SENSES.sub("", NOT_PROSE.sub("", (ROOT / page).read_text(encoding="utf-8")))
    used = re.findall(rf"\b(?:{'|'.join(TERMS)})\b", prose, re.IGNORECASE)
    assert used == [], page


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
