"""Code that nothing reaches is reported, whatever way the rest is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from check_reachable import check

FILES = {
    "pyproject.toml": """
[project]
dependencies = ["numpy>=2", "unused>=1"]
[project.scripts]
tool = "partita.cli:main"
""",
    "README.md": "```python\nfrom partita.shown import example\n```\n",
    "src/partita/__init__.py": "from partita.api import solve\n\n__all__ = ['solve']\n",
    "src/partita/api.py": """
import numpy
def solve(): return numpy
def forgotten(): return solve()
""",
    "src/partita/cli.py": """
from partita import commands
LIMIT = 3
UNUSED = 4
def main():
    from partita.lazy import run
    run(LIMIT)
    for family in (commands,):
        family.add_to()
""",
    "src/partita/commands.py": "def add_to(): pass\n\ndef other(): pass\n",
    "src/partita/lazy.py": "from partita.deeper import Box\n\ndef run(n): return Box().used(n)\n",
    "src/partita/deeper.py": """
class Box:
    def used(self, n): return n
    def unused(self): return loop()
def loop(): return loop()
def first(): return second()
def second(): return first()
""",
    "src/partita/shown.py": "def example(): pass\n\ndef hidden(): pass\n",
    "src/partita/alone.py": "from partita.cli import main\n\nmain()\n",
}


@pytest.fixture
def reported(tmp_path: Path) -> list[str]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    return check(tmp_path)


def test_what_nothing_reaches_is_reported(reported: list[str]) -> None:
    assert reported == [
        "partita.alone: module, 3 lines",
        "partita.api.forgotten: function",
        "partita.cli.UNUSED: constant",
        "partita.commands.other: function",
        "partita.deeper.first: function",
        "partita.deeper.second: function",
        "partita.shown.hidden: function",
        "partita.deeper.Box.unused: method",
        "unused: dependency",
    ]
