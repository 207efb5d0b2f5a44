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
  const shape = JSON.stringify([editing, cells, ...alternatives.map((one) => one.cells)]);
  if (node.dataset.shape !== shape) {
    node.dataset.shape = shape;
    const line = (/** @type {number} */ n, /** @type {Cells} */ of, /** @type {Node[]} */ tools) =>
      row(n, n === editing, shownCells(of, paint(of)), tools, acts);
    const others = alternatives.map((one, n) => line(n, one.cells, weight(n, acts)));
    const rows = others.length ? [line(-1, cells, share()), ...others] : [];
    refill(node, ...rows, button("Unsure: add an alternative", acts.add));
  }
  tellWeights(node, alternatives);
}

/**
 * Weights change in the fields that are there: the focus stays in them.
 * @param {HTMLElement} node
 * @param {Alternative[]} alternatives
 */
function tellWeights(node, alternatives) {
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (
    node.querySelectorAll("[type=number]")
  );
  fields.forEach((field, n) => (field.value = alternatives[n].weight.toFixed(2)));
  const rest = node.querySelector(".number");
  if (rest) rest.textContent = left(alternatives).toFixed(2);
  const add = /** @type {HTMLButtonElement} */ (node.lastElementChild);
  add.disabled = left(alternatives) < LEAST;
}

/** What is left for the key. */
const share = () => [el("span", { class: "number" }), el("span", { class: "quiet" }, "the rest")];

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

/** @param {number} n @param {Acts} acts */
function weight(n, acts) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "number", min: "0.01", max: "0.99", step: "0.01" })
  );
  field.addEventListener("change", () => acts.weigh(n, Number(field.value)));
  const name = { "aria-label": `Remove alternative ${n + 1}` };
  return [
    labelled(`Weight of alternative ${n + 1}`, field),
    button("Remove", () => acts.drop(n), name),
  ];
}
