"""Compiled: each mention in turn joins a cell or starts one; draws and beam search.

Throughout: `mentions`, `cells` and `grown` are those of `cells_kernels`, `network` has the weights,
only read; `view` is what mention j sees of the cells met, `known` the scores of this step and
`choice` the choices in one configuration b, all room that each step overwrites. `row` and `similar`
(mentions) are the relations of j and the mentions such as j; `rows` are rows of the network's
`table`; `codes` are those of one cell; `sums` and `own` (units) are sums of rows, in whole numbers.

The score of joining a cell is Σ_q out_q · f(bias_q + sums_q / SCALE), f the leaky rectifier;
P(choice) is its softmax over all cells and "new".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, kernel_record, uncounted
from partita.configurations.joint import codes as code
from partita.configurations.joint.cells_kernels import (
    EMPTY,
    LAST,
    WITHOUT,
    CellTable,
    Grown,
    Small,
    compare_members,
    copy_configuration,
    fill_bits,
    growing,
    list_cells,
    no_cells,
    place,
    place_of,
    similar_mentions,
    with_room,
)
from partita.configurations.joint.codes import LEXEME_ID, SLOPE
from partita.configurations.joint.features_kernels import Mentions, fill_relations
from partita.configurations.joint.kernels import (
    FACTS,
    KEY_BITS,
    KEY_MASK,
    KIND_GROUPS,
    LONG_AGO_CLASS,
    NEAR,
    RELATIVE,
    RELATIVE_NEW,
    Codes,
    Counts,
    classify,
    describe_cell,
    describe_new,
    fill_near_cells,
    no_counts,
)
from partita.core import FloatArray, IntArray

Single = NDArray[np.float32]
Whole = NDArray[np.int16]

JOIN, START = 0, 1
CODES, NEW_CODES, CLASSES = len(code.CELL), len(code.NEW), len(code.OTHER)
OWN, GATING = code.OWN, code.GATING
MOST_ROWS = max(CODES, NEW_CODES + 1)
SCALE = code.SCALE
STATIC_OWN = np.array([k for k in range(OWN) if k not in RELATIVE])
STATIC_CELL = np.array([k for k in range(OWN, CODES) if k not in RELATIVE])
STATIC_NEW = np.array([k for k in range(NEW_CODES) if k not in RELATIVE_NEW])
NEW_ROW = 0  # of sums and of known scores: that of "new"; cells follow in the order of slots
DENIAL = 12.0  # less for a cell with a mention that this one is denied to be
EXCLUSION = 1e9  # less for a cell with a mention that is known to differ
BESIDES = 5.0  # less for a cell with the I or you of the speech in which this is he or she
TOGETHER = 2**18  # places of cells in the configurations that grow together


@kernel_record("i8[:], i8[:]")
class Layout(NamedTuple):
    """Where the values of each of CELL (`cell`) and of NEW (`new`; words last) begin in a table."""

    cell: IntArray
    new: IntArray


@kernel_record("i2[:,:], f4[:,:], f4[:,:], f4[:], i2[:,:], f8[:], Layout")
class Network(NamedTuple):
    """Weights: `table`, `bias` and `out` of joining and starting, scores of far cells (`other`).

    The table holds whole numbers, weights times SCALE, so that sums of its rows are exact. The
    output of joining a cell is that plus the rows of the `gate` for the mention's own
    characteristics, also in whole numbers; `layout` says where characteristics begin.
    `temperature` holds a and b: scores are multiplied by exp(a + b log(cells + 1)).
    """

    table: Whole
    bias: Single
    out: Single
    other: Single
    gate: Whole
    temperature: FloatArray
    layout: Layout


class View(NamedTuple):
    """What a mention and the cells that were met have together, in the order of their slots.

    `facts` and `codes` are those of `describe_cell`. `sums` are sums of the table's rows for each
    near cell, before the relative codes are added, those of "new" first. `out` is the output of
    joining a cell.
    """

    facts: Small
    codes: Codes
    sums: Small
    out: Single


class Known(NamedTuple):
    """The scores known at a step: a list of entries for "new" and for each cell met.

    `heads` (cells met + 1) is the first entry, −1 for none; an entry has one of `keys` and
    `scores`, and the next in `following`; used[0] entries are in use.
    """

    heads: Small
    keys: IntArray
    scores: FloatArray
    following: Small
    used: IntArray


class Choice(NamedTuple):
    """The choices of a mention in a configuration.

    `near` holds the places of near cells, of a new cell, and of far cells that are not long ago,
    `keys` those of near ones and the new cell; `scores` and `shares`, e^score, are of the same.
    `far_scores` and `far_shares` are those of one far cell of each class. `found` is the number of
    near cells, that of the others and the sum of all shares. The last three, `sums`, `rows` and
    `counts`, are room for work.
    """

    scores: FloatArray
    shares: FloatArray
    near: IntArray
    keys: IntArray
    far_scores: FloatArray
    far_shares: FloatArray
    found: FloatArray
    sums: Small
    rows: IntArray
    counts: Counts


@kernel()
def new_view(slots: int, units: int) -> View:
    """Return a view with room for so many cells."""
    return View(
        np.zeros((slots, FACTS), np.int32),
        np.zeros((slots, CODES), np.uint8),
        np.zeros((slots + 1, units), np.int32),
        np.zeros(units, np.float32),
    )


@kernel()
def _no_scores(slots: int, entries: int) -> Known:
    """Return room for so many entries, none of them in use."""
    return Known(
        np.full(slots + 1, -1, np.int32),
        np.empty(entries, np.int64),
        np.empty(entries),
        np.empty(entries, np.int32),
        np.zeros(1, np.int64),
    )


@kernel()
def _no_choice(n: int, units: int) -> Choice:
    """Return room for the choices among n mentions."""
    return Choice(
        np.zeros(n + 2),
        np.zeros(n + 2),
        np.zeros(n + 2, np.int64),
        np.zeros(n + 2, np.int64),
        np.zeros(CLASSES),
        np.zeros(CLASSES),
        np.zeros(3),
        np.zeros(units, np.int32),
        np.zeros(len(RELATIVE_NEW), np.int64),
        no_counts(),
    )


@uncounted
def _add_rows(table: Whole, rows: IntArray, sums: Small) -> None:
    """Add rows of the table to the sums."""
    for row in rows:
        for q in range(len(sums)):
            sums[q] += np.int32(table[row, q])


@uncounted
def _list_rows(starts: IntArray, which: IntArray, codes: Codes, rows: IntArray) -> int:
    """List the table's rows of the characteristics `which` (`starts`: where each begins); count."""
    for k in range(len(which)):
        rows[k] = starts[which[k]] + codes[which[k]]
    return len(which)


