"""Blocks of a text (`# newpar_block = head (1 s)`) to the region of each sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

BLOCK = re.compile(r"\s*([A-Za-z_]+).*\(([0-9]+) s\)\s*$")
# The first that is open decides: a heading inside a table's cell is a heading.
REGIONS = (
    ("head", "heading"),
    ("caption", "caption"),
    ("cell", "table"),
    ("row", "table"),
    ("table", "table"),
    ("item", "list"),
    ("note", "note"),
    ("quote", "quote"),
)


@dataclass(slots=True)
class Blocks:
    """The blocks that are open, with the number of sentences that each still covers."""

    open: list[tuple[str, int]] = field(default_factory=list)
    paragraph: int = -1

    def sentence(self, comments: dict[str, str]) -> str:
        """The region of the next sentence."""
        if self.paragraph < 0 or any(name.startswith("newpar") for name in comments):
            self.paragraph += 1
        self.open = [(name, left - 1) for name, left in self.open if left > 1]
        for block in comments.get("newpar_block", "").split("|"):
            if match := BLOCK.match(block):
                self.open.append((match[1], int(match[2])))
        names = {name for name, _ in self.open}
        return next((region for name, region in REGIONS if name in names), "text")
