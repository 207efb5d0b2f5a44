"""The text of PDF, Word and mail files, and of HTML. Mentions have offsets in what comes out.

PDF needs pypdf (`pip install "partita[documents]"`); the others need nothing.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Callable, Mapping
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from io import BytesIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from partita.errors import InputError

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HEADERS = ("From", "To", "Cc", "Date", "Subject")
HEAD = re.compile(r"<(head|template)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
PARAGRAPHS = re.compile(r"\n\s*\n")


def document_text(data: bytes, suffix: str, file: str, limit: int) -> str:
    """Return the text of a document by the suffix of its file; at most `limit` characters."""
    text = READERS[suffix](data, file, limit)
    if not text.strip():
        raise InputError("holds no text (a scan needs text recognition first)", file=file)
    if len(text) > limit:
        raise InputError(f"holds more than {limit:,} characters of text", file=file)
    return text


def _pdf(data: bytes, file: str, limit: int) -> str:
    try:
        from pypdf import PdfReader
    except ImportError as error:
        problem = 'needs pypdf to be read (expected pip install "partita[documents]")'
        raise InputError(problem, file=file) from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # the error says what matters
    pages, size = [], 0
    try:
        for page in PdfReader(BytesIO(data)).pages:
            pages.append(page.extract_text())
            size += len(pages[-1])
            if size > limit:
                break
    except Exception as error:  # damaged files raise all kinds of errors
        raise InputError("is not a PDF that can be read", file=file) from error
    return "\n\n".join(pages)


def _docx(data: bytes, file: str, limit: int) -> str:
    try:
        with ZipFile(BytesIO(data)) as archive:
            entry = archive.getinfo("word/document.xml")
            if entry.file_size > 20 * limit:
                raise InputError(f"is too large ({entry.file_size:,} bytes of XML)", file=file)
            root = ElementTree.fromstring(archive.read(entry))
    except (BadZipFile, KeyError, ElementTree.ParseError, RuntimeError) as error:
        raise InputError("is not a Word document (.docx)", file=file) from error
    return "\n\n".join(filter(None, map(_paragraph, root.iter(f"{WORD}p"))))


def _paragraph(paragraph: ElementTree.Element) -> str:
    signs = {f"{WORD}tab": "\t", f"{WORD}br": "\n", f"{WORD}cr": "\n"}
    parts = (
        node.text or "" if node.tag == f"{WORD}t" else signs.get(node.tag, "")
        for node in paragraph.iter()
    )
    return "".join(parts).strip()


def _mail(data: bytes, file: str, limit: int) -> str:
    """Return the headers that say who writes to whom, and the body."""
    message = BytesParser(policy=policy.default).parsebytes(data)
    headers = [f"{name}: {message[name]}" for name in HEADERS if message[name]]
    body = message.get_body(("plain", "html")) if isinstance(message, EmailMessage) else None
    if not headers or body is None:
        raise InputError("is not a mail with a text (.eml)", file=file)
    try:
        text = str(body.get_content())
    except (LookupError, UnicodeError) as error:
        raise InputError(f"the text of the mail cannot be decoded: {error}", file=file) from error
    if body.get_content_type() == "text/html":
        text = html_text(text)
    return "\n".join([*headers, "", text.replace("\r\n", "\n").strip()]) + "\n"


TAG = re.compile(
    r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<!doctype[^>]*>|</?[a-zA-Z][a-zA-Z0-9]*(\s[^<>]*)?/?>",
    re.DOTALL | re.IGNORECASE,
)
KNOWN_TAG = re.compile(
    r"</?(html|head|body|div|p|a|span|br|h[1-6]|li|ul|ol|table|tr|td|b|i|em|strong|article)\b[^<>]*>",
    re.IGNORECASE,
)
BLOCK = re.compile(
    r"</?(p|div|br|h[1-6]|li|ul|ol|table|tr|article|title|head|body)\b", re.IGNORECASE
)
CHARACTER = re.compile(r"&(#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
FEWEST_TAGS = 3


def is_html(text: str) -> bool:
    """Return whether a text is marked up: a few well-known tags."""
    found = (match for match, _ in zip(KNOWN_TAG.finditer(text), range(FEWEST_TAGS), strict=False))
    return "<" in text and len(list(found)) == FEWEST_TAGS


def without_markup(page: str) -> str:
    """Return HTML with tags and references as spaces and characters: no offset changes."""
    return CHARACTER.sub(_character, TAG.sub(_blank, page))


def _blank(tag: re.Match[str]) -> str:
    """Return as many spaces, after two line ends for a tag that begins or ends a block."""
    start = "\n\n" if BLOCK.match(tag[0]) and len(tag[0]) > 2 else ""
    return start.ljust(len(tag[0]))


def _character(reference: re.Match[str]) -> str:
    character = html.unescape(reference[0])
    single = len(character) == 1 and character.isprintable()
    return (character if single else " ").ljust(len(reference[0]))


def html_text(page: str) -> str:
    """Return the text of HTML, blocks as paragraphs."""
    blocks = PARAGRAPHS.split(without_markup(HEAD.sub("", page)))
    return "\n\n".join(filter(None, (" ".join(block.split()) for block in blocks)))


READERS: Mapping[str, Callable[[bytes, str, int], str]] = {
    ".pdf": _pdf, ".docx": _docx, ".eml": _mail,
}  # fmt: skip