@kernel()
def fill_view(
    mentions: Mentions,
    network: Network,
    cells: CellTable,
    used: int,
    count: int,
    row: IntArray,
    j: int,
    view: View,
) -> None:
    """Fill the view of mention j on the cells that were met.

    cells.met[:count] are the different cells of all configurations at this step, of `used` cells in
    the table; `row` (mentions) has the relations of j to earlier mentions. What is of the mention
    alone is summed once, in `own`.
    """
    _start(mentions, network, j, view.sums[NEW_ROW])
    fill_bits(cells, used, row)
    classify(mentions, cells, count, j)
    compare_members(mentions, cells, used, row, j)
    own, rows, first = np.zeros(network.table.shape[1], np.int32), np.zeros(CODES, np.int64), True
    for slot in range(count):
        cell, codes = cells.met[slot], view.codes[slot]
        if cells.classes[cell] != NEAR:
            continue
        describe_cell(mentions, cells, row, j, cell, view.facts[slot], codes)
        if first:
            listed = _list_rows(network.layout.cell, STATIC_OWN, codes, rows)
            _add_rows(network.table, rows[:listed], own)
            _gate(network, codes, view.out)
            first = False
        view.sums[slot + 1] = own
        listed = _list_rows(network.layout.cell, STATIC_CELL, codes, rows)
        _add_rows(network.table, rows[:listed], view.sums[slot + 1])


