"""Decode bytes by their byte order mark, a named encoding, or UTF-8; change the case of a text."""

from __future__ import annotations

import codecs

from partita.errors import InputError

# UTF-32 before UTF-16: the UTF-32 mark begins with the UTF-16 mark
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


def python_encoding(name: str | None) -> str:
    """Return Python's name of an encoding, UTF-8 for None."""
    try:
        b" ".decode(name or "utf-8", errors="replace")  # empty input would not be checked
        return codecs.lookup(name or "utf-8").name
    except (LookupError, UnicodeError, ValueError) as error:
        raise InputError(f"{name!r} is not a text encoding known to Python") from error


def byte_order_mark(data: bytes) -> tuple[int, str | None]:
    """Return the length of the byte order mark and the encoding that it names."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return len(mark), encoding
    return 0, None


def decode(data: bytes, encoding: str, file: str, *, line: int | None = None, at: int = 0) -> str:
    """Return the text of bytes that start at the offset `at` of a file, without the mark."""
    if line is None and (kind := next((k for m, k in BINARY if data.startswith(m)), "")):
        raise InputError(f"is {kind} (expected plain text)", file=file)
    mark_length, mark_encoding = byte_order_mark(data) if at == 0 else (0, None)
    encoding = mark_encoding or encoding
    try:
        text = data[mark_length:].decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        problem = _problem(error, at + mark_length, encoding, data)
        raise InputError(problem, file=file, line=line) from error
    except (UnicodeError, ValueError) as error:
        raise InputError(f"is not {encoding}: {error}", file=file, line=line) from error
    if (nul := text.find("\0")) >= 0:
        problem = f"is binary: character {nul} is NUL (expected plain text){_utf16_hint(data)}"
        raise InputError(problem, file=file, line=line)
    return valid_unicode(text, file, line)


def too_long_error(limit: int, file: str, line: int | None = None) -> InputError:
    """Return the error for a message over the size limit."""
    size = f"{limit / (1 << 20):.4g} MB"
    return InputError(f"is larger than {size}, the limit for one message", file=file, line=line)


def valid_unicode(text: str, file: str, line: int | None = None) -> str:
    """Return the text, or raise InputError if it holds an unpaired surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"character {error.start} is an unpaired surrogate (expected valid Unicode)"
        raise InputError(problem, file=file, line=line) from error
    return text


def _problem(error: UnicodeDecodeError, before: int, encoding: str, data: bytes) -> str:
    place = before + error.start
    if b"\0" in data and not encoding.startswith(("utf-16", "utf-32")):
        return f"is binary: byte {place} is not {encoding} (expected plain text){_utf16_hint(data)}"
    if error.reason in ("unexpected end of data", "truncated data"):
        return f"ends within a character at byte {place} (expected complete {encoding}; truncated?)"
    return f"byte {place} is not {encoding} ({error.reason}); set the encoding with --encoding"


def _utf16_hint(data: bytes) -> str:
    """Return a hint for UTF-16 without a mark, where every second byte of Latin text is NUL."""
    start = data[:200]
    for name, half in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if half and 2 * half.count(0) > len(half):
            return f" ; try --encoding {name}"
    return ""
