"""Build what is generated from the code: the reference and the pictures. Run by `make docs`."""

from __future__ import annotations

import dataclasses
import html
import inspect
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import nbformat
from nbclient import NotebookClient
from typer.main import get_command

import partita
from partita import options as declared
from partita.cli import app
from partita.cli.demo import ARTICLE, CLAIMS, SCORES
from partita.options import declaration, declared_fields
from partita.plugins import COMMANDS, installed
from partita.views.markup import colour

HERE = Path(__file__).parent


# The texts, and what is wrong with what comes out, by a reader.
ORDINARY = {
    "news": (
        "the ferry and the ferry line are two entities, *we* and *our* are not the "
        "fishermen, and the boats of the second sentence are not the three electric boats."
    ),
    "biography": (
        "*the couple* is Clara Whitcombe alone, and *her own* is cut out of *a survey of her own*."
    ),
    "mail": (
        "the hotel and the library are one entity, and *a room for thirty* is not the room that "
        "was cancelled."
    ),
    "police": (
        '*them* in "identified them" are the watches and not the two men, *its* in "its '
        'number" means the van and not the bakery.'
    ),
    "medical": (
        "four pronouns after *Dr. Shah* are Edith Lowe, *the drug* is furosemide and no "
        "organization."
    ),
    "minutes": (
        'the list of those present is a mention called J. Barlow, *it* in "could be mended" '
        "is the tank, and *It was agreed* stands for nothing."
    ),
    "review": (
        'Kestrel is a firm and no person, *its* in "its weak point" is the kettle, *you* is no *I*.'
    ),
}


def ordinary_texts() -> str:
    """Seven texts, and what `partita run` prints for each."""
    parts = ["# Seven ordinary texts", "", "What [the domain `general`](general.md) makes of the",
             "texts in `docs/texts`, unedited. Made by `make docs`."]  # fmt: skip
    for name in ORDINARY:
        path = HERE / "texts" / f"{name}.txt"
        printed = str(partita.run(path)).strip().splitlines()[1:]  # without the file's path
        text = path.read_text(encoding="utf-8").strip()
        parts += ["", f"## {name.capitalize()}", "", "```text", text, "```", ""]
        wrong = textwrap.fill(f"What is wrong: {ORDINARY[name]}", 100)
        parts += ["```text", *printed, "```", "", wrong]
    return "\n".join(parts) + "\n"


def reference() -> str:
    """The public names with their signatures and docstrings, and the commands' help."""
    names = [_entry(name, getattr(partita, name)) for name in partita.__all__]
    packages = {name: one.package.replace("_", "-") for name, one in installed(COMMANDS).items()}
    added = {name: f" (package {package})" for name, package in packages.items()}
    commands = [_help(name, added.get(name, "")) for name in (*get_command(app).commands, *added)]
    return "\n".join(["# Reference", "", "Made from the code by `make docs`.", "",
                      "## Options", "", *options(), "", "## Python", "", *names,
                      "## Commands", "", *commands])  # fmt: skip


VERBS = ("run", "solve", "cluster", "link", "fuse", "build", "train", "evaluate", "explain")


def options() -> Iterator[str]:
    """The options that the verbs have in Python and on the command line, as they are declared."""
    yield "The options of the verbs, declared once in `partita.options`. A dash: only in Python."
    for verb in VERBS:
        yield from ("", f"`{verb}`", "", "| Python | command | default | |", "| --- " * 4 + "|")
        for one in declared_fields(getattr(declared, f"{verb.capitalize()}Options")):
            option = declaration(one)
            flag = option.flag or f"--{one.name.replace('_', '-')}"
            shown = option.metavar if option.argument else f"`{flag}`"
            shown = shown if option.command else "–"
            default = option.shown if isinstance(option.shown, str) else one.default
            written = "" if default in (None, "", ()) else str(default).replace("|", "\\|")
            yield f"| `{one.name}` | {shown} | {written} | {option.help} |"


def _entry(name: str, thing: object) -> str:
    lines = [f"### `partita.{name}`", "", inspect.getdoc(thing) or "", ""]
    if inspect.isfunction(thing):
        lines[1:1] = ["", "```", _signature(name, thing, width=88), "```"]
    elif inspect.ismodule(thing):
        lines += [*_parts(thing), ""]
    elif inspect.isclass(thing) and not issubclass(thing, Exception):
        lines += [*_members(thing), ""]
    return "\n".join(lines)


def _parts(module: ModuleType) -> Iterator[str]:
    """The public names of a module, with the first lines about them."""
    for name in module.__all__:
        part = getattr(module, name)
        call = name if inspect.isclass(part) else _signature(name, part)
        yield f"- `{call}`: {(inspect.getdoc(part) or '').splitlines()[0]}"


def _members(thing: type) -> Iterator[str]:
    """The fields of a class, then its properties and methods, with the first lines about them."""
    fields = [one.name for one in dataclasses.fields(thing)] if is_dataclass(thing) else []
    if fields:
        yield f"Fields: {', '.join(f'`{one}`' for one in fields)}"
        yield ""
    for kind in thing.__mro__:
        for part, value in vars(kind).items():
            text = inspect.getdoc(value)
            if part.startswith("_") or part in fields or not text or getattr(thing, part) is None:
                continue
            if isinstance(value, property):
                yield f"- `{part}`: {text.splitlines()[0]}"
            elif callable(value) or isinstance(value, classmethod):
                call = _signature(part, getattr(thing, part)).replace("self, ", "")
                yield f"- `{call.replace('(self)', '()')}`: {text.splitlines()[0]}"


class _Text:
    """An annotation that is shown as it is written."""

    def __init__(self, text: object) -> None:
        self.text = str(text)

    def __repr__(self) -> str:
        return self.text