@uncounted
def _gate(network: Network, codes: Codes, out: Single) -> None:
    """Fill `out` (units), the output of joining a cell, for a mention's own characteristics."""
    for q in range(len(out)):
        total = np.int32(0)
        for k in range(GATING):
            total += np.int32(network.gate[network.layout.cell[k] + codes[k], q])
        out[q] = network.out[JOIN, q] + np.float32(total) * np.float32(1.0 / SCALE)


@kernel()
def _start(mentions: Mentions, network: Network, j: int, sums: Small) -> None:
    """Sum the table's rows of a mention that starts a cell."""
    new, rows, starts = (
        np.zeros(NEW_CODES, np.uint8),
        np.zeros(MOST_ROWS, np.int64),
        network.layout.new,
    )
    describe_new(mentions.attributes, j, new)
    listed = _list_rows(starts, STATIC_NEW, new, rows)
    rows[listed] = starts[NEW_CODES] + mentions.attributes[j, LEXEME_ID]
    sums[:] = 0
    _add_rows(network.table, rows[: listed + 1], sums)


@uncounted
def _score(network: Network, view: View, place: int, key: int, choice: Choice) -> float:
    """Return the score of the cell with this place in `view.sums`, with a key."""
    starts, sums, rows = place == NEW_ROW, choice.sums, choice.rows
    relative = RELATIVE_NEW if starts else RELATIVE
    begin, which = (network.layout.new, START) if starts else (network.layout.cell, JOIN)
    for k in range(len(relative)):
        rows[k] = begin[relative[k]] + ((key >> (KEY_BITS * k)) & KEY_MASK)
    for q in range(len(sums)):
        sums[q] = view.sums[place, q]
    _add_rows(network.table, rows[: len(relative)], sums)
    return _output(network.out[START] if starts else view.out, network.bias[which], sums)


@kernel(fastmath={"reassoc"}, _nrt=False)
def _output(out: Single, bias: Single, sums: Small) -> float:
    """Return the score from the `sums` of rows; `out` and `bias` (units) of joining or starting."""
    total = np.float32(0.0)
    for q in range(len(sums)):
        hidden = np.float32(sums[q]) * np.float32(1.0 / SCALE) + bias[q]
        active = max(hidden, np.float32(SLOPE) * hidden)
        total += out[q] * active
    return float(total)


@uncounted
def choose(
    mentions: Mentions,
    network: Network,
    grown: Grown,
    cells: CellTable,
    view: View,
    known: Known,
    row: IntArray,
    similar: IntArray,
    b: int,
    j: int,
    choice: Choice,
) -> float:
    """Fill the choices of mention j in configuration b; return the logarithm of their sum.

    log P of a choice is its score less that; its probability is its share by the sum of shares. A
    score depends on the cell and on its key alone: `known` keeps it for all configurations of this
    step, as a list of entries for each cell. `scale` is the temperature,
    exp(a + b · log(number of choices)). `top` is the highest score, by which `_shares` guards
    e^score against overflow; far cells are in it by class, as all of a class have one score.
    """
    count, slots, row_of_cells = grown.counts[b], cells.slots, grown.cells[b]
    scores, near, keys = choice.scores, choice.near, choice.keys
    found, others = fill_near_cells(
        mentions, grown, cells, view.facts, row, similar, b, j, near, keys, choice.counts
    )
    heads, known_keys, known_scores, following = (
        known.heads,
        known.keys,
        known.scores,
        known.following,
    )
    scale = math.exp(network.temperature[0] + network.temperature[1] * math.log(count + 1))
    top = -np.inf
    for r in range(found + 1):
        key = keys[r]
        slot = slots[row_of_cells[near[r]]] + 1 if r < found else NEW_ROW
        entry = heads[slot]
        while entry >= 0 and known_keys[entry] != key:
            entry = following[entry]
        if entry < 0:
            entry = known.used[0]
            known.used[0] += 1
            known_keys[entry], following[entry] = key, heads[slot]
            heads[slot] = entry
            known_scores[entry] = _score(network, view, slot, key, choice)
        scores[r] = scale * known_scores[entry]
        bits = cells.bits[row_of_cells[near[r]]] if r < found else 0
        if bits & code.INCOMPATIBLE:
            scores[r] = -EXCLUSION
        elif bits & (code.DENIED | code.BESIDE):
            scores[r] -= DENIAL if bits & code.DENIED else BESIDES
        top = max(top, scores[r])
    group = CLASSES * KIND_GROUPS[mentions.attributes[j, code.KIND]]
    choice.found[0], choice.found[1] = found, others
    for k in range(CLASSES if found < count else 0):
        choice.far_scores[k] = scale * network.other[group + k]
        top = max(top, choice.far_scores[k])
    return _shares(grown, cells, b, top, choice)


