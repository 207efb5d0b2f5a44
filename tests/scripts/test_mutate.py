"""The short version of `make mutate`: what is mutated, and that a mutation is noticed or not."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

from mutate import (
    ROOMS,
    Mutation,
    chosen,
    compiling,
    forget,
    mutations,
    replace_code,
    survivors_of,
)

SCRIPT = Path(__file__).parents[2] / "scripts" / "mutate.py"
SOURCE = '''"""A module."""


@kernel
def fast(a):
    return a + 1


def size(a, b=2):
    """Return é."""
    if a < b and not a == 1:
        return "é", a - b
    return True
'''
CALL = """
from dataclasses import replace
from pathlib import Path
import mutate, pytest
mutate.ROOMS["errors"] = ("files/test_writing.py", "linkage/test_template_list.py")
found = mutate.mutations(mutate.PACKAGE / "errors.py", "errors.py")
wrong = [one for one in found if one.old == "is"][-1]  # line is None
campaign = mutate.Campaign({"errors": [wrong, replace(wrong, new="is ")]}, Path(LOG))
tests = [str(mutate.ROOT / "tests" / name) for name in mutate.ROOMS["errors"]]
options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(mutate.ROOT)]
pytest.main([*options, *tests], plugins=[campaign])
assert list(map(bool, campaign.noticed.values())) == [True, False], campaign.noticed
assert all(campaign.tests.values())
"""


def test_the_mutations_of_a_source(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SOURCE, encoding="utf-8")
    found = mutations(path, "module.py")
    assert [(m.line, m.old, m.new) for m in found] == [
        (11, "<", "<="),
        (11, "and", "or"),
        (11, "not ", ""),
        (11, "==", "!="),
        (11, "1", "2"),
        (12, "-", "+"),
        (13, "True", "False"),
    ]
    assert {m.function for m in found} == {9}
    assert 'return "é", a + b' in found[5].apply(SOURCE)


def test_the_draw_is_even_and_repeatable() -> None:
    drawn = chosen(24, 0, list(ROOMS))
    assert {room: len(found) for room, found in drawn.items()} == dict.fromkeys(ROOMS, 2)
    assert drawn == chosen(24, 0, list(ROOMS))
    assert all(isinstance(one, Mutation) for found in drawn.values() for one in found)


def test_the_survivors_of_a_log_are_tried_again(tmp_path: Path) -> None:
    [first, second, *_] = chosen(24, 0, ["templates"])["templates"]
    log = tmp_path / "log.txt"
    log.write_text(f"{first} (3 tests): NOT NOTICED\n{second} (3 tests): noticed by a test\n")
    again = survivors_of(log, ["templates", "files"])
    assert first in again["templates"]
    assert second not in again["templates"]
    assert again["files"] == []


def test_a_mutation_is_noticed_and_a_harmless_one_is_not(tmp_path: Path) -> None:
    """In a process of its own: pytest runs once in a process."""
    command = [sys.executable, "-c", CALL.replace("LOG", repr(str(tmp_path / "log.txt")))]
    done = subprocess.run(command, cwd=SCRIPT.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = (tmp_path / "log.txt").read_text().splitlines()
    assert "noticed by tests/" in first
    assert second.endswith("NOT NOTICED")


def test_proxies_of_objects_that_are_gone_are_passed_over(tmp_path: Path) -> None:
    class Thing:
        pass

    thing = Thing()
    proxy = weakref.proxy(thing)
    del thing
    replace_code(tmp_path / "module.py", SOURCE)
    forget()
    assert type(proxy) is weakref.ProxyType


def test_machine_code_is_loaded_whole() -> None:
    def look(call: Callable[[], bool]) -> bool:
        return call()

    for module, expected in (("numba.core.caching", True), ("numbers", False)):
        there = FunctionType(look.__code__, {"__name__": module})
        assert there(lambda: compiling(sys._getframe())) is expected
