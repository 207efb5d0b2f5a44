"""A report in a real browser: nothing that stands in a text runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from oracles import reported
from partita.views.report import report_page
from patience import PATIENCE

BROWSER = shutil.which("chromium")
EVIL = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


def title_after_loading(path: Path) -> str:
    """Of the page as the browser has it when all has been loaded and run."""
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    folder = f"--user-data-dir={path.parent / 'profile'}"
    found = subprocess.run(
        [*command, folder, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return found.stdout.partition("<title>")[2].partition("</title>")[0]


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no chromium")
def test_nothing_in_a_text_runs(tmp_path: Path):
    bare = tmp_path / "bare.html"
    bare.write_text(f"<title>bare</title><body>{EVIL}", encoding="utf-8")
    assert title_after_loading(bare) == "taken"
    words = (EVIL, EVIL, EVIL, EVIL, "run", EVIL)
    message = reported.message([f"A{EVIL}", "B"], f"m{EVIL}", EVIL, words)
    page = tmp_path / "report.html"
    page.write_text(report_page(reported.report([message], words)), encoding="utf-8")
    assert title_after_loading(page) == "run: report"
