"""Files of machine code: a line of JSON, and an object file.

Code from a file runs with all rights of the process. A file is therefore used only if it and its
folders belong to this user or to root and nobody else may write to them, and if it is what was
written. Nothing in it is unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

SUFFIX = ".kernels"
KEPT = 8  # files of a group, those used last: several clones may share a folder
LOG = logging.getLogger("partita.compilation")
NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class UntrustedError(Exception):
    """A file or folder that others may have written."""


def folders() -> list[Path]:
    """Return the folders that may hold machine code, the preferred one first."""
    if chosen := os.environ.get("PARTITA_CACHE"):
        return [Path(chosen) / "kernels"]
    # Beside the package first: what root compiles then serves all users of an installation.
    return [Path(__file__).parent.parent / "__pycache__" / "kernels", user_cache() / "kernels"]


def user_cache() -> Path:
    """Return the folder for this user's cached files, as the platform has it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "partita"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/partita"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "partita"


@cache
def writable_folder() -> Path | None:
    """Return the folder for new files: the first that is ours and can be written to, or None."""
    for folder in folders():
        with contextlib.suppress(OSError, UntrustedError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _check_folder(folder)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def kept(group: str, places: Iterable[Path]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the sound files of a group, the one used last first; say which are refused."""
    for folder in places:
        for path in sorted(folder.glob(f"{group}-*{SUFFIX}"), key=_time, reverse=True):
            try:
                _check_folder(folder)
                yield read(path)
            except UntrustedError as error:
                LOG.warning("partita: %s is not used: %s", path, error)
            except OSError:
                continue


def _time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the description and the object of a file."""
    try:
        handle = os.open(path, os.O_RDONLY | NOT_FOLLOWED | getattr(os, "O_BINARY", 0))
    except OSError as error:
        if path.is_symlink():
            raise UntrustedError("it is a link (expected a file)") from error
        raise
    with os.fdopen(handle, "rb") as file:
        _check_owner(os.fstat(handle), stat.S_ISREG)
        first, _, code = file.read().partition(b"\n")
        with contextlib.suppress(OSError):  # of another user
            os.utime(handle)
    try:
        described: dict[str, Any] = json.loads(first)
        sound = described["checksum"] == hashlib.sha256(code).hexdigest()
    except (ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise UntrustedError("it is damaged or was changed (its checksum differs)")
    return described, code


def _check_folder(folder: Path) -> None:
    # An owner of a folder further up could put another folder in the place of this one, but none
    # that belongs to this user.
    for each in (folder, folder.parent):
        found = each.lstat() if each == folder else each.stat()
        try:
            _check_owner(found, stat.S_ISDIR)
        except UntrustedError as error:
            sticky = each != folder and found.st_mode & stat.S_ISVTX and found.st_uid == 0
            if not sticky:  # in /tmp nobody can replace the folder of another user
                raise UntrustedError(f"its folder {each}: {error}") from error


def _check_owner(found: os.stat_result, expected: Any) -> None:
    if not expected(found.st_mode):
        raise UntrustedError("it is a link or something else (expected a file in a folder)")
    if sys.platform == "win32":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise UntrustedError(f"it belongs to user {found.st_uid} (expected this user or root)")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UntrustedError("others may write to it (expected: only its owner)")


def write(folder: Path, group: str, described: dict[str, Any], code: bytes) -> Path:
    """Keep an object with its description, and delete files of the group not used for long."""
    first = json.dumps({**described, "checksum": hashlib.sha256(code).hexdigest()}).encode()
    path = folder / f"{group}-{hashlib.sha256(first).hexdigest()[:16]}{SUFFIX}"
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(first + b"\n" + code)
    Path(file.name).replace(path)
    for old in sorted(folder.glob(f"{group}-*{SUFFIX}"), key=_time, reverse=True)[KEPT:]:
        with contextlib.suppress(OSError):
            old.unlink()
    return path
