"""Types of arguments and results of the kernels that Python calls (entries).

A signature is a text such as `"i8[:], f8[:,:], f8, HashedModel"`: numbers by NumPy's codes, arrays
with a colon for each dimension (always C-contiguous), tuples in brackets, named tuples by the name
of their class, whose fields `kernel_record` declares, and `rng`, a generator of random numbers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
# How a number is packed into eight bytes, as the module `struct` writes it.
NUMBERS = {"i8": "q", "u8": "Q", "f8": "d", "b1": "?7x", "i4": "i4x", "u4": "I4x", "f4": "f4x"}
_TOKENS = re.compile(r"[A-Za-z_]\w*|[(),]|\[:(?:,:)*\]|.")
_ITEMS = frozenset(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "b1"])
_RECORDS: dict[type, str] = {}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number: `code` is NumPy's, such as f8."""

    code: str

    def __str__(self) -> str:
        return self.code


@dataclass(frozen=True, slots=True)
class Array:
    """A C-contiguous array of numbers."""

    code: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.code}[{','.join(':' * self.dimensions)}]"


@dataclass(frozen=True, slots=True)
class Record:
    """A tuple; `make` is the class of a named one."""

    items: tuple[Kind, ...]
    make: type | None = None

    def __str__(self) -> str:
        return self.make.__name__ if self.make else f"({', '.join(map(str, self.items))})"


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of random numbers of NumPy, `rng`."""

    def __str__(self) -> str:
        return "rng"


Kind = Scalar | Array | Record | Generator


def kernel_record(fields: str) -> Callable[[type[T]], type[T]]:
    """Declare the types of the fields of a named tuple that Python hands to kernels."""

    def declare(record: type[T]) -> type[T]:
        _RECORDS[record] = fields
        return record

    return declare


def signature(text: str, names: Mapping[str, Any]) -> tuple[Kind, ...]:
    """Return the types that a signature lists; `names` has the classes that it names."""
    tokens = _TOKENS.findall(re.sub(r"\s", "", text))
    try:
        items = _items(tokens, names)
    except (IndexError, KeyError):
        tokens = [text]
    if tokens:
        raise TypeError(f"{text!r} is no signature (expected types such as f8, i8[:] and names)")
    return items


def _items(tokens: list[str], names: Mapping[str, Any]) -> tuple[Kind, ...]:
    """Take types, separated by commas, from the tokens up to a closing bracket or the end."""
    items: list[Kind] = []
    while tokens and tokens[0] != ")":
        token = tokens.pop(0)
        if token == "(":
            items.append(Record(_items(tokens, names)))
            tokens.pop(0)
        elif token in _ITEMS and tokens and tokens[0].startswith("[:"):
            items.append(Array(token, tokens.pop(0).count(":")))
        elif token in NUMBERS:
            items.append(Scalar(token))
        elif token == "rng":
            items.append(Generator())
        else:
            fields = signature(_RECORDS[names[token]], vars(sys.modules[names[token].__module__]))
            items.append(Record(fields, names[token]))
        if tokens and tokens[0] != ")" and tokens.pop(0) != ",":
            raise KeyError(token)
    return tuple(items)