@uncounted
def _shares(grown: Grown, cells: CellTable, b: int, top: float, choice: Choice) -> float:
    """Fill the shares; return the logarithm of the sum of e^score."""
    scores, shares, far, total = choice.scores, choice.shares, choice.far_shares, 0.0
    found, others, count = int(choice.found[0]), int(choice.found[1]), grown.counts[b]
    for r in range(found + 1):
        shares[r] = math.exp(scores[r] - top)
        total += shares[r]
    if found < count:
        for k in range(CLASSES):
            far[k] = math.exp(choice.far_scores[k] - top)
        total += far[LONG_AGO_CLASS] * (count - found - others)
        for r in range(found + 1, found + 1 + others):
            total += far[cells.classes[grown.cells[b, choice.near[r]]]]
    choice.found[2] = total
    return float(top + math.log(total))


@uncounted
def _score_at(grown: Grown, cells: CellTable, b: int, at: int, choice: Choice) -> float:
    """Return the score of the cell at a place, or of a new one."""
    if at < grown.counts[b]:
        which = cells.classes[grown.cells[b, at]]
        if which != NEAR:
            return float(choice.far_scores[which])
    r = 0
    while choice.near[r] != at:
        r += 1
    return float(choice.scores[r])


@uncounted
def _mean_score(grown: Grown, cells: CellTable, b: int, choice: Choice) -> float:
    """Return the mean of the scores."""
    found, others, mean = int(choice.found[0]), int(choice.found[1]), 0.0
    for r in range(found + 1):
        mean += choice.shares[r] * choice.scores[r]
    if found < grown.counts[b]:
        shares, scores = choice.far_shares, choice.far_scores
        ago = shares[LONG_AGO_CLASS] * scores[LONG_AGO_CLASS]
        mean += ago * (grown.counts[b] - found - others)
        for r in range(found + 1, found + 1 + others):
            which = cells.classes[grown.cells[b, choice.near[r]]]
            mean += shares[which] * scores[which]
    return float(mean / choice.found[2])


@uncounted
def _add_shares(
    grown: Grown,
    cells: CellTable,
    b: int,
    choice: Choice,
    means: FloatArray,
    squares: FloatArray,
) -> None:
    """Add the probabilities of cells, and their squares, as differences to a cell of long ago.

    `means` and `squares` (cells met + 1): what all earlier mentions have, as if their cell were
    long ago, is added to the last places.
    """
    found, others, total = int(choice.found[0]), int(choice.found[1]), choice.found[2]
    usual = choice.far_shares[LONG_AGO_CLASS] / total if found < grown.counts[b] else 0.0
    means[-1] += usual
    squares[-1] += usual * usual
    for r in range(found + 1 + others):
        if r != found:
            cell = grown.cells[b, choice.near[r]]
            slot = cells.slots[cell]
            share = (
                choice.shares[r] if r < found else choice.far_shares[cells.classes[cell]]
            ) / total
            means[slot] += share - usual
            squares[slot] += share * share - usual * usual


