"""Write files atomically: a file is complete or unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from partita.errors import InputError

BUFFER = 1 << 20  # bytes
DESCRIPTORS = Path("/proc/self/fd")  # gives files without a name one
_KEEP: list[Callable[[], None]] = []  # put what is written of open files into place


def write_atomically(path: str | Path, data: str | bytes) -> None:
    """Replace the contents of a file; on an error the old file stays."""
    with replacing_bytes(path) as stream, write_errors(path):
        stream.write(data if isinstance(data, bytes) else data.encode())


@contextmanager
def replacing(path: str | Path) -> Iterator[TextIO]:
    """Open a text stream that replaces the file at the end.

    On an error the file stays as it was. On an interruption the text written so far is kept, so the
    writer must write whole lines only.
    """
    with _replacing(path, keeps_interrupted=True) as binary:
        stream = _CheckedText(binary, path)
        try:
            yield cast(TextIO, stream)
            stream.flush()
        except KeyboardInterrupt:
            stream.flush()
            raise


@contextmanager
def replacing_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Open a binary stream that replaces the file if the end is reached."""
    with _replacing(path, keeps_interrupted=False) as stream:
        yield stream


class _CheckedText:
    """A text stream that turns system errors, such as a full disk, into input errors.

    Text goes to the binary buffer at once: Python's own text stream keeps some of it back, and
    loses that if Ctrl-C comes while the buffer is being written.
    """

    def __init__(self, binary: BinaryIO, path: str | Path) -> None:
        self.binary, self.path = binary, path

    def write(self, text: str) -> int:
        try:  # and not write_errors, which would take longer than the line itself
            self.binary.write(text.encode())
        except OSError as error:
            raise _write_error(self.path, error) from error
        return len(text)

    def flush(self) -> None:
        with write_errors(self.path):
            self.binary.flush()


@contextmanager
def _replacing(path: str | Path, keeps_interrupted: bool) -> Iterator[BinaryIO]:
    place = Path(path).resolve()
    if place.exists() and not place.is_file():  # a device or a pipe must not be renamed over
        with write_errors(path):
            device = place.open("wb")
        with closing_checked(device, path):
            yield device
        return
    partial = place.with_name(f".{place.name}.{os.getpid()}.partial")
    _remove_abandoned(place)
    try:
        with write_errors(path):
            stream = _nameless(place.parent) or partial.open("wb", BUFFER)
        with closing_checked(stream, path):
            try_lock(stream)
            with _kept(lambda: _move_into_place(stream, partial, place), keeps_interrupted):
                yield stream
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _kept(keep: Callable[[], None], interrupted: bool) -> Iterator[None]:
    """Keep a file at the end of the block, and on an interruption only if wanted."""
    _KEEP.extend([keep] * interrupted)
    try:
        yield
    except KeyboardInterrupt:
        if interrupted:
            keep()
        raise
    finally:
        if keep in _KEEP:
            _KEEP.remove(keep)
    keep()


def keep_unfinished() -> None:
    """Put into place what is written of files that keep it on an interruption."""
    for keep in reversed(_KEEP):
        keep()


@contextmanager
def closing_checked(stream: BinaryIO, path: str | Path) -> Iterator[None]:
    """Close a stream at the end; what cannot be written then is an input error."""
    try:
        yield
        with write_errors(path):
            stream.flush()
    finally:
        with suppress(OSError):
            stream.close()


def _nameless(folder: Path) -> BinaryIO | None:
    """Open a file without a name, of which nothing is left if this process is killed."""
    try:
        flags = os.O_TMPFILE | os.O_WRONLY
        opened = os.open(folder, flags, 0o666) if DESCRIPTORS.is_dir() else None
        return None if opened is None else os.fdopen(opened, "wb", BUFFER)
    except (AttributeError, OSError):  # not Linux, or a file system that has no such files
        return None


def _move_into_place(stream: BinaryIO, partial: Path, place: Path) -> None:
    with write_errors(place):
        stream.flush()
        os.fsync(stream.fileno())
        if not partial.exists():  # `src_dir_fd` makes link follow the link to the open file
            number = stream.fileno()
            os.link(DESCRIPTORS / str(number), partial, src_dir_fd=number, follow_symlinks=True)
        partial.replace(place)
        sync(stream, place)


def sync(stream: IO[bytes], place: Path) -> None:
    """Wait until the contents of an open file and its name are on the disk."""
    os.fsync(stream.fileno())
    with suppress(OSError):  # a system that cannot open folders
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _remove_abandoned(place: Path) -> None:
    """Remove what killed processes left beside the file; living ones hold a lock on theirs."""
    with suppress(OSError):
        for beside in place.parent.iterdir():
            if beside.name.startswith(f".{place.name}.") and beside.suffix == ".partial":
                with suppress(OSError), beside.open("rb") as stream:
                    if try_lock(stream):
                        beside.unlink()


def try_lock(stream: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def refuse_inputs(out: str | Path | None, inputs: Iterable[str | Path | None]) -> None:
    """Raise an error if an output is one of the inputs, which it would overwrite."""
    for name in inputs:
        files = [Path(path) for path in (out, name) if path and Path(path).is_file()]
        if len(files) == 2 and files[0].samefile(files[1]):
            problem = "is also an input and would be overwritten; use another output file"
            raise InputError(problem, file=str(out))


def refuse_folders(out: str | Path | None, inputs: Iterable[str | Path]) -> None:
    """Raise an error if an output would be read with a folder of inputs."""
    for name in inputs:
        folder, place = Path(name).resolve(), Path(out or "/").resolve()
        if folder not in place.parents:
            continue
        if not any(part.startswith(".") for part in place.relative_to(folder).parts):
            problem = f"lies in the input folder {name} and would be read with it"
            raise InputError(f"{problem}; use another output file", file=str(out))


@contextmanager
def write_errors(path: str | Path) -> Iterator[None]:
    """Turn system errors into input errors."""
    try:
        yield
    except OSError as error:
        raise _write_error(path, error) from error


def _write_error(path: str | Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror or error}", file=str(path))
