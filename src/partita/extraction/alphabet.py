"""The alphabet of a phase: one character for each set of atoms that some phrase satisfies.

Characters are given out as such phrases turn up, and a class of a regular expression is the
characters of its atom so far; a pattern that meets one it does not know is compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from partita.errors import TooLarge
from partita.extraction.syntax import Atom
from partita.extraction.tests import Tests

SEPARATOR = "\0"  # between sentences and regions
ANY = "[^\\x00]"
LARGEST = 50_000  # characters

# None of these means anything in a class, and each takes one byte; others follow.
_SMALL = [chr(code) for code in range(1, 256) if not 32 <= code < 127 or chr(code).isalnum()]


@dataclass(slots=True)
class Alphabet:
    """Atoms are bits in the order in which they were added; `sets` are those of each character."""

    tests: Tests
    atoms: dict[Atom, int] = field(default_factory=dict)
    needed: list[int] = field(default_factory=list)
    about: int = 0
    by_mask: dict[int, str] = field(default_factory=dict)
    by_set: dict[int, str] = field(default_factory=dict)
    sets: dict[str, int] = field(default_factory=dict)

    def add(self, atom: Atom) -> int:
        """The bit of an atom; all atoms are added before the first phrase is read."""
        if atom not in self.atoms:
            self.atoms[atom] = 1 << len(self.needed)
            needed = self.tests.needed(atom.tests)
            self.needed.append(needed)
            self.about |= needed
        return self.atoms[atom]

    def character(self, mask: int) -> str:
        """The character of a phrase of which these tests hold."""
        known = self.by_mask.get(mask & self.about)
        return known if known is not None else self._learn(mask & self.about)

    def _learn(self, mask: int) -> str:
        atoms = sum(1 << n for n, needed in enumerate(self.needed) if mask & needed == needed)
        if atoms not in self.by_set:
            self._grow(atoms)
        self.by_mask[mask] = character = self.by_set[atoms]
        return character

    def _grow(self, atoms: int) -> None:
        if len(self.by_set) >= LARGEST:
            raise TooLarge(
                "the phrases of a phase", f"more than {LARGEST:,} characters", f"{LARGEST:,}"
            )
        count = len(self.by_set)
        character = _SMALL[count] if count < len(_SMALL) else chr(256 + count - len(_SMALL))
        self.by_set[atoms] = character
        self.sets[character] = atoms

    def members(self, atoms: int) -> list[str]:
        """The characters of phrases that satisfy one of the atoms."""
        return [character for character, has in self.sets.items() if has & atoms]

    def bits(self, atoms: Iterable[Atom]) -> int:
        bits = 0
        for atom in atoms:
            bits |= self.atoms[atom]
        return bits


def character_class(characters: Sequence[str]) -> str:
    """A class of a regular expression; of no characters what never matches."""
    return f"[{''.join(characters)}]" if characters else "(?!)"
