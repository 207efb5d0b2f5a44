"""The documentation as a site in a folder, opened without a server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from browser.person import Person

ROOT = Path(__file__).parents[2]


def test_the_search_of_the_site_works_from_a_folder(person: Person, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    for page in ("index.html", "decisions/0001-ranked-products.html"):
        person.driver.get((tmp_path / page).as_uri())
        person.run("document.querySelector('input.md-search__input').focus()")
        person.presses(*"transitivity")
        person.sees(".md-search-result__meta", "matching documents")
        assert "Glossary" in person.run(
            "return document.querySelector('.md-search-result').innerText"
        )
    assert person.log() == []
