"""Which way of fusing sources ask for: by the objects that they name, or thing by thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from partita.errors import InputError
from partita.formats.claim_sides import is_nesting
from partita.formats.sources import SOURCES
from partita.workspace.fusing.across_files import Asked, about_things, kinds_of
from partita.workspace.fusing.files import Wanted


def sorted_out(kinds: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Kinds of files, by name ("" for all), apart from kinds of slots."""
    files: dict[str, str] = {}
    slots: list[str] = []
    for text in kinds:
        name, _, kind = text.rpartition("=")
        if kind in SOURCES:
            files[name] = kind
        else:
            slots.append(text)
    return files, tuple(slots)


def as_asked(
    paths: Sequence[Path],
    wanted: Wanted,
    files: Mapping[str, str],
    domain: str,
    parameters: Path | None,
) -> Asked | None:
    """What fusing thing by thing needs; None where all sources name the objects they speak of."""
    if wanted.columns:
        return None
    nestings = [path for path in paths if is_nesting(path)]
    known = kinds_of([path for path in paths if path not in nestings], files)
    if not about_things(known, domain):
        return None
    _refuse_options(wanted)
    if nestings:
        problem = "is a hierarchy, which is for claims; reports and records follow their domain"
        raise InputError(problem, file=str(nestings[0]))
    return Asked(
        domain,
        parameters,
        wanted.reliability,
        files,
        wanted.tolerance,
        wanted.without,
    )


def _refuse_options(wanted: Wanted) -> None:
    """What has no meaning where a domain tells which values there are."""
    given = {
        "--truth": wanted.truth,
        "--known": wanted.known,
        "--hierarchy": wanted.hierarchy,
        "--objects": wanted.objects,
        "--one-to-one": wanted.separator,
        "--discount-copies": wanted.discount or None,
        "--kind of a slot": [kind for kind in wanted.kinds if kind.rpartition("=")[2]
                             not in SOURCES] or None,
    }  # fmt: skip
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} is for claims; reports and records follow their domain")
