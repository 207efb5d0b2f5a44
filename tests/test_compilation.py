"""Machine code of kernels: never stale, never planted, and equal to the kernels as written."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import partita
from partita import compilation
from partita.compilation import cache, loading
from partita.compilation.library import CompiledEntry
from partita.compilation.signatures import Array, Generator, Record, Scalar, signature

PACKAGE = Path(partita.__file__).parent

HELPERS = """
from partita.compilation import kernel
FACTOR = 2
UNUSED = 1

@kernel()
def twice(x):
    return x * FACTOR
"""
KERNELS = """
from typing import NamedTuple

import constants
import numpy as np
from helpers import twice
from partita.compilation import kernel, kernel_record

@kernel_record("f8[:,:], i8")
class Rows(NamedTuple):
    values: np.ndarray
    count: int

@kernel(entry="Rows, (b1, f8), i8[:], rng")
def result(rows, facts, added, rng):
    total = rows.values.sum() + constants.OFFSET
    added += rows.count
    drawn = np.empty(3)
    for n in range(3):
        drawn[n] = rng.random()
    return twice(total) if facts[0] else facts[1], Rows(rows.values[1:], len(added)), drawn

@kernel(entry="i8, i8")
def divided(a, b):
    return a // b

@kernel(entry="i8")
def allocated(n):
    return np.zeros(n).sum()

@kernel(entry="i8[:], i8")
def shared(values, first):
    return values[first:]
"""
PROGRAM = """
import sys
import numpy as np
import kernels
rows = kernels.Rows(np.arange(6.0).reshape(3, 2), 5)
added = np.zeros(4, np.int64)
total, other, drawn = kernels.result(rows, (True, 0.5), added, np.random.default_rng(1))
print(total, *other.values.ravel(), other.count, *added, drawn.tolist(), sep=" ")
print("numba" in sys.modules)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of modules with kernels, and a cache of their machine code."""
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "constants.py").write_text("OFFSET = 1\n")
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path


def start(place: Path, program: str = PROGRAM, **environment: str) -> subprocess.Popen[str]:
    own = {"PYTHONPATH": str(place), "PARTITA_CACHE": str(place / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, **own, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> tuple[list[str], list[str]]:
    """Return the lines of a process on standard output and standard error."""
    out, error = process.communicate()
    assert process.returncode == 0, error
    return out.splitlines(), error.splitlines()


def files(place: Path) -> list[Path]:
    return sorted((place / "cache" / "kernels").glob("kernels-*.kernels"))


def expected(total: float = 32.0) -> str:
    drawn = np.random.default_rng(1).random(3).tolist()
    return f"{total} 2.0 3.0 4.0 5.0 4 5 5 5 5 {drawn}"


def test_kernels_are_compiled_once_and_anew_after_an_edit(place: Path) -> None:
    """At first two processes race; what is compiled is called without Numba."""
    runs = [output(process) for process in [start(place), start(place)]]
    assert [out for out, _ in runs] == [[expected(), "False"]] * 2
    assert len(files(place)) == 1
    for _, error in runs:
        assert error[0] == "partita: compiling for this machine, once ..."
        assert re.fullmatch(r"partita: compiling for this machine, once: \d+ s", error[1])
    assert output(start(place)) == ([expected(), "False"], [])
    (place / "helpers.py").write_text(HELPERS.replace("FACTOR = 2", "FACTOR = 3"))
    assert output(start(place))[0][0] == expected(48.0)
    (place / "constants.py").write_text("OFFSET = 2\n")
    assert output(start(place))[0][0] == expected(51.0)
    (place / "constants.py").write_text("OFFSET = 1\n")
    assert output(start(place)) == ([expected(48.0), "False"], [])  # found again
    assert len(files(place)) == 3


@pytest.mark.parametrize("how", ["python", "numba"])
def test_the_way_of_calling_can_be_chosen(place: Path, how: str) -> None:
    out, error = output(start(place, PARTITA_KERNELS=how))
    assert out == [expected(), str(how == "numba")]
    assert (error, files(place)) == ([], [])


def test_an_unknown_way_of_calling_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_KERNELS", "rust")
    with pytest.raises(ValueError, match=r"'rust' \(expected one of library, numba, python"):
        compilation.mode()


ERRORS = """
import numpy as np
import kernels

