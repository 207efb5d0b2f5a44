"""Compiled loops for large sets: sets of tails, states and pair marginals.

A tail is the last template of a cell so far; a set of tails has bit d for the template d + 1 before
the one that asks. `p` and `q` are the chances of yes and no by that bit. Arrays belong to the
caller unless they are returned.
"""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel


@kernel(entry="f8[:], f8[:], f8[:]", fastmath={"reassoc"})
def shared(left, p, q):  # type: ignore[no-untyped-def]
    """Let a template ask every set of tails: sets without the one joined, chances of being asked.

    `left` (2^bits, the probability of every set) is spent. The last figure is the chance that all
    say no. Blocks stay in the cache.
    """
    block = min(len(left), 4096)
    after, asked = np.zeros(len(left)), np.zeros(len(p))
    for start in range(0, len(left), block):
        part = left[start : start + block]
        for d in range(len(p)):
            if 1 << d < block:
                asked[d] += _share_low(part, after[start : start + block], 1 << d, p[d], q[d])
            elif start >> d & 1:
                other = start ^ 1 << d
                asked[d] += _share(part, after[other : other + block], p[d], q[d])
        _share(part, after[start : start + block], 1.0, 1.0)
    return after, asked, left.sum()


@kernel(fastmath={"reassoc"})
def _share_low(part, after, step, p, q):  # type: ignore[no-untyped-def]
    """Do so for a bit below the block, `step`: `part` of the sets, and the same part `after`."""
    asked = 0.0
    for base in range(0, len(part), 2 * step):
        asked += _share(part[base + step : base + 2 * step], after[base : base + step], p, q)
    return asked


@kernel(fastmath={"reassoc"})
def _share(tails, after, p, q):  # type: ignore[no-untyped-def]
    """Update the probabilities of the sets `tails`; the share p continues in `after`, q stays."""
    asked = 0.0
    for i in range(len(tails)):
        chance = tails[i]
        asked += chance
        after[i] += chance * p
        tails[i] = chance * q
    return asked


@kernel(entry="i8[:], i8[:,:], i8, i8, i8, f8[:], f8[:], (i8, i8, i8, i8, i8, b1), i8")
def expand(sets, words, width, after_width, after_words, yes, no, facts, room):  # type: ignore[no-untyped-def]
    """Return all decisions about a template from all states, and the distinct states after them.

    State s is sets[s], the bits of its live tails (bit d: the template d + 1 before this one), and
    words[s], what the cell of each tail still allows: fields of `width` bits, 62 // width to a
    word, in the order of the tails (`after_width` and `after_words`: those of the states after it).
    Bit 0 of a field is this template, bit e the e-th after it. `yes` and `no` are log p and
    log(1 − p) by the bit of a tail, `facts` are those of `lattice._facts`, `room` is at least the
    number of decisions. The most recent tail is asked first; `spent` is log P that all cells before
    said no.

    Decisions first[s]:first[s + 1] are those of state s: the number of the state after it, the bit
    of the tail joined (−1 for a new cell) and the log-weight. `table` is a hash table with open
    addressing that is at most half full; it numbers the states by their first appearance.
    """
    first = np.zeros(len(sets) + 1, dtype=np.int64)
    target, joined = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int8)
    weight = np.empty(room)
    table = np.full((64, 2 + after_words), -1, dtype=np.int64)  # number, then key
    bits, allowed = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    key = np.empty(1 + after_words, dtype=np.int64)
    made, found = 0, 0
    for s in range(len(sets)):
        cells = _unpack(sets[s], words[s], width, bits, allowed)
        while 2 * (found + cells + 1) > len(table):
            table = _doubled(table, key)
        spent = 0.0
        for i in range(cells + 1):
            gain = spent
            if i < cells:
                gain += yes[bits[i]]
                spent += no[bits[i]]
            may = allowed[i] & 1 if i < cells else not facts[5]
            if may and gain > -np.inf and _place(i, cells, bits, allowed, after_width, facts, key):
                at = _slot(key, table)
                if table[at, 0] < 0:
                    table[at, 0] = found
                    table[at, 1:] = key
                    found += 1
                target[made], weight[made] = table[at, 0], gain
                joined[made] = bits[i] if i < cells else -1
                made += 1
        first[s + 1] = made
    keys = _in_order(table, found)
    return first, target[:made].copy(), joined[:made].copy(), weight[:made].copy(), keys


