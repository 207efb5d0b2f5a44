"""The cache of compiled kernels: never stale, and in a folder that can be written to."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import partita
from partita import compilation
from partita.compilation import cached_code, dispatchers
from partita.configurations.joint import codes as joint_columns
from partita.configurations.joint import features_kernels as joint_features_kernels
from partita.configurations.sparse import posterior as walk_kernels
from partita.configurations.sparse import tree

PACKAGE = Path(partita.__file__).parent

HELPERS = '''
from partita.compilation import kernel
FACTOR = 2
UNUSED = 1

@kernel()
def twice(x):
    """Double."""
    return inner(x) * FACTOR

@kernel(fastmath={"contract", "reassoc"})
def inner(x):
    return x + 1
'''
KERNELS = '''
from numba import types
from numba.extending import intrinsic
import helpers
from helpers import twice
from partita.compilation import kernel
OFFSETS = (1, 2.5)

def write(builder, x):
    return builder.add(x, x.type(1))

@intrinsic
def raised(typing, x):
    def code(context, builder, signature, args):
        return write(builder, args[0])
    return types.int64(types.int64), code

def made(step):
    @kernel()
    def result(x, y=3):
        """Return a number."""
        return twice(raised(x)) + OFFSETS[0] + helpers.FACTOR + step + y
    return result

result = made(7)
'''


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Gives the digest of `result` after an edit of the two modules."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def of(old: str = "", new: str = "") -> str:
        for name, text in (("helpers", HELPERS), ("kernels", KERNELS)):
            path = tmp_path / f"{name}.py"
            path.write_text(text.replace(old, new) if old else text)
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        return cached_code.digest(module.result.py_func)

    return of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x + 1", "return x + 2"),  # a helper of a helper
        ("FACTOR = 2", "FACTOR = 3"),  # a constant of another module
        ("x.type(1)", "x.type(2)"),  # what an intrinsic is made of
        ("OFFSETS = (1, 2.5)", "OFFSETS = (1.0, 2.5)"),
        ("made(7)", "made(8)"),
        ("y=3", "y=4"),
        ('{"contract", "reassoc"}', '{"contract"}'),
        ("def inner(x):\n    return x", "def inner(x):\n    return -x"),
    ],
)
def test_an_edit_changes_the_digest(digest, old, new):
    assert (old in HELPERS) != (old in KERNELS)
    assert digest(old, new) != digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("UNUSED = 1", "UNUSED = 2"),
        ('"""Double."""', '"""Return the double."""'),
        ("import twice", "import twice  # a comment"),
        ('{"contract", "reassoc"}', '{"reassoc", "contract"}'),
    ],
)
def test_what_is_not_compiled_leaves_the_digest(digest, old, new):
    assert (old in HELPERS) != (old in KERNELS)
    assert digest(old, new) == digest()


def test_a_value_that_cannot_be_described_is_refused(digest):
    with pytest.raises(TypeError, match="a kernel cannot refer to"):
        digest("OFFSETS = (1, 2.5)", "OFFSETS = [1, 2.5]")


PROGRAM = f"""
import numpy as np
from {walk_kernels.__name__} import join_cell
from {joint_features_kernels.__name__} import _numerals
labels, one = np.zeros((1, 3), np.int64), np.ones(1, np.int64)
join_cell(labels, 0 * one, one, 2, np.arange(2))
numerals = np.arange(3), np.arange(2)
print(*labels[0], _numerals(numerals, 0, 1), sum(join_cell.stats.cache_hits.values()))
print(join_cell.stats.cache_path)
"""


def start(package: Path, **environment: str) -> subprocess.Popen[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.endswith(("_CACHE", "_CACHE_DIR"))}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**inherited, "PYTHONPATH": str(package.parent), **environment},
        cwd=package.parent,
        stdout=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> tuple[str, Path]:
    """The numbers that the program printed, and its cache folder."""
    numbers, folder = process.communicate()[0].splitlines()
    assert process.returncode == 0
    return numbers, Path(folder)


@pytest.fixture
def package(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "*.json", "*.yaml", "*.txt")
    return Path(shutil.copytree(PACKAGE, tmp_path / "copy" / "partita", ignore=ignored))


def edit(package: Path, module: ModuleType, old: str, new: str) -> None:
    path = package / Path(str(module.__file__)).relative_to(PACKAGE)
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_an_edited_helper_or_constant_is_compiled_anew(package):
    """Both kernels stand in other modules than what is edited; at first two processes race."""
    numeral = joint_columns.OTHER_NUMERAL
    for process in [start(package), start(package)]:
        numbers, folder = output(process)
        assert numbers.startswith(f"2 0 2 {numeral} ")
        assert folder == package / "__pycache__" / "kernels"
    edit(package, tree, "np.uint64(56))", "np.uint64(56)) + 1")
    with (package / Path(str(joint_columns.__file__)).relative_to(PACKAGE)).open("a") as file:
        file.write("\nOTHER_NUMERAL = 12345\n")
    assert output(start(package))[0] == "0 2 2 12345 0"
    edit(package, tree, "np.uint64(56)) + 1", "np.uint64(56))")
    assert output(start(package))[0] == "2 0 2 12345 1"  # found in the cache again


def test_without_a_writable_package_the_users_cache_is_used(package, tmp_path):
    (package / "__pycache__").write_text("not a folder")
    process = start(package, XDG_CACHE_HOME=str(tmp_path / "cache"), HOME=str(tmp_path))
    assert tmp_path / "copy" not in (folder := output(process)[1]).parents
    assert folder.is_relative_to(tmp_path)
    assert any(folder.glob("*.nbc"))


@pytest.fixture
def _fresh():
    cached_code.folder.cache_clear()
    yield
    cached_code.folder.cache_clear()


@pytest.mark.usefixtures("_fresh")
def test_the_folder_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.delenv("PARTITA_CACHE", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cached_code.folder() == tmp_path / "numba" / "kernels"
    cached_code.folder.cache_clear()
    monkeypatch.setenv("PARTITA_CACHE", str(tmp_path / "own"))
    assert cached_code.folder() == tmp_path / "own" / "kernels"


@pytest.mark.usefixtures("_fresh")
def test_kernels_work_without_any_folder(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PARTITA_CACHE", str(tmp_path / "file"))

    @compilation.kernel()
    def one() -> int:
        return 1

    assert one() == 1
    assert cached_code.folder() is None


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", "xdg/partita"), ("darwin", "home/Library/Caches/partita"), ("win32", "app/partita")],
)
def test_the_users_cache_follows_the_platform(platform, folder, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("XDG_CACHE_HOME", "xdg")
    monkeypatch.setenv("LOCALAPPDATA", "app")
    monkeypatch.setenv("HOME", "home")
    assert cached_code.user_cache() == Path(folder)


def test_the_kernels_used_last_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(dispatchers, "ENTRIES", 2)
    for age, name in enumerate(["d", "c", "b", "a"]):
        for suffix in ("nbi", "1.nbc", "2.nbc"):
            (tmp_path / f"kernels.{name}-0123.py311.{suffix}").touch()
        os.utime(tmp_path / f"kernels.{name}-0123.py311.nbi", (age, age))
    dispatchers.prune(tmp_path)
    assert {path.name[8] for path in tmp_path.iterdir()} == {"a", "b"}
    assert len(list(tmp_path.iterdir())) == 6


MOVED = """
import sys
from typing import NamedTuple
import numpy as np
from partita.compilation import kernel
class Rows(NamedTuple):
    values: np.ndarray
