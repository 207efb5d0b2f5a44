"""The wheel: machine code of all entries, in an environment of its own without Numba."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from partita.compilation import loading

ROOT = Path(__file__).parent.parent
TEXT = "Acme bought Borealis. It paid in cash. The company is Swedish.\n"
SCORES = "left,right,probability\na,b,0.9\nb,c,0.7\na,c,0.4\nd,e,0.2\n"
RECORDS = "id,name\n1,Anna Berg\n2,Ana Berg\n3,Per Lund\n4,Per Lundt\n5,Kari Moe\n"
COMMANDS = {
    "run": ("run", "text.txt", "--json"),
    "cluster": ("cluster", "scores.csv"),
    "solve": ("solve", "scores.csv", "--json"),
    "link": ("link", "records.csv"),
    "sampled": ("solve", "scores.csv", "--method", "sampled", "--json"),
}
# A table of scores through the kernels of `cluster`, in a Python process that Spark has started.
SPARK_TASK = """
import os
from pathlib import Path
import pandas
from pyspark.sql import SparkSession

def first_task(batches):
    import sys
    import partita
    assert "unpacked" in Path(partita.__file__).parts
    scores = pandas.concat(batches)
    clusters = partita.cluster(scores).to_pandas()
    assert len(clusters) == 5
    assert sys.modules.get("numba") is None and os.getpid() != driver
    yield pandas.DataFrame({"pid": [os.getpid()]})

driver = os.getpid()
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
session = builder.config("spark.driver.memory", "1g").getOrCreate()
rows = session.createDataFrame(pandas.read_csv("scores.csv")).coalesce(1)
assert rows.mapInPandas(first_task, "pid long").count() == 1
print("tasks without numba")
session.stop()
"""
linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="wheels with machine code are for Linux on x86-64",
)


def build(folder: Path, kind: str) -> Path:
    """Return a wheel that pip builds from the sources."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    environment = os.environ | {"PARTITA_WHEEL": kind, "PARTITA_COMPILER": sys.executable}
    subprocess.run(
        [*command, "--no-deps", "--wheel-dir", folder, ROOT], check=True, env=environment
    )
    [wheel] = folder.glob("*.whl")
    return wheel


def requirements(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as content:
        [name] = [name for name in content.namelist() if name.endswith(".dist-info/METADATA")]
        lines = content.read(name).decode().splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]


