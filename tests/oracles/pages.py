"""HTML read by the standard parser: which tags, which attributes, which text, and all closed."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "br"}


class Page(HTMLParser):
    """What a browser would find."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: Counter[tuple[str, str]] = Counter()
        self.values: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes[tag, name] += 1
            self.values.append((tag, name, value or ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    @property
    def words(self) -> str:
        return "".join(self.text)