def told(call, *args):
    try:
        return call(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(told(kernels.divided, 7, np.int64(2)))
print(told(kernels.divided, 7, 0))
print(told(kernels.allocated, 1 << 50))
print(told(kernels.divided, 7, 0.5))
print(told(kernels.shared, [1, 2], 0))
print(told(kernels.shared, np.zeros((2, 2), np.int64), 0))
print(told(kernels.shared, np.zeros(2), 0))
print(told(kernels.shared, 1))
print(kernels.shared(np.arange(6)[::2], 1), kernels.shared(np.arange(3, dtype=np.int32), 1))
values = np.arange(1000)
part = kernels.shared(values, 998)
part[0] = -1
print(values[-2:], part)
del values
print(part)
read_only = np.arange(2)
read_only.flags.writeable = False
print(kernels.shared(read_only, 1))
strided = np.zeros(8, np.int64)[::2]
rows = kernels.Rows(np.asfortranarray(np.arange(6.0).reshape(3, 2)), 5)
total, other, _ = kernels.result(rows, (True, 0.5), strided, np.random.default_rng(1))
print(total, other.values.tolist(), strided)
"""


def test_errors_and_unusual_arguments(place: Path) -> None:
    out, _ = output(start(place, ERRORS))
    assert out == [
        "3",
        "ZeroDivisionError: kernel kernels.divided failed",
        "MemoryError: kernel kernels.allocated failed",
        "TypeError: kernel kernels.divided takes (i8, i8), not (int, float)",
        "TypeError: kernel kernels.shared takes (i8[:], i8), not (list, int)",
        "TypeError: kernel kernels.shared takes (i8[:], i8), not (i8[:,:], int)",
        "TypeError: kernel kernels.shared takes (i8[:], i8), not (f8[:], int)",
        "TypeError: kernel kernels.shared takes (i8[:], i8), not (int)",
        "[2 4] [1 2]",
        "[ -1 999] [ -1 999]",
        "[ -1 999]",
        "[1]",
        "32.0 [[2.0, 3.0], [4.0, 5.0]] [5 5 5 5]",
    ]


def test_a_kernel_that_needs_foreign_functions_is_not_compiled(place: Path) -> None:
    text = (
        "from partita.compilation import kernel\n@kernel(entry='i8')\ndef shown(x):\n    print(x)\n"
    )
    (place / "kernels.py").write_text(text)
    process = start(place, "import kernels; kernels.shown(1)")
    error = process.communicate()[1]
    assert process.returncode == 1
    assert re.search(
        r"the kernels of kernels cannot be compiled: .*kernels need numba_", error, re.S
    )


def _own(path: Path, user: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, user, -1, follow_symlinks=False)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _change(path: Path) -> None:
    first, _, code = path.read_bytes().partition(b"\n")
    path.write_bytes(first + b"\n" + code[:-1] + bytes([code[-1] ^ 1]))


FORGERIES = {
    "owner": (lambda path: _own(path, 65534), "it belongs to user 65534"),
    "mode": (lambda path: path.chmod(0o666), "others may write to it"),
    "group": (lambda path: path.chmod(0o620), "others may write to it"),
    "link": (_link, "it is a link"),
    "changed": (_change, "it is damaged or was changed"),
    "no JSON": (lambda path: path.write_bytes(b"\x80\x04.\ncode"), "it is damaged or was changed"),
    "folder": (lambda path: path.parent.chmod(0o777), "its folder .*: others may write to it"),
    "folders": (lambda path: path.parents[1].chmod(0o770), "its folder .*: others may write to it"),
    "its owner": (lambda path: _own(path.parent, 65534), "its folder .*: it belongs to user 65534"),
}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of machine code in a cache."""
    folder = tmp_path / "cache" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    folder.parent.chmod(0o700)
    monkeypatch.setenv("PARTITA_CACHE", str(folder.parent))
    return cache.write(folder, "group", {"entries": {}}, b"code")


@pytest.mark.parametrize("name", FORGERIES)
def test_what_others_may_have_written_is_refused_in_one_line(
    name: str, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert [code for _, code in cache.kept("group", cache.folders())] == [b"code"]
    forge, reason = FORGERIES[name]
    forge(kept)
    assert list(cache.kept("group", cache.folders())) == []
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert re.fullmatch(rf"partita: {kept} is not used: {reason}[^\n]*", record.getMessage())


def _planted(place: Path) -> Path:
    """Put other machine code into the cache, described and with a checksum as if it were ours."""
    folder = place / "cache" / "kernels"
    output(start(place))
    [ours] = files(place)
    described, _ = cache.read(ours)
    (place / "helpers.py").write_text(HELPERS.replace("FACTOR = 2", "FACTOR = 3"))
    output(start(place))
    (place / "helpers.py").write_text(HELPERS)
    _, code = cache.read(next(path for path in files(place) if path != ours))
    for path in files(place):
        path.unlink()
    return cache.write(folder, "kernels", described, code)


def test_planted_code_does_not_run(place: Path) -> None:
    planted = _planted(place)
    assert output(start(place))[0][0] == expected(48.0)  # it would run, were it ours
    forge, reason = FORGERIES["mode"]
    forge(planted)
    out, error = output(start(place))
    assert out[0] == expected()
    assert re.fullmatch(rf"partita: {planted} is not used: {reason}.*", error[0])


def test_what_numba_keeps_is_neither_read_nor_written(place: Path, tmp_path: Path) -> None:
    """Numba's index files are pickles."""
    folder = tmp_path / "numba"
    folder.mkdir()
    program = (
        "import sys; sys.addaudithook(lambda event, _: event == 'pickle.find_class' and exit(7))"
    )
    out, _ = output(start(place, f"{program}\n{PROGRAM}", NUMBA_CACHE_DIR=str(folder)))
    assert out[0] == expected()
    assert list(folder.iterdir()) == []


def test_a_changed_object_is_compiled_anew_and_said(place: Path) -> None:
    output(start(place))
    [file] = files(place)
    _change(file)
    out, error = output(start(place))
    assert out == [expected(), "False"]
    assert error[0] == (
        f"partita: {file} is not used: it is damaged or was changed (its checksum differs)"
    )
    assert output(start(place)) == ([expected(), "False"], [])


def test_caches_of_earlier_versions_are_ignored(kept: Path) -> None:
    for name in ("group-0123.py311.nbi", "group-0123.native"):
        (kept.parent / name).write_bytes(b"\x80\x04cos\nsystem\n")
    assert [code for _, code in cache.kept("group", cache.folders())] == [b"code"]
    texts = [path.read_text() for path in Path(cache.__file__).parent.glob("*.py")]
    assert not any(re.search(r"import.*(pickle|marshal|shelve)", text) for text in texts)


def test_the_files_used_last_are_kept(kept: Path) -> None:
    folder = kept.parent
    for n in range(cache.KEPT + 3):
        path = cache.write(folder, "other", {"n": n}, b"")
        os.utime(path, (n, n))
    assert len(list(folder.glob("other-*"))) == cache.KEPT
    assert kept.exists()


def test_the_folder_is_beside_the_package_or_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PARTITA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "file" / "x" / "cache.py"))
    (tmp_path / "file").touch()
    cache.writable_folder.cache_clear()
    assert cache.writable_folder() == tmp_path / "partita" / "kernels"
    monkeypatch.setenv("PARTITA_CACHE", str(tmp_path / "own"))
    cache.writable_folder.cache_clear()
    assert cache.writable_folder() == tmp_path / "own" / "kernels"
    cache.writable_folder.cache_clear()