def _signature(name: str, function: Any, width: int = 1000) -> str:
    """The signature, without quotes around annotations; a wide one has a line per argument."""
    written = inspect.signature(function)
    parts = [
        one if one.annotation is one.empty else one.replace(annotation=_Text(one.annotation))
        for one in written.parameters.values()
    ]
    result = _Text(written.return_annotation)
    text = f"{name}{written.replace(parameters=parts, return_annotation=result)}"
    if len(text) > width:
        shown: list[str] = []
        for one in parts:
            if one.kind is one.KEYWORD_ONLY and "    *," not in shown:
                shown.append("    *,")
            shown.append(f"    {one},")
        text = "\n".join([f"{name}(", *shown, f") -> {result}"])
    return text


def _help(command: str, source: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "partita", command, "--help"],
        capture_output=True, text=True, check=True,
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
    )  # fmt: skip
    return f"### `partita {command}`{source}\n\n```\n{run.stdout.rstrip()}\n```\n"


def pictures(page: Path) -> None:
    """The pictures that the Python code of a page makes, called plot-…"""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", "".join(blocks)], cwd=folder, check=True)
        for made in sorted(Path(folder).glob("plot-*.svg")):
            (HERE / "pictures" / made.name).write_bytes(made.read_bytes())


BEFORE = 340, 40  # width of a panel, and of the arrow between two


def before_after() -> str:
    """Return the picture of the README: what goes in, and what comes out, by today's models."""
    resolved = partita.run(ARTICLE)
    several = sorted(
        (one for one in resolved.entities if len(one.templates) > 1),
        key=lambda one: -len(one.templates),
    )
    texts = {mention.id: mention.text for mention in resolved.mentions}
    clusters = partita.cluster(SCORES).to_dict()
    exact = clusters["clusters"][0]["exact"]
    belief = partita.fuse(
        [dict(zip(("object", "source", "boats"), claim, strict=True)) for claim in CLAIMS]
    )
    panels = [
        (
            "Text",
            textwrap.wrap(ARTICLE, 50),
            [f"{one.name or texts[one.anchor]}: "
             f"{', '.join(texts[name] for name in one.templates)}" for one in several[:4]],
        ),
        (
            "Pair scores",
            [f"{left} = {right}  {score:.2f}" for left, right, score in SCORES],
            [f"{exact:.2f}  all three are one person",
             f"{clusters['alternatives'][0]['probability']:.2f}  Jon Smith, York is another"],
        ),
        (
            "Claims",
            [f"{thing}: {source} says {value}" for thing, source, value in CLAIMS],
            [f"{one.probability:.2f}  {one.object}: {one.value or 'something else'}"
             for one in belief.values],
        ),
    ]  # fmt: skip
    return _panels(panels)


def _panels(panels: list[tuple[str, list[str], list[str]]]) -> str:
    """Return rows of two boxes with lines of text, an arrow between them."""
    width, gap = BEFORE
    parts, top = [], 10
    for title, before, after in panels:
        shown = [textwrap.wrap(line, 46, subsequent_indent="    ") or [""] for line in after]
        columns = [before, [line for lines in shown for line in lines]]
        height = 18 * max(map(len, columns)) + 40
        for column, (name, lines) in enumerate(zip((title, "Partita"), columns, strict=True)):
            x = 10 + column * (width + gap)
            parts.append(
                f'<rect x="{x}" y="{top}" width="{width}" height="{height}" rx="6" '
                f'fill="{"#ffffff" if column else "#f5f5f2"}" stroke="#b9b9b0"/>'
            )
            parts.append(f'<text x="{x + 12}" y="{top + 22}" font-weight="bold">{name}</text>')
            parts += [
                f'<text x="{x + 12}" y="{top + 44 + 18 * n}" xml:space="preserve">'
                f"{html.escape(line)}</text>"
                for n, line in enumerate(lines)
            ]
        middle = top + height // 2
        parts.append(f'<text x="{width + 18}" y="{middle + 8}" font-size="24">→</text>')
        top += height + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width + gap + 20} {top}" '
        'font-family="system-ui, sans-serif" font-size="12.5" fill="#1d1d1b" role="img">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def notebooks() -> None:
    """Run every notebook and keep what it shows."""
    for path in sorted((HERE / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with TemporaryDirectory() as folder:
            resources = {"metadata": {"path": folder}}
            NotebookClient(
                notebook, timeout=600, kernel_name="python3", resources=resources
            ).execute()
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # times
        nbformat.write(notebook, path)


def site_style() -> str:
    """The colours of the site: those of the page."""
    roles = {"primary-fg-color": "accent", "accent-fg-color": "fill", "typeset-a-color": "accent"}
    lines = [f"  --md-{role}: {colour(name)};" for role, name in roles.items()]
    header = '[data-md-color-primary="custom"]'
    light = f'{header}[data-md-color-scheme="default"]'
    links = f"  --md-typeset-a-color: {colour('tint-0')};"
    return "\n".join(
        ["/* Made from the palette of the page by `make docs`. */", f"{header}, {light} {{", *lines,
         "}", f'{header}[data-md-color-scheme="slate"] {{', links, "}", ""]
    )  # fmt: skip


def main() -> None:
    (HERE / "reference.md").write_text(reference(), encoding="utf-8")
    subprocess.run([sys.executable, HERE.parent / "scripts" / "doc_blocks.py"], check=True)
    (HERE / "ordinary-texts.md").write_text(ordinary_texts(), encoding="utf-8")
    (HERE / "pictures" / "before-after.svg").write_text(before_after(), encoding="utf-8")
    notebooks()
    pictures(HERE / "paper.md")
    (HERE / "site.css").write_text(site_style(), encoding="utf-8")


if __name__ == "__main__":
    main()
