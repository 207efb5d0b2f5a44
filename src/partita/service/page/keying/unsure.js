/** For whoever is unsure: other possibilities, each with a weight; the key has the rest. */

import { button, el, labelled, refill } from "../dom.js";
import { shownCells } from "../parts/cells.js";
import { left } from "./draft.js";

/** @typedef {import("../types.js").Alternative} Alternative */
/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {(n: number) => void} Act */
/** @typedef {(n: number, weight: number) => void} Weigh */
/** @typedef {{edit: Act, drop: Act, add: () => void, weigh: Weigh}} Acts */

const LEAST = 0.04; // of weight that is left to share

/**
 * @param {HTMLElement} node
 * @param {Draft} draft
 * @param {number} editing which is on the board; -1 is the key
 * @param {Acts} acts
 * @param {(cells: Cells) => Map<string, string>} paint
 */
export function drawUnsure(node, draft, editing, acts, paint) {
  const { cells, alternatives } = draft;
  const line = (/** @type {number} */ n, /** @type {Cells} */ of, /** @type {Node[]} */ tools) =>
    row(n, n === editing, shownCells(of, paint(of)), tools, acts);
  const others = alternatives.map((one, n) => line(n, one.cells, weight(one, n, acts)));
  const rows = others.length ? [line(-1, cells, share(alternatives)), ...others] : [];
  const full = left(alternatives) < LEAST;
  refill(node, ...rows, button("Unsure: add an alternative", acts.add, { disabled: full }));
}

/** @param {Alternative[]} alternatives */
const share = (alternatives) => [
  el("span", { class: "number" }, left(alternatives).toFixed(2)),
  el("span", { class: "quiet" }, "the rest"),
];

/**
 * @param {number} n
 * @param {boolean} now
 * @param {Node} cells
 * @param {Node[]} tools
 * @param {Acts} acts
 */
function row(n, now, cells, tools, acts) {
  const name = n < 0 ? "The key" : `Alternative ${n + 1}`;
  const given = { type: "radio", name: "editing", checked: now };
  const input = el("input", { ...given, on: { change: () => acts.edit(n) } });
  const label = el("label", {}, input, ` ${name} `);
  const weights = el("span", { class: "weights" }, ...tools);
  return el("div", { class: now ? "unsure-row now" : "unsure-row" }, label, cells, weights);
}

/** @param {Alternative} one @param {number} n @param {Acts} acts */
function weight(one, n, acts) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "number", min: "0.01", max: "0.99", step: "0.01" })
  );
  field.value = one.weight.toFixed(2);
  field.addEventListener("change", () => acts.weigh(n, Number(field.value)));
  const name = { "aria-label": `Remove alternative ${n + 1}` };
  return [
    labelled(`Weight of alternative ${n + 1}`, field),
    button("Remove", () => acts.drop(n), name),
  ];
}
