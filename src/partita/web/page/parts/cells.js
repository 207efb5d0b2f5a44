/** Cells of configurations: their colours, their chips, and the differences between two
 * configurations. A cell has the colour of its first template, so that colours stay stable.
 * A set of the joint model, or with many templates, is a text: there only templates that are together have a colour. */

import { el } from "../dom.js";

const COLOUR_COUNT = 12;
const MAX_TABLE = 14; // templates of a set whose cells are all shown

/** @typedef {string[][]} Cells */

/** Whether a set is shown as a text. @param {{templates: any[], model?: string}} set */
export const isText = ({ templates, model }) => model === "joint" || templates.length > MAX_TABLE;

/** The cells to show: of a text those with several templates. @param {any} set @param {Cells} cells */
export const cellsShown = (set, cells) =>
  isText(set) ? cells.filter((cell) => cell.length > 1) : cells;

/**
 * Return the colour class of every template, for the cells shown of each set.
 * @param {{templates: {id: string}[], answer?: Cells}[]} sets
 * @param {Cells[]} shown
 * @returns {Map<string, string>}
 */
export function cellColours(sets, shown) {
  const order = sets.flatMap(colourOrder);
  const position = new Map(order.map((id, n) => [id, n]));
  const large = new Set(sets.filter(isText).flatMap((set) => set.templates.map(({ id }) => id)));
  const colourOf = new Map();
  for (const cell of shown.flat()) {
    if (cell.length < 2 && large.has(cell[0])) continue;
    const first = Math.min(...cell.map((id) => position.get(id) ?? order.length));
    for (const id of cell) colourOf.set(id, `cell-${first % COLOUR_COUNT}`);
  }
  return colourOf;
}

/**
 * The templates that give colours: all, or of a text the first of each entity.
 * @param {{templates: {id: string}[], answer?: Cells}} set
 */
function colourOrder(set) {
  if (!set.answer || !isText(set)) return set.templates.map(({ id }) => id);
  const firsts = new Set(cellsShown(set, set.answer).map(([first]) => first));
  return set.templates.map(({ id }) => id).filter((id) => firsts.has(id));
}

/**
 * Add to each set of a message its entities as cells, in text order, and which configuration that is.
 * @param {import("../types.js").Message} message
 */
export function withAnswers(message) {
  message.home = new Map(message.entities.flatMap((one) => one.templates.map((id) => [id, one])));
  for (const set of message.sets) {
    const cells = Map.groupBy(set.templates, ({ id }) => message.home.get(id) ?? id);
    for (const one of cells.keys()) if (typeof one !== "string") one.set ??= set.set;
    set.answer = [...cells.values()].map((cell) => cell.map(({ id }) => id));
    set.answerRank = set.configurations.findIndex((one) => sameCells(one.cells, set.answer));
  }
  addConfidence(message);
  return message;
}

/** Give entities the mean probability of the pairs of their mentions. @param {import("../types.js").Message} message */
function addConfidence({ sets, home, entities }) {
  const sums = new Map(entities.map((one) => [one, 0]));
  for (const { left, right, marginal } of sets.flatMap(({ pairs }) => pairs)) {
    const entity = home.get(left);
    if (entity && entity === home.get(right)) sums.set(entity, (sums.get(entity) ?? 0) + marginal);
  }
  for (const [entity, sum] of sums) {
    const n = entity.templates.length;
    if (n > 1) entity.confidence = Math.min(1, sum / ((n * (n - 1)) / 2));
  }
}

/**
 * Set the colour of an element to that of a cell.
 * @param {Element} element
 * @param {string} [colour]
 */
export function setCellColour(element, colour) {
  for (const name of [...element.classList])
    if (/^cell-\d+$/.test(name)) element.classList.remove(name);
  if (colour) element.classList.add(colour);
}

/**
 * @param {string[][]} cells @param {Map<string, string>} colourOf @param {string[]} [moved]
 * @returns {HTMLElement}
 */
export function cellRow(cells, colourOf, moved = []) {
  const groups = cells.map((cell) => {
    const chips = cell.map((id) =>
      el("span", { class: moved.includes(id) ? "chip moved" : "chip" }, id),
    );
    return el("span", { class: `cell ${colourOf.get(cell[0]) ?? ""}` }, ...chips);
  });
  return el("span", { class: "cells" }, ...groups);
}

/** For screen readers: (T1 T2) (T4). @param {string[][]} cells */
export const cellText = (cells) => cells.map((cell) => `(${cell.join(" ")})`).join(" ");

/**
 * A configuration with a label for screen readers.
 * @param {string[][]} cells
 * @param {Map<string, string>} colourOf
 */
export const labelledCells = (cells, colourOf) =>
  el("span", { role: "img", "aria-label": cellText(cells) }, cellRow(cells, colourOf));

/** @param {string[]} a @param {string[]} b */
const sharedCount = (a, b) => a.filter((id) => b.includes(id)).length;

/**
 * Match each cell of one configuration with the most similar cell of the other, each used once.
 * @param {Cells} before @param {Cells} after @returns {Map<string[], string[]>}
 */
function matchCells(before, after) {
  const candidates = before.flatMap((a) => after.map((b) => ({ a, b, size: sharedCount(a, b) })));
  const partner = new Map();
  const taken = new Set();
  for (const { a, b, size } of candidates.sort((x, y) => y.size - x.size)) {
    if (!size || partner.has(a) || taken.has(b)) continue;
    partner.set(a, b);
    taken.add(b);
  }
  return partner;
}

/**
 * Return the templates that are in another cell than before.
 * @param {Cells} before @param {Cells} after @returns {string[]}
 */
export function movedTemplates(before, after) {
  const partner = matchCells(before, after);
  return before.flatMap((cell) => cell.filter((id) => !(partner.get(cell) ?? []).includes(id)));
}

/** @param {Cells} cells @param {string} id */
const cellMates = (cells, id) =>
  (cells.find((cell) => cell.includes(id)) ?? []).filter((other) => other !== id);

/** @param {string[]} ids */
function listText(ids) {
  return ids.length < 2
    ? ids.join("")
    : `${ids.slice(0, -1).join(", ")} and ${ids[ids.length - 1]}`;
}

/**
 * Describe the changes: "T7 leaves T1 and T2, joins T4".
 * @param {Cells} before @param {Cells} after @returns {string[]}
 */
export function changeTexts(before, after) {
  return movedTemplates(before, after).map((id) => {
    const [oldMates, newMates] = [cellMates(before, id), cellMates(after, id)];
    const leaves = oldMates.filter((other) => !newMates.includes(other));
    const joins = newMates.filter((other) => !oldMates.includes(other));
    const parts = [
      leaves.length && `leaves ${listText(leaves)}`,
      joins.length && `joins ${listText(joins)}`,
    ];
    return `${id} ${parts.filter(Boolean).join(", ")}${newMates.length ? "" : " and stands alone"}`;
  });
}

/** Whether two configurations are the same. @param {Cells} a @param {Cells} b */
export function sameCells(a, b) {
  const normalise = (/** @type {Cells} */ cells) =>
    JSON.stringify(cells.map((cell) => [...cell].sort()).sort((x, y) => (x[0] < y[0] ? -1 : 1)));
  return normalise(a) === normalise(b);
}