@uncounted
def _picked(grown: Grown, cells: CellTable, b: int, choice: Choice, uniform: float) -> int:
    """Return the place into whose share the uniform falls: new, near, far."""
    found, others, count = int(choice.found[0]), int(choice.found[1]), int(grown.counts[b])
    left = uniform * choice.found[2] - choice.shares[found]
    if left < 0.0 or count == 0:
        return count
    for r in range(found):
        left -= choice.shares[r]
        if left < 0.0:
            return int(choice.near[r])
    for r in range(found + 1, found + 1 + others):
        left -= choice.far_shares[cells.classes[grown.cells[b, choice.near[r]]]]
        if left < 0.0:
            return int(choice.near[r])
    last = int(count)
    for at in range(count if found + others < count else 0):
        if cells.classes[grown.cells[b, at]] == LONG_AGO_CLASS:
            left, last = left - choice.far_shares[LONG_AGO_CLASS], at
            if left < 0.0:
                break
    return last


@kernel(entry="Mentions, Network, i8[:,:]")
def log_probabilities(mentions: Mentions, network: Network, rows: IntArray) -> FloatArray:
    """Return log P of configurations, rows of labels in the order of decisions."""
    found, together = np.zeros(len(rows)), max(1, TOGETHER // rows.shape[1])
    for first in range(0, len(rows), together):
        last = min(first + together, len(rows))
        found[first:last] = _log_probabilities(mentions, network, rows[first:last])
    return found


@kernel()
def _log_probabilities(mentions: Mentions, network: Network, rows: IntArray) -> FloatArray:
    """Do so for configurations that grow side by side; `firsts`: the first member by label."""
    width, n, units = len(rows), rows.shape[1], network.table.shape[1]
    found, grown, firsts = np.zeros(width), growing(width, n), np.full((width, n), -1, np.int64)
    cells, used = no_cells(4 * n + 4), 1
    view, choice = new_view(4 * n, units), _no_choice(n, units)
    row, similar = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for j in range(n):
        fill_relations(mentions, j, row)
        alike = similar[: similar_mentions(mentions, j, similar)]
        count = list_cells(grown, 0, width, cells, 0)
        if count > len(view.facts):
            view = new_view(2 * count, units)
        fill_view(mentions, network, cells, used, count, row, j, view)
        known = _no_scores(count, width * (j + 1))
        cells = with_room(cells, used, width)
        for b in range(width):
            total = choose(mentions, network, grown, cells, view, known, row, alike, b, j, choice)
            at = place_of(grown, cells, b, firsts[b, rows[b, j]])
            if at == grown.counts[b]:
                firsts[b, rows[b, j]] = j
            found[b] += _score_at(grown, cells, b, at, choice) - total
            used = place(mentions, grown, cells, used, b, j, at)
    return found


@kernel(entry="Mentions, Network, f8[:,:], i8, f8[:,:], f8[:,:]")
def draw_and_search(
    mentions: Mentions,
    network: Network,
    uniforms: FloatArray,
    width: int,
    sums: FloatArray,
    squares: FloatArray,
) -> tuple[IntArray, FloatArray, IntArray, FloatArray, float]:
    """Draw one configuration for each row of uniforms, and search the best by a beam.

    Returns the draws with the entropies of their decisions in nats, then the rows of the beam,
    their log P from the highest down and the highest log P dropped. Adds to sums[later, earlier]
    the probability, at the decision, that the two share a cell, and its square to squares: that
    varies less than whether they do. Empty sums are left alone. Before step j every configuration
    of `grown` has the mentions before j: the draws are its rows 0:draws, the beam its rows old:old
    + kept, with log P in `logs`; rows from `new` on take the next beam, and the two change places.
    log P can only fall from step to step, so that `dropped` bounds every configuration that the
    beam lost.
    """
    draws, n, units = len(uniforms), uniforms.shape[1], network.table.shape[1]
    grown, entropies, logs = growing(draws + 2 * width, n), np.zeros(draws), np.zeros(width)
    cells, used = no_cells(4 * n + 4), 1
    view, choice = new_view(4 * n, units), _no_choice(n, units)
    row, similar = np.zeros(n, np.int64), np.zeros(n, np.int64)
    old, new, kept, dropped = draws, draws + width, min(1, width), -np.inf
    for j in range(n):
        fill_relations(mentions, j, row)
        alike = similar[: similar_mentions(mentions, j, similar)]
        count = list_cells(grown, old, old + kept, cells, list_cells(grown, 0, draws, cells, 0))
        if count > len(view.facts):
            view = new_view(2 * count, units)
        fill_view(mentions, network, cells, used, count, row, j, view)
        known = _no_scores(count, (draws + kept) * (j + 1))
        cells = with_room(cells, used, draws + width)
        means, variances = np.zeros(count + 1), np.zeros(count + 1)
        for b in range(draws):
            total = choose(mentions, network, grown, cells, view, known, row, alike, b, j, choice)
            entropies[b] += total - _mean_score(grown, cells, b, choice)
            if len(sums):
                _add_shares(grown, cells, b, choice, means, variances)
            at = _picked(grown, cells, b, choice, uniforms[b, j])
            used = place(mentions, grown, cells, used, b, j, at)
        if len(sums):
            _spread(cells, means, sums[j, :j])
            _spread(cells, variances, squares[j, :j])
        pool = np.full(kept * (j + 1), -np.inf)
        for b in range(old, old + kept):
            total = choose(mentions, network, grown, cells, view, known, row, alike, b, j, choice)
            first = (b - old) * (j + 1)
            _fill_pool(grown, cells, b, logs[b - old] - total, choice, pool[first : first + j + 1])
        if width:
            chosen, best_dropped = _strongest(pool, width)
            dropped, kept = max(dropped, best_dropped), len(chosen)
            for b in range(kept):
                copy_configuration(grown, old + chosen[b] // (j + 1), new + b, j)
                used = place(mentions, grown, cells, used, new + b, j, chosen[b] % (j + 1))
                logs[b] = pool[chosen[b]]
            old, new = new, old
    homes = grown.homes.astype(np.int64)
    return homes[:draws], entropies, homes[old : old + kept], logs[:kept], dropped


@uncounted
def _fill_pool(
    grown: Grown,
    cells: CellTable,
    b: int,
    log: float,
    choice: Choice,
    pool: FloatArray,
) -> None:
    """Fill `pool` (places): log P of configuration b with each choice for the next mention."""
    for at in range(grown.counts[b]):
        which = cells.classes[grown.cells[b, at]]
        if which != NEAR:
            pool[at] = log + choice.far_scores[which]
    for r in range(int(choice.found[0]) + 1):
        if choice.scores[r] > -EXCLUSION:
            pool[choice.near[r]] = log + choice.scores[r]


@uncounted
def _spread(cells: CellTable, values: FloatArray, row: FloatArray) -> None:
    """Add the `values` of cells to `row` of all their members, the last value to all mentions."""
    for i in range(len(row)):
        row[i] += values[-1]
    for slot in range(len(values) - 1):
        cell, value = cells.met[slot], values[slot]
        while value != 0.0 and cell != EMPTY:
            row[cells.columns[cell, LAST]] += value
            cell = cells.columns[cell, WITHOUT]


@kernel()
def _strongest(pool: FloatArray, width: int) -> tuple[IntArray, float]:
    """Return the places in `pool` of the highest values, from the highest on, and the next one."""
    chosen, kept, left = np.zeros(width, np.int64), 0, -np.inf
    for n in range(len(pool)):
        value = pool[n]
        if value == -np.inf:
            continue
        if kept == width:
            lowest = pool[chosen[width - 1]]
            left = max(left, min(value, lowest))
            if value <= lowest:
                continue
        else:
            kept += 1
        k = kept - 1
        while k > 0 and pool[chosen[k - 1]] < value:
            chosen[k] = chosen[k - 1]
            k -= 1
        chosen[k] = n
    return chosen[:kept], left
