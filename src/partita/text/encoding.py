"""Decode bytes: by the byte order mark, the given encoding, or UTF-8."""

from __future__ import annotations

import codecs

from partita.errors import InputError

# UTF-32 before UTF-16: the mark of the one begins with the mark of the other
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BINARY = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"\x7fELF", "a program"),
)


def known_encoding(name: str | None) -> str:
    """The name of an encoding that Python reads; UTF-8 where none is given."""
    try:
        b" ".decode(name or "utf-8", errors="replace")  # no bytes at all would not be looked at
        return codecs.lookup(name or "utf-8").name
    except (LookupError, UnicodeError, ValueError) as error:
        raise InputError(f"{name!r} is not an encoding of text that Python reads") from error


def marked(data: bytes) -> tuple[int, str | None]:
    """How long the mark at the start is, and the encoding that it names."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return len(mark), encoding
    return 0, None


def decoded(data: bytes, encoding: str, file: str, *, line: int | None = None, at: int = 0) -> str:
    """The text of some bytes of a file that stand `at` an offset; the mark is not part of it."""
    if line is None and (kind := next((k for m, k in BINARY if data.startswith(m)), "")):
        raise InputError(f"is {kind}; expected plain text", file=file)
    skipped, by_mark = marked(data) if at == 0 else (0, None)
    encoding = by_mark or encoding
    try:
        text = data[skipped:].decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        problem = _problem(error, at + skipped, encoding, data)
        raise InputError(problem, file=file, line=line) from error
    except (UnicodeError, ValueError) as error:
        raise InputError(f"is not {encoding}: {error}", file=file, line=line) from error
    if (nul := text.find("\0")) >= 0:
        problem = f"is binary: character {nul} is NUL; expected plain text{_wide(data)}"
        raise InputError(problem, file=file, line=line)
    return sound(text, file, line)


def too_long(limit: int, file: str, line: int | None = None) -> InputError:
    size = f"{limit / (1 << 20):.4g} MB"
    return InputError(f"has more than {size}, the limit of one message", file=file, line=line)


def sound(text: str, file: str, line: int | None = None) -> str:
    """A text that can be written again: without halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"character {error.start} is half of a surrogate pair; expected whole characters"
        raise InputError(problem, file=file, line=line) from error
    return text


def _problem(error: UnicodeDecodeError, before: int, encoding: str, data: bytes) -> str:
    place = before + error.start
    if b"\0" in data and not encoding.startswith(("utf-16", "utf-32")):
        return f"is binary: byte {place} is not {encoding}; expected plain text{_wide(data)}"
    if error.reason in ("unexpected end of data", "truncated data"):
        return f"ends within a character at byte {place}; expected whole {encoding} (cut short?)"
    return f"byte {place} is not {encoding} ({error.reason}); say which with --encoding"


def _wide(data: bytes) -> str:
    """A hint for UTF-16 without a mark: every second byte of Latin text is then a NUL."""
    start = data[:200]
    for name, every in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if every and 2 * every.count(0) > len(every):
            return f" (perhaps --encoding {name})"
    return ""
