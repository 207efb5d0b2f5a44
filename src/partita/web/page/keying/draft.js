/** The draft of a key: cells, alternatives with weights, and the undo history. */

/** @typedef {string[][]} Cells */
/** @typedef {{cells: Cells, weight: number}} Alternative */
/** @typedef {{cells: Cells, alternatives: Alternative[]}} Draft */
/** @typedef {{current: Draft, past: Draft[], future: Draft[]}} History */

const DEFAULT_WEIGHT = 0.3;
const MIN_WEIGHT = 0.01;

/**
 * Return the cells and their templates in text order, without empty cells.
 * @param {Cells} cells
 * @param {string[]} ids
 */
export function inTextOrder(cells, ids) {
  const position = (/** @type {string} */ id) => ids.indexOf(id);
  return cells
    .filter((cell) => cell.length)
    .map((cell) => [...cell].sort((a, b) => position(a) - position(b)))
    .sort((a, b) => position(a[0]) - position(b[0]));
}

/** @param {Cells} cells @param {string} id */
const withoutTemplate = (cells, id) =>
  cells.map((cell) => cell.filter((other) => other !== id)).filter((cell) => cell.length);

/**
 * Move a template to the cell of another; null moves it to a cell of its own.
 * @param {Cells} cells
 * @param {string} id
 * @param {string|null} to
 * @param {string[]} ids
 */
export function moveTemplate(cells, id, to, ids) {
  if (id === to) return cells;
  const others = withoutTemplate(cells, id);
  const target = others.find((cell) => to !== null && cell.includes(to));
  const moved = target
    ? others.map((cell) => (cell === target ? [...cell, id] : cell))
    : [...others, [id]];
  return inTextOrder(moved, ids);
}

/**
 * Move a template to the next or previous cell; after the last comes a cell of its own.
 * @param {Cells} cells
 * @param {string} id
 * @param {number} step
 * @param {string[]} ids
 */
export function moveByStep(cells, id, step, ids) {
  const others = inTextOrder(withoutTemplate(cells, id), ids);
  const mate = (cells.find((cell) => cell.includes(id)) ?? []).find((other) => other !== id);
  const current = mate ? others.findIndex((cell) => cell.includes(mate)) : others.length;
  const target = (current + step + others.length + 1) % (others.length + 1);
  return moveTemplate(cells, id, target === others.length ? null : others[target][0], ids);
}

/**
 * Split a cell into single templates.
 * @param {Cells} cells
 * @param {string} id
 * @param {string[]} ids
 */
export function splitCell(cells, id, ids) {
  return inTextOrder(
    cells.flatMap((cell) => (cell.includes(id) ? cell.map((template) => [template]) : [cell])),
    ids,
  );
}

/**
 * Merge the cells of two templates.
 * @param {Cells} cells
 * @param {string} a
 * @param {string} b
 * @param {string[]} ids
 */
export function mergeCells(cells, a, b, ids) {
  const both = cells.filter((cell) => cell.includes(a) || cell.includes(b));
  return inTextOrder([...cells.filter((cell) => !both.includes(cell)), both.flat()], ids);
}

/** The weight that remains for the key itself. @param {Alternative[]} alternatives */
export const keyWeight = (alternatives) =>
  1 - alternatives.reduce((sum, alternative) => sum + alternative.weight, 0);

/**
 * Add an alternative with a share of the remaining weight.
 * @param {Draft} draft
 * @param {Cells} cells
 * @returns {Draft}
 */
export function withAlternative(draft, cells) {
  const weight =
    Math.round(Math.min(DEFAULT_WEIGHT, keyWeight(draft.alternatives) / 2) * 100) / 100;
  return { ...draft, alternatives: [...draft.alternatives, { cells, weight }] };
}

/**
 * Set the weight of an alternative, leaving some for the key.
 * @param {Draft} draft
 * @param {number} n
 * @param {number} weight
 * @returns {Draft}
 */
export function withWeight(draft, n, weight) {
  const available = keyWeight(draft.alternatives) + draft.alternatives[n].weight - MIN_WEIGHT;
  const allowed = Math.max(
    MIN_WEIGHT,
    Math.min(available, Number.isFinite(weight) ? weight : MIN_WEIGHT),
  );
  const withCells = { ...draft.alternatives[n], weight: Math.round(allowed * 100) / 100 };
  return { ...draft, alternatives: draft.alternatives.with(n, withCells) };
}

/** @param {Draft} draft @param {number} n @returns {Draft} */
export const withoutAlternative = (draft, n) => ({
  ...draft,
  alternatives: draft.alternatives.toSpliced(n, 1),
});

/**
 * Set the cells of the key or of one of its alternatives.
 * @param {Draft} draft
 * @param {number} n -1 is the key
 * @param {Cells} cells
 * @returns {Draft}
 */
export function withCells(draft, n, cells) {
  if (n < 0) return { ...draft, cells };
  return {
    ...draft,
    alternatives: draft.alternatives.with(n, { ...draft.alternatives[n], cells }),
  };
}

/** @param {Draft} current @returns {History} */
export const newHistory = (current) => ({ current, past: [], future: [] });

/** @param {History} history @param {Draft} current @returns {History} */
export const withStep = (history, current) => ({
  current,
  past: [...history.past, history.current],
  future: [],
});

/** @param {History} history @returns {History} */
export function undo({ current, past, future }) {
  if (!past.length) return { current, past, future };
  return { current: past[past.length - 1], past: past.slice(0, -1), future: [...future, current] };
}

/** @param {History} history @returns {History} */
export function redo({ current, past, future }) {
  if (!future.length) return { current, past, future };
  return {
    current: future[future.length - 1],
    past: [...past, current],
    future: future.slice(0, -1),
  };
}
