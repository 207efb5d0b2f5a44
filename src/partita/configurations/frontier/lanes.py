"""Sixteen neighbouring entries at once, as vectors: to[l] ⊕= ⊕_D y[D] ⊗ x[D][l].

D and l have four bits each. Of the sixteen pairs of their upper halves only nine can be disjoint
(or one inside the other); the compiler does not see that, and does not keep the sums in registers,
so the instructions are written out here: 3.5 times as fast as the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

VECTOR = ir.VectorType(ir.DoubleType(), 4)
INDEX, LANE = ir.IntType(64), ir.IntType(32)
Values = Callable[[Any, Any, Any, Any], Any]


def _add(builder: Any, total: Any, weight: Any, x: Any) -> Any:
    product = builder.fmul(weight, x, flags=["contract"])
    return builder.fadd(total, product, flags=["contract"])


def _raise(builder: Any, highest: Any, weight: Any, x: Any) -> Any:
    reached = builder.fadd(weight, x)
    return builder.select(builder.fcmp_ordered(">", reached, highest), reached, highest)


def _place(builder: Any, base: Any, k: int) -> Any:
    return builder.bitcast(builder.gep(base, [INDEX(k)]), VECTOR.as_pointer())


def _everywhere(builder: Any, value: Any) -> Any:
    """A vector of one value."""
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, LANE(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(LANE, 4), [0] * 4))


def _instructions(meets: Callable[[int, int], bool], combine: Values) -> Callable[..., Any]:
    """Code for arguments (to, t, y, b, x); `meets` says which halves of D and l have entries."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, y, x = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 2, 4)
        )
        to, y = builder.gep(to, [args[1]]), builder.gep(y, [args[3]])
        sums = [builder.load(_place(builder, to, 4 * part), align=8) for part in range(4)]
        for d in range(16):
            weight = _everywhere(builder, builder.load(builder.gep(y, [INDEX(d)])))
            for part in range(4):
                if meets(d >> 2, part):
                    spread = builder.load(_place(builder, x, 16 * d + 4 * part), align=8)
                    sums[part] = combine(builder, sums[part], weight, spread)
        for part in range(4):
            builder.store(sums[part], _place(builder, to, 4 * part), align=8)
        return context.get_dummy_value()

    return write


def _inside(d: int, part: int) -> bool:
    return d & part == d


def _apart(d: int, part: int) -> bool:
    return d & part == 0


def _added_inside(_typing, to, t, y, b, x):  # type: ignore[no-untyped-def]
    """to[t + l] += Σ_{D ⊆ l} y[b + D] · x[D][l]."""
    return types.void(to, t, y, b, x), _instructions(_inside, _add)


def _raised_inside(_typing, to, t, y, b, x):  # type: ignore[no-untyped-def]
    """to[t + l] = max over D ⊆ l of y[b + D] + x[D][l], and of what was there."""
    return types.void(to, t, y, b, x), _instructions(_inside, _raise)


def _added_apart(_typing, to, t, y, b, x):  # type: ignore[no-untyped-def]
    """to[t + l] += Σ_{D disjoint from l} y[b + D] · x[D][l]."""
    return types.void(to, t, y, b, x), _instructions(_apart, _add)


# called from compiled code as (to, t, y, b, x)
add_inside: Any = intrinsic(_added_inside)
raise_inside: Any = intrinsic(_raised_inside)
add_apart: Any = intrinsic(_added_apart)
