"""Machine code of kernels, called from Python without Numba.

See `partita.compilation.compiler` for the way in which arguments and results are handed over.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from partita.compilation.signatures import NUMBERS, Array, Generator, Kind, Record

HEADER = object.__basicsize__  # bytes of an object before its own fields
# Errors in kernels, by the status that is returned; all others are 1.
ERRORS = {2: MemoryError, 3: ZeroDivisionError, 4: ValueError, 5: IndexError, 6: OverflowError}
BAD_ARGUMENT = 1000  # the status if the first array is of another type; one more for the second
SWAPPED = ">" if sys.byteorder == "little" else "<"
RELEASE = "partita.release"
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)


class _Memory:
    """Memory of a kernel's result, as NumPy takes it; it is released with the last array on it."""

    __slots__ = ("__array_interface__", "_owner", "_release")

    def __init__(self, interface: dict[str, Any], owner: Any, release: Callable[[Any], Any]):
        self.__array_interface__ = interface
        self._owner, self._release = owner, release

    def __del__(self) -> None:
        self._release(self._owner)


class CompiledEntry:
    """The machine code of a kernel, called as the kernel is."""

    def __init__(
        self, name: str, address: int, kinds: Sequence[Kind], result: Kind | None, release: int
    ) -> None:
        self.name, self.kinds, self.result = name, kinds, result
        self._call = ENTRY(address)
        self._release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release)
        self._given = struct.Struct("=" + "".join(_slots(kinds, lambda _: "Q")))
        made = _slots([result] if result else [], lambda array: "Q" * (2 + 2 * array.dimensions))
        self._made = struct.Struct("=" + "".join(made))
        self._room = ctypes.c_char * (self._given.size + self._made.size)

    def __call__(self, *args: Any) -> Any:
        values: list[Any] = []
        try:
            _flatten(args, self.kinds, values)
            room = self._room()
            self._given.pack_into(room, 0, *values)
        except (TypeError, ValueError, struct.error):
            self._refuse(args)
        if status := self._call(room, HEADER):
            if status >= BAD_ARGUMENT:
                return self._converted(args)
            raise ERRORS.get(status, ArithmeticError)(f"kernel {self.name} failed")
        if self.result is not None:
            made = iter(self._made.unpack_from(room, self._given.size))
            return self._returned(self.result, made, args)
        return None

    def _returned(self, kind: Kind, values: Iterator[Any], args: Sequence[Any]) -> Any:
        if isinstance(kind, Record):
            items = [self._returned(item, values, args) for item in kind.items]
            return kind.make(*items) if kind.make else tuple(items)
        if not isinstance(kind, Array):
            return next(values)
        owner, address, axes = next(values), next(values), range(kind.dimensions)
        interface = {
            "data": (address, False),
            "shape": tuple(next(values) for _ in axes),
            "strides": tuple(next(values) for _ in axes),
            "typestr": np.dtype(kind.code).str,
            "version": 3,
        }
        if owner:
            return np.asarray(_Memory(interface, owner, self._release))
        return np.asarray(_Memory(interface, args, id))  # of an argument, which it keeps alive

    def _converted(self, args: Sequence[Any]) -> Any:
        """Call the kernel with arrays of its types, and copy back what it wrote."""
        copies: list[tuple[Any, Any]] = []
        try:
            converted = _convert(args, self.kinds, copies)
        except TypeError:
            self._refuse(args)
        result = self(*converted)
        for array, copy in copies:
            if array.flags.writeable:
                array[...] = copy
        return result

    def _refuse(self, args: Sequence[Any]) -> NoReturn:
        expected = ", ".join(map(str, self.kinds))
        given = ", ".join(map(_described, args))
        raise TypeError(f"kernel {self.name} takes ({expected}), not ({given})")


def _convert(args: Sequence[Any], kinds: Sequence[Kind], copies: list[tuple[Any, Any]]) -> Any:
    """Return arguments with arrays of the types, and list those that are copies."""
    converted = []
    for value, kind in zip(args, kinds, strict=True):
        if isinstance(kind, Array):
            if value.ndim != kind.dimensions or not np.can_cast(value.dtype, kind.code, "safe"):
                raise TypeError
            copy = np.require(value, kind.code, ["C", "A"])
            copies += [] if copy is value else [(value, copy)]
            converted.append(copy)
        elif isinstance(kind, Record):
            converted.append(_convert(value, kind.items, copies))
        else:
            converted.append(value)
    return converted


def _flatten(args: Sequence[Any], kinds: Sequence[Kind], values: list[Any]) -> None:
    """Append the values of slots: of an array its address as an object."""
    for value, kind in zip(args, kinds, strict=True):
        if isinstance(kind, Array):
            if not isinstance(value, np.ndarray):
                raise TypeError
            values.append(id(value))
        elif isinstance(kind, Record):
            _flatten(value, kind.items, values)
        elif isinstance(kind, Generator):
            source = value.bit_generator.ctypes
            values.append(source.state.value)
            for function in (source.next_uint64, source.next_uint32, source.next_double):
                values.append(ctypes.cast(function, ctypes.c_void_p).value)
        else:
            values.append(value)


def _slots(kinds: Sequence[Kind], array: Callable[[Array], str]) -> Iterator[str]:
    for kind in kinds:
        if isinstance(kind, Array):
            yield array(kind)
        elif isinstance(kind, Record):
            yield from _slots(kind.items, array)
        elif isinstance(kind, Generator):
            yield "QQQQ"
        else:
            yield NUMBERS[kind.code]


def _described(value: Any) -> str:
    """Describe an argument as signatures do."""
    if isinstance(value, np.ndarray):
        order = "" if value.flags.c_contiguous else " not contiguous"
        return f"{Array(value.dtype.str[1:], value.ndim)}{order}"
    if isinstance(value, tuple) and type(value) is tuple:
        return f"({', '.join(map(_described, value))})"
    return type(value).__name__
