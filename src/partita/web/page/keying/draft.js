/** A key as it is being written: cells, alternatives with weights, and what can be undone. */

/** @typedef {string[][]} Cells */
/** @typedef {{cells: Cells, weight: number}} Alternative */
/** @typedef {{cells: Cells, alternatives: Alternative[]}} Draft */
/** @typedef {{now: Draft, done: Draft[], undone: Draft[]}} History */

const SHARE = 0.3;
const LEAST = 0.01;

/**
 * Cells and their templates in text order, empty ones left out.
 * @param {Cells} cells
 * @param {string[]} ids
 */
export function inOrder(cells, ids) {
  const place = (/** @type {string} */ id) => ids.indexOf(id);
  return cells
    .filter((cell) => cell.length)
    .map((cell) => [...cell].sort((a, b) => place(a) - place(b)))
    .sort((a, b) => place(a[0]) - place(b[0]));
}

/** @param {Cells} cells @param {string} id */
const without = (cells, id) =>
  cells.map((cell) => cell.filter((one) => one !== id)).filter((cell) => cell.length);

/**
 * Put a template to another one's cell; to nobody's means alone.
 * @param {Cells} cells
 * @param {string} id
 * @param {string|null} to
 * @param {string[]} ids
 */
export function move(cells, id, to, ids) {
  if (id === to) return cells;
  const others = without(cells, id);
  const target = others.find((cell) => to !== null && cell.includes(to));
  const made = target
    ? others.map((cell) => (cell === target ? [...cell, id] : cell))
    : [...others, [id]];
  return inOrder(made, ids);
}

/**
 * To the next cell, or the one before; after the last one comes a cell of its own.
 * @param {Cells} cells
 * @param {string} id
 * @param {number} step
 * @param {string[]} ids
 */
export function moveBy(cells, id, step, ids) {
  const others = inOrder(without(cells, id), ids);
  const mate = (cells.find((cell) => cell.includes(id)) ?? []).find((one) => one !== id);
  const at = mate ? others.findIndex((cell) => cell.includes(mate)) : others.length;
  const to = (at + step + others.length + 1) % (others.length + 1);
  return move(cells, id, to === others.length ? null : others[to][0], ids);
}

/** Every template of a cell alone. @param {Cells} cells @param {string} id @param {string[]} ids */
export function split(cells, id, ids) {
  return inOrder(
    cells.flatMap((cell) => (cell.includes(id) ? cell.map((one) => [one]) : [cell])),
    ids,
  );
}

/**
 * The cells of two templates as one.
 * @param {Cells} cells
 * @param {string} a
 * @param {string} b
 * @param {string[]} ids
 */
export function merge(cells, a, b, ids) {
  const both = cells.filter((cell) => cell.includes(a) || cell.includes(b));
  return inOrder([...cells.filter((cell) => !both.includes(cell)), both.flat()], ids);
}

/** What is left for the key itself. @param {Alternative[]} alternatives */
export const left = (alternatives) => 1 - alternatives.reduce((sum, one) => sum + one.weight, 0);

/**
 * Another possibility, with a share of what is left.
 * @param {Draft} draft
 * @param {Cells} cells
 * @returns {Draft}
 */
export function withAlternative(draft, cells) {
  const weight = Math.round(Math.min(SHARE, left(draft.alternatives) / 2) * 100) / 100;
  return { ...draft, alternatives: [...draft.alternatives, { cells, weight }] };
}

/**
 * A weight that leaves something for the key.
 * @param {Draft} draft
 * @param {number} n
 * @param {number} weight
 * @returns {Draft}
 */
export function weighed(draft, n, weight) {
  const room = left(draft.alternatives) + draft.alternatives[n].weight - LEAST;
  const fitting = Math.max(LEAST, Math.min(room, Number.isFinite(weight) ? weight : LEAST));
  const changed = { ...draft.alternatives[n], weight: Math.round(fitting * 100) / 100 };
  return { ...draft, alternatives: draft.alternatives.with(n, changed) };
}

/** @param {Draft} draft @param {number} n @returns {Draft} */
export const dropped = (draft, n) => ({
  ...draft,
  alternatives: draft.alternatives.toSpliced(n, 1),
});

/**
 * Change the key, or one of its alternatives.
 * @param {Draft} draft
 * @param {number} n -1 is the key
 * @param {Cells} cells
 * @returns {Draft}
 */
export function changed(draft, n, cells) {
  if (n < 0) return { ...draft, cells };
  return {
    ...draft,
    alternatives: draft.alternatives.with(n, { ...draft.alternatives[n], cells }),
  };
}

/** @param {Draft} now @returns {History} */
export const begun = (now) => ({ now, done: [], undone: [] });

/** @param {History} history @param {Draft} now @returns {History} */
export const went = (history, now) => ({ now, done: [...history.done, history.now], undone: [] });

/** @param {History} history @returns {History} */
export function undo({ now, done, undone }) {
  if (!done.length) return { now, done, undone };
  return { now: done[done.length - 1], done: done.slice(0, -1), undone: [...undone, now] };
}

/** @param {History} history @returns {History} */
export function redo({ now, done, undone }) {
  if (!undone.length) return { now, done, undone };
  return { now: undone[undone.length - 1], done: [...done, now], undone: undone.slice(0, -1) };
}