Rows.__module__ = sys.argv[1]
sys.modules[sys.argv[1]] = sys.modules["__main__"]
@kernel()
def total(rows):
    return rows.values.sum()
print(total(Rows(np.arange(4.0))))
"""


def test_a_class_of_arguments_may_move_to_another_module(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MOVED)
    environment = os.environ | {"PARTITA_CACHE": str(tmp_path / "cache")}
    for module in ("before", "after", "after"):
        command = [sys.executable, str(script), module]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.stdout == "6.0\n", done.stderr


def test_all_kernels_use_the_decorator():
    """With numba's own, the cache would not notice edits in other modules."""
    own = Path(dispatchers.__file__)
    texts = {path: path.read_text() for path in PACKAGE.rglob("*.py") if path != own}
    assert [
        path for path, text in texts.items() if re.search(r"\b(n?jit|g?u?vectorize)\b", text)
    ] == []


def test_kernels_are_loaded_without_the_linear_algebra_of_scipy() -> None:
    """Numba imports it to look for BLAS, which takes longer than loading the kernels."""
    code = (
        "import sys, numpy as np\n"
        "from partita.configurations.sparse.tree import degeneracy\n"
        "degeneracy(np.zeros((2, 2), dtype=np.bool_))\n"
        "assert 'numba.np.arraymath' in sys.modules\n"
        "assert 'scipy.linalg' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


NATIVE = """
import sys
import numpy as np
from partita.configurations.search.best import renumber
def called():
    rows, weights = np.array([[3, 3, 1, 0], [2, 0, 0, 2]]), np.empty(2)
    renumber(np.arange(16.0).reshape(4, 4), rows, weights)
    return [*rows.ravel().tolist(), *weights.tolist()]
first, without = called(), "numba" not in sys.modules
from partita.configurations.sparse.tree import degeneracy
degeneracy(np.zeros((2, 2), dtype=np.bool_))
print(without, first == called(), *first)
"""


def test_native_kernels_are_called_without_numba_once_they_are_compiled(tmp_path):
    """Where Numba is loaded afterwards, by another kernel, both work beside each other."""
    environment = {**os.environ, "PARTITA_CACHE": str(tmp_path)}
    lines = [
        subprocess.run(
            [sys.executable, "-c", NATIVE], env=environment, capture_output=True, text=True
        ).stdout
        for _ in range(3)
    ]
    answer = "True 0 0 1 2 0 1 1 0 1.0 9.0\n"
    assert lines == [f"False {answer}", f"True {answer}", f"True {answer}"]


def test_damaged_machine_code_is_compiled_anew(tmp_path):
    environment = {**os.environ, "PARTITA_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", NATIVE]
    first = subprocess.run(command, env=environment, capture_output=True, text=True).stdout
    for file in (tmp_path / "kernels").glob("*.native"):
        file.write_bytes(file.read_bytes()[:1000])
    assert subprocess.run(command, env=environment, capture_output=True, text=True).stdout == first


def test_without_the_runtime_native_kernels_are_called_by_numba(tmp_path):
    """Another version of Numba may have its extension modules elsewhere."""
    environment = {**os.environ, "PARTITA_CACHE": str(tmp_path)}
    missing = """
from partita.compilation import native
native.RUNTIME = (((), "_absent", "NRT_"),)
"""
    lines = [
        subprocess.run(
            [sys.executable, "-c", code + NATIVE], env=environment, capture_output=True, text=True
        ).stdout
        for code in ("", missing)
    ]
    assert lines == ["False True 0 0 1 2 0 1 1 0 1.0 9.0\n"] * 2


PAIRED = """
from typing import NamedTuple
from partita.compilation import kernel

class {name}(NamedTuple):
    left: int
    right: int

@kernel()
def total(pair):
    return pair.left + pair.right
"""


def test_a_class_of_arguments_that_is_renamed_is_compiled_anew(tmp_path):
    """The code of the kernel is the same, and its index in the cache names the former class."""
    environment = {**os.environ, "PARTITA_CACHE": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    for name in ("Former", "Present"):
        (tmp_path / "paired.py").write_text(PAIRED.format(name=name))
        code = f"import paired; print(paired.total(paired.{name}(2, 3)))"
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.stdout == "5\n", done.stderr
