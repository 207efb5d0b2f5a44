"""PDF, Word and mail files: their text, and what is refused."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

import partita
from partita.errors import InputError
from partita.text.documents import html_text

STORY = "Ruth Okafor bought a boat. She sold it in Bremen."
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _docx(path: Path, *paragraphs: str) -> Path:
    inner = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    with ZipFile(path, "w") as archive:
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{WORD}"><w:body>{inner}</w:body></w:document>',
        )
    return path


def _pdf(path: Path, text: str) -> Path:
    """Write the smallest PDF with one line of text."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 200] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    path.write_text(f"{out}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}")
    return path


def _mail(path: Path, kind: str, body: str) -> Path:
    path.write_text(
        f"From: Dana Whitfield <dana@example.org>\nTo: Tom Reyes <tom@example.org>\n"
        f"Subject: Roof\nMIME-Version: 1.0\nContent-Type: {kind}; charset=utf-8\n\n{body}\n"
    )
    return path


def test_word(tmp_path: Path) -> None:
    doc = partita.run(_docx(tmp_path / "story.docx", "A story", STORY))
    assert doc.message.text == f"A story\n\n{STORY}"
    assert all(doc.message.text[m.start : m.end] == m.text for m in doc.mentions)
    assert "Ruth Okafor" in {mention.text for mention in doc.mentions}


def test_pdf(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    doc = partita.run(_pdf(tmp_path / "story.pdf", STORY))
    assert doc.message.text.strip() == STORY
    assert "Bremen" in {mention.text for mention in doc.mentions}


@pytest.mark.parametrize(
    ("kind", "body"),
    [("text/plain", STORY), ("text/html", f"<html><style>p {{}}</style><p>{STORY}</p></html>")],
)
def test_mail(tmp_path: Path, kind: str, body: str) -> None:
    doc = partita.run(_mail(tmp_path / "roof.eml", kind, body))
    assert doc.message.text.endswith(f"Subject: Roof\n\n{STORY}\n")
    assert doc.message.fields["from"].startswith("Dana Whitfield")
    assert "Ruth Okafor" in {mention.text for mention in doc.mentions}


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".eml"])
@pytest.mark.parametrize("data", [b"", b"nothing", b"PK\x03\x04", b"%PDF-1.4\n"])
def test_a_damaged_document_is_refused_in_one_line(
    tmp_path: Path, suffix: str, data: bytes
) -> None:
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(data)
    with pytest.raises(InputError, match="broken") as caught:
        partita.run(path)
    assert "\n" not in str(caught.value)


def test_text_of_a_page() -> None:
    page = "<head><title>x</title></head><p>Tom &amp; <b>Ann</b></p><script>a<b</script>left<br>."
    assert html_text(page) == "Tom & Ann\n\nleft\n\n."
