"""The demonstration in a store, the service over it, and people with browsers."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import httpx
import pytest

import partita
from browser.person import Person, installed
from partita.app.runner import Settings, model_for, usual_budget
from partita.app.workspace import open_workspace
from partita.cli.demo import demo, paper
from partita.text.raw_messages import RawMessage
from patience import PATIENCE

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
CORPUS = Path(partita.__file__).parent / "domains/depots/corpus"
WORK = ("msg-043", "msg-050", "dev-001", "dev-014", "msg-034", "new-074")
BOOM = "<img src=x onerror=\"window.boom='{0}'\">"
SCRIPT = "<script>window.boom='text'</script>"
LINK = "javascript:window.boom='link'"
NEWS = """GUERRILLAS ATTACKED A POLICE STATION IN CALI. THE GUERRILLAS KILLED TWO POLICEMEN.
A BOMB EXPLODED NEAR THE STATION. THE MAYOR OF CALI CONDEMNED THE ATTACK. HE BLAMED THE GUERRILLAS.
"""
HOSTILE = BOOM.format("run")
HOSTILE_MESSAGE = f"m/{BOOM.format('message')}{SCRIPT}?#%2F.."
HOSTILE_TEXT = f"""Subj: Kinston {SCRIPT} Depot

A rail depot {BOOM.format("body")} was found. <a href="{LINK}" onclick="window.boom='click'">The
depot</a> is large. The depot burns. \U0001f600 The depot is "><svg onload=window.boom='svg'> empty.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a browser; where there is none, each test says so by its name."""
    missing = (
        None if installed() else "no Chromium with its driver: apt-get install chromium-driver"
    )
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails leaves a picture of what each person saw."""
    report = yield
    if report.failed:
        for n, person in enumerate(getattr(item, "people", [])):
            SCREENSHOTS.mkdir(exist_ok=True)
            name = re.sub(r"[^\w.-]+", "_", f"{item.name}-{n + 1}")
            person.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))
    return report


def environment() -> dict[str, str]:
    """As it is, but with the usual store."""
    return {name: value for name, value in os.environ.items() if name != "PARTITA_STORE"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a message was put whose writer means harm, a few others, and the demonstration."""
    found = tmp_path_factory.mktemp("page")
    workspace = open_workspace(found / "partita.db")
    settings = Settings("depots", "evidential", budget=usual_budget("evidential"))
    harm = RawMessage(HOSTILE_MESSAGE, HOSTILE_TEXT, "test")
    workspace.ingest([harm], settings, name=HOSTILE, workers=1)
    messages = [CORPUS / f"{name}.txt" for name in WORK]
    workspace.ingest(messages, settings, name="work", workers=1)
    for domain in ("general", "incidents"):
        model = model_for(domain, None)
        settings = Settings(domain, model, budget=usual_budget(model))
        workspace.ingest([RawMessage("news", NEWS, "test")], settings, name=domain, workers=1)
    workspace.close()
    _more_harm(found / "partita.db")
    _demonstrated(found / "partita.db")
    return found


def _demonstrated(path: Path) -> None:
    """By `partita demo` and `partita demo --paper`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARTITA_STORE", str(path))
        told = " ".join("".join([*demo(), *paper()]).split())  # lines break where the path is long
    assert "as run demo" in told
    assert "as run paper" in told


def _more_harm(path: Path) -> None:
    """Into everything that the page shows and that no text gets into by itself."""
    harm = {
        "templates": ("rule", "sort"),
        "sets": ("reason", "model"),
        "entities": ("name", "sort"),
        "runs": ("domain", "model"),
    }
    with sqlite3.connect(path) as connection:
        for table, columns in harm.items():
            for column in columns:
                value = BOOM.format(f"{table}.{column}")
                query = f"update {table} set {column} = ? where run = ?"
                connection.execute(query, (value, HOSTILE))
        value = f'"{LINK} <img src=x onerror=window.boom=1>"'
        connection.execute("update slot_values set value_json = ? where run = ?", (value, HOSTILE))
        slots = '{"<b onmouseover=window.boom=2>FACILITY": "<script>window.boom=3</script>"}'
        connection.execute("update templates set slots = ? where run = ?", (slots, HOSTILE))
    connection.close()


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    """`partita serve`, as a person starts it, on a port that is free."""
    command = [sys.executable, "-m", "partita", "serve", "--port", "0", "--workers", "1"]
    told = folder / "serve.log"
    with (
        told.open("wb") as log,
        subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=log
        ) as service,
    ):
        found = service.stdout.readline().decode().strip()
        assert found.startswith("http"), told.read_text()
        yield found
        service.terminate()
        service.wait(PATIENCE)


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{address.rstrip('/')}/api", timeout=PATIENCE) as found:
        yield found


@pytest.fixture(scope="session")
def browsers(address: str) -> Iterator[list[Person]]:
    """Browsers that were started; they are used again, emptied."""
    started: list[Person] = []
    yield started
    for person in started:
        person.leave()


@pytest.fixture
def people(
    request: pytest.FixtureRequest, address: str, browsers: list[Person]
) -> Callable[[int], list[Person]]:
    """As many people as a test needs, each with a browser that remembers nothing."""

    def come(count: int) -> list[Person]:
        while len(browsers) < count:
            browsers.append(Person(address))
        request.node.people = browsers[:count]
        for person in browsers[:count]:
            person.size(1280, 900)
            person.colours("light")
            person.driver.get(f"{address}icon.svg")
            person.run("localStorage.clear(); sessionStorage.clear()")
            person.log()
        return browsers[:count]

    return come


@pytest.fixture
def person(people: Callable[[int], list[Person]]) -> Person:
    return people(1)[0]