def same_up_to_rounding(one: Any, other: Any) -> None:
    """Compare JSON: numbers up to single precision, all else exactly."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            same_up_to_rounding(*pair)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)
    else:
        assert one == other


def run_unpacked(
    wheel: Path, folder: Path, code: str, *options: str, arguments: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run code with the package of a wheel, all else as it is here, and an empty cache."""
    unpacked = folder / "unpacked"
    with zipfile.ZipFile(wheel) as content:
        content.extractall(unpacked)
    environment = os.environ | {
        "PYTHONPATH": str(unpacked),
        "PYSPARK_PYTHON": sys.executable,
        "PARTITA_CACHE": str(folder / "cache"),
    }
    command = [sys.executable, *options, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"), "library")


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-c", ROOT / "constraints.txt", wheel], check=True)
    return folder / "bin"


@linux
def test_the_wheel_has_every_entry_with_its_types(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-manylinux_2_29_x86_64.whl")
    assert not any("numba" in line for line in requirements(wheel) if "extra ==" not in line)
    with zipfile.ZipFile(wheel) as content:
        manifest = json.loads(content.read("partita/compilation/libraries/manifest.json"))
    assert manifest["libraries"].keys() == loading.LEVELS.keys()
    assert manifest["groups"].keys() == loading.GROUPS.keys()
    for group, described in manifest["groups"].items():
        assert loading.unchanged(described["sources"])
        for module in loading.modules_of(group):
            __import__(module)
            found = vars(sys.modules[module]).values()
            own = [k for k in found if getattr(k, "entry", None) and k.name.startswith(module)]
            for kernel in own:
                assert described["entries"][kernel.name]["arguments"] == kernel.entry
        assert described["entries"]


@linux
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_answer_as_here_without_numba(
    name: str, environment: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "records.csv").write_text(RECORDS)
    empty = {"PARTITA_CACHE": str(tmp_path / "no-cache"), "PATH": os.environ["PATH"]}
    inside = subprocess.run(
        [environment / "partita", *COMMANDS[name]],
        cwd=tmp_path, env=empty, capture_output=True, text=True,
    )  # fmt: skip
    assert inside.returncode == 0, inside.stderr
    assert "compiling" not in inside.stderr
    assert not (tmp_path / "no-cache").exists()
    here = subprocess.run(
        [sys.executable, "-m", "partita", *COMMANDS[name]],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    if name == "run":
        # The network adds single-precision numbers in the order that the processor's vectors have.
        lines = [[json.loads(line) for line in done.stdout.splitlines()] for done in (inside, here)]
        same_up_to_rounding(*lines)
    else:
        assert inside.stdout == here.stdout
    missing = subprocess.run([environment / "python", "-c", "import numba"], capture_output=True)
    assert b"No module named 'numba'" in missing.stderr


@linux
def test_the_library_for_older_processors_answers_as_the_newer_one(
    environment: Path, tmp_path: Path
) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "text.txt").write_text(TEXT)
    code = (
        "import sys\n"
        "from partita.compilation import loading\n"
        "loading.processor_level = lambda: sys.argv.pop(1)\n"
        "level = loading.processor_level()\n"
        "loading.processor_level = lambda: level\n"
        "from partita.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    libraries = [line for line in open('/proc/self/maps') if 'kernels-' in line]\n"
        "    assert libraries and all(f'kernels-{level}.so' in line for line in libraries)\n"
    )
    for name in ("run", "sampled"):
        answers = []
        for level in loading.LEVELS:
            done = subprocess.run(
                [environment / "python", "-c", code, level, *COMMANDS[name]],
                cwd=tmp_path, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            answers.append([json.loads(line) for line in done.stdout.splitlines()])
        same_up_to_rounding(*answers)


@linux
def test_a_fresh_spark_executor_compiles_nothing(wheel: Path, tmp_path: Path) -> None:
    if shutil.which("java") is None and not os.environ.get("PARTITA_TEST_ALL"):
        pytest.skip("needs Java")
    (tmp_path / "scores.csv").write_text(SCORES)
    done = run_unpacked(wheel, tmp_path, SPARK_TASK, "-W", "ignore")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["tasks", "without", "numba"]
    assert "compiling" not in done.stderr
    assert not (tmp_path / "cache").exists()


@linux
def test_changed_sources_without_a_compiler_are_refused_in_one_line(
    environment: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    code = (
        "import partita.text.tagger_kernels as k\n"
        "from pathlib import Path\n"
        "path = Path(k.__file__)\n"
        "text = path.read_text()\n"
        "path.write_text(text + '# changed')\n"
        "from partita.cli import main\n"
        "import sys\n"
        "sys.argv = ['partita', 'run', 'text.txt']\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    path.write_text(text)\n"
    )
    done = subprocess.run(
        [environment / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "no compiler (pip install numba)" in done.stderr.splitlines()[-1]


def test_elsewhere_the_wheel_is_pure_and_requires_numba(tmp_path: Path) -> None:
    wheel = build(tmp_path / "wheel", "pure")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert any(line.startswith("numba") for line in requirements(wheel) if "extra ==" not in line)
    with zipfile.ZipFile(wheel) as content:
        assert not any(name.endswith(".so") for name in content.namelist())
        assert "partita/compilation/runtime.ll" in content.namelist()
    command = "import sys; from partita.cli import main; main()"
    (tmp_path / "scores.csv").write_text(SCORES)
    first, second = (
        run_unpacked(wheel, tmp_path, command, arguments=COMMANDS["cluster"]) for _ in range(2)
    )
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert "compiling for this machine, once" in first.stderr
    assert "compiling" not in second.stderr
    assert first.stdout == second.stdout != ""