@kernel()
def _doubled(table, key):  # type: ignore[no-untyped-def]
    """Return the entries of a `table` in twice the room; `key` is overwritten."""
    larger = np.full((2 * len(table), table.shape[1]), -1, dtype=np.int64)
    for entry in table:
        if entry[0] >= 0:
            key[:] = entry[1:]
            larger[_slot(key, larger)] = entry
    return larger


@kernel()
def _in_order(table, found):  # type: ignore[no-untyped-def]
    """Return the keys of a `table`, of which `found` are in use, by their numbers."""
    keys = np.empty((found, table.shape[1] - 1), dtype=np.int64)
    for entry in table:
        if entry[0] >= 0:
            keys[entry[0]] = entry[1:]
    return keys


@kernel()
def _unpack(tails, words, width, bits, allowed):  # type: ignore[no-untyped-def]
    """Write the tails of a state and what their cells allow; return their number.

    `words` as in `expand`, with fields of `width` bits; filled are `bits`, those of the tails, and
    `allowed`, one field each.
    """
    per, field = 62 // width, (1 << width) - 1
    cells, d = 0, 0
    while tails:
        if tails & 1:
            bits[cells] = d
            allowed[cells] = words[cells // per] >> (cells % per * width) & field
            cells += 1
        tails >>= 1
        d += 1
    return cells


@kernel()
def _place(i, cells, bits, allowed, width, facts, key):  # type: ignore[no-untyped-def]
    """Write the key of the state after joining cell i; False where an awaited one has no place.

    `bits` and `allowed` are of the `cells` before, as `_unpack` fills them; `width` is that after
    it, and `facts` are as in `expand`.
    """
    allows, mates, elsewhere, awaited, live, _ = facts
    word, shift, union = 1, 0, 0
    key[:] = 0
    for j in range(-1, cells):
        bit = 0 if j < 0 else bits[j] + 1
        if j == i or not live >> bit & 1:
            continue
        if j >= 0:
            mask = allowed[j] >> 1 & ~mates
        elif i < cells:
            mask = allowed[i] >> 1 & allows
        else:
            mask = ~elsewhere & allows
        if shift + width > 62:
            word, shift = word + 1, 0
        key[0] |= 1 << bit
        key[word] |= mask << shift
        union |= mask
        shift += width
    return union & awaited == awaited


@kernel()
def _slot(key, table):  # type: ignore[no-untyped-def]
    """Return where the key is in the table, or where it belongs."""
    mixed = 0
    for word in key:
        mixed = (mixed ^ word) * 0x2545F4914F6CDD1D
        mixed ^= mixed >> 32  # the product's upper half knows every bit of the word
    at = mixed & (len(table) - 1)
    while table[at, 0] >= 0:
        same = True
        for w in range(len(key)):
            same &= table[at, 1 + w] == key[w]
        if same:
            break
        at = (at + 1) & (len(table) - 1)
    return at


@kernel(
    entry="i8[:], i4[:], i8[:], f8[:], i8[:], i8[:], i8[:], i8[:], f8[:,:], i8",
)
def before(first, target, joined, chance, tails, start, after_tails, after_start, after, own):  # type: ignore[no-untyped-def]
    """Return the pair marginals of every tail before a template, from those after it.

    Row start[s] + k is of the k-th tail of state s (`tails`, bits), with a column for each later
    template: the probability, given s, that it comes into the cell of this tail. `after` is the
    same for the states after the template, whose tails and rows are `after_tails` and
    `after_start`. Decision e of first[s]:first[s + 1] has the probability chance[e] given s, leads
    to the state target[e] and joins the tail with the bit joined[e]. After it every tail is one bit
    further back, and the template itself, bit 0, is the tail of the cell that it joined; a tail
    that can get no more members has no row. With `own` a first column is added, for the template
    itself.
    """
    known = np.zeros((start[-1], after.shape[1] + own))
    for s in range(len(tails)):
        for e in range(first[s], first[s + 1]):
            live, base = after_tails[target[e]], after_start[target[e]]
            row, rest, d, place = start[s], tails[s], 0, base + (live & 1)
            latest = live & 1
            while rest:
                live >>= 1
                if rest & 1:
                    if d == joined[e]:
                        if own:
                            known[row, 0] += chance[e]
                        if latest:
                            _add(known[row], after[base], chance[e], own)
                    elif live & 1:
                        _add(known[row], after[place], chance[e], own)
                        place += 1
                    row += 1
                rest >>= 1
                d += 1
    return known


@kernel()
def _add(row, other, chance, shift):  # type: ignore[no-untyped-def]
    """Add the `other` row, times a `chance`, to a `row` from column `shift` on."""
    for c in range(len(other)):
        row[c + shift] += chance * other[c]
