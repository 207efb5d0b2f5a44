"""Sources that were sent, as fusion takes them: what stands in them leads nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from partita.errors import InputError
from partita.formats.account_results import result_domain
from partita.formats.rules import shipped
from partita.service.asking import Fuse, Source
from partita.workspace.fusing.across_files import kinds_of
from partita.workspace.fusing.calling import Content, Options


def contents(asked: Fuse) -> list[Content]:
    """Results name their domain, which elsewhere may be a folder: not for whoever sends them."""
    for one in asked.sources:
        said = _domain_in(one, asked.kinds)
        if said and said not in shipped():
            known = ", ".join(shipped())
            raise InputError(f"unknown domain {said!r}; expected one of {known}", file=one.name)
    return [Content(one.name, one.content) for one in asked.sources]


def options(asked: Fuse) -> Options:
    nesting = asked.hierarchy
    return Options(
        domain=asked.domain or "",
        kinds=asked.kinds,
        slot_kinds=asked.slot_kinds,
        reliabilities=asked.reliabilities,
        hierarchy=None if nesting is None else Content(nesting.name, nesting.content),
        tolerance=asked.tolerance,
        without=asked.without,
        top=asked.top,
    )


def _domain_in(one: Source, kinds: Mapping[str, str]) -> str:
    """Found as fusion itself finds it, so that both mean the same."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / one.name
        path.write_bytes(one.content.encode())
        try:
            (kind,) = kinds_of([path], kinds).values()
            return result_domain(path) if kind == "reports" else ""
        except InputError as error:
            raise InputError(error.problem, file=one.name, line=error.line) from None