def test_kernels_work_without_any_folder(place: Path) -> None:
    (place / "file").touch()
    out, error = output(start(place, PARTITA_CACHE=str(place / "file")))
    assert out == [expected(), "False"]
    assert len(error) == 2


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", "xdg/partita"), ("darwin", "home/Library/Caches/partita"), ("win32", "app/partita")],
)
def test_the_users_cache_follows_the_platform(
    platform: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("XDG_CACHE_HOME", "xdg")
    monkeypatch.setenv("LOCALAPPDATA", "app")
    monkeypatch.setenv("HOME", "home")
    assert cache.user_cache() == Path(folder)


def test_signatures() -> None:
    class Pair(tuple):
        pass

    compilation.kernel_record("i8, u1[:,:]")(Pair)
    kinds = signature(" f8, i4[:], (b1, rng),\n Pair", {"Pair": Pair})
    named = Record((Scalar("i8"), Array("u1", 2)), Pair)
    assert kinds == (Scalar("f8"), Array("i4", 1), Record((Scalar("b1"), Generator())), named)
    assert ", ".join(map(str, kinds)) == "f8, i4[:], (b1, rng), Pair"
    assert signature("", {}) == ()
    for wrong in ("f8[", "g8", "g8[:]", "(f8", "f8)", "f8; f8", "f8 f8"):
        with pytest.raises(TypeError, match="is no signature"):
            signature(wrong, {})


def test_all_kernels_use_the_decorator() -> None:
    own = {"__init__.py", "compiler.py"}
    texts = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    users = [p for p, text in texts.items() if re.search(r"\b(n?jit|g?u?vectorize)\b", text)]
    assert {path.name for path in users if path.parent.name == "compilation"} == own
    assert [path for path in users if path.parent.name != "compilation"] == []


def test_an_entry_is_described_by_its_types() -> None:
    entry = CompiledEntry("name", 0, signature("i8[:], f8", {}), None, 0)
    with pytest.raises(TypeError, match=r"name takes \(i8\[:\], f8\), not \(str, int\)"):
        entry("text", 1)


def test_a_library_is_used_only_with_the_sources_that_it_was_made_from() -> None:
    assert loading.unchanged({"partita.errors": loading.source_hash("partita.errors")})
    assert not loading.unchanged({"partita.errors": "0" * 32})
    assert not loading.unchanged({"partita.no_such_module": "0" * 32})
