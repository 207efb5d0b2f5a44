"""The text of PDF, Word and mail files. Offsets of mentions refer to the text that comes out.

PDF needs pypdf (`pip install "partita[documents]"`); the others need nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from html.parser import HTMLParser
from io import BytesIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from partita.errors import InputError

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HEADERS = ("From", "To", "Cc", "Date", "Subject")
BLOCKS = frozenset({"article", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "tr"})
SILENT = frozenset({"head", "script", "style", "template"})
LINE_ENDS = re.compile(r"[ \t]*\n(?:[ \t]*\n)+\s*")


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


class _Page(HTMLParser):
    """Collects the text of a page; blocks begin new paragraphs."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.silent += tag in SILENT
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self.silent = max(0, self.silent - (tag in SILENT))
        self._break(tag)

    def _break(self, tag: str) -> None:
        if tag in BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.parts.append(re.sub(r"\s+", " ", data))


def html_text(page: str) -> str:
    """Return the text of HTML."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    return LINE_ENDS.sub("\n\n", "".join(reader.parts)).strip()


READERS: Mapping[str, Callable[[bytes, str, int], str]] = {
    ".pdf": _pdf, ".docx": _docx, ".eml": _mail,
}  # fmt: skip
