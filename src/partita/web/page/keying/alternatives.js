/** Alternatives to a key, each with a weight; the key has the remaining weight. */

import { button, el, labelled, replaceContent } from "../dom.js";
import { labelledCells } from "../parts/cells.js";
import { keyWeight } from "./draft.js";

/** @typedef {import("../types.js").Alternative} Alternative */
/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {(n: number) => void} Action */
/** @typedef {(n: number, weight: number) => void} SetWeight */
/** @typedef {{edit: Action, drop: Action, add: () => void, weigh: SetWeight}} Actions */

const MIN_SHARED_WEIGHT = 0.04; // of the remaining weight

/**
 * @param {HTMLElement} node
 * @param {Draft} draft
 * @param {number} editing index of the alternative on the board; -1 is the key
 * @param {Actions} actions
 * @param {(cells: Cells) => Map<string, string>} colourCells
 */
export function drawAlternatives(node, draft, editing, actions, colourCells) {
  const { cells, alternatives } = draft;
  const state = JSON.stringify([
    editing,
    cells,
    ...alternatives.map((alternative) => alternative.cells),
  ]);
  if (node.dataset.shape !== state) {
    node.dataset.shape = state;
    const rowOf = (
      /** @type {number} */ n,
      /** @type {Cells} */ shownCells,
      /** @type {Node[]} */ tools,
    ) =>
      alternativeRow(
        n,
        n === editing,
        labelledCells(shownCells, colourCells(shownCells)),
        tools,
        actions,
      );
    const alternativeRows = alternatives.map((alternative, n) =>
      rowOf(n, alternative.cells, weightControls(n, actions)),
    );
    const rows = alternativeRows.length
      ? [rowOf(-1, cells, keyWeightNodes()), ...alternativeRows]
      : [];
    replaceContent(node, ...rows, button("Add an alternative", actions.add));
  }
  updateWeights(node, alternatives);
}

/**
 * Update weights in the existing fields, so that the focus stays.
 * @param {HTMLElement} node
 * @param {Alternative[]} alternatives
 */
function updateWeights(node, alternatives) {
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (
    node.querySelectorAll("[type=number]")
  );
  fields.forEach((field, n) => (field.value = alternatives[n].weight.toFixed(2)));
  const rest = node.querySelector(".number");
  if (rest) rest.textContent = keyWeight(alternatives).toFixed(2);
  const add = /** @type {HTMLButtonElement} */ (node.lastElementChild);
  add.disabled = keyWeight(alternatives) < MIN_SHARED_WEIGHT;
}

/** The remaining weight of the key. */
const keyWeightNodes = () => [
  el("span", { class: "number" }),
  el("span", { class: "quiet" }, "remaining weight"),
];

/**
 * @param {number} n
 * @param {boolean} current
 * @param {Node} cells
 * @param {Node[]} tools
 * @param {Actions} actions
 */
function alternativeRow(n, current, cells, tools, actions) {
  const name = n < 0 ? "The label" : `Alternative ${n + 1}`;
  const attributes = { type: "radio", name: "editing", checked: current };
  const input = el("input", { ...attributes, on: { change: () => actions.edit(n) } });
  const label = el("label", {}, input, ` ${name} `);
  const weights = el("span", { class: "weights" }, ...tools);
  return el(
    "div",
    { class: current ? "alternative-row current" : "alternative-row" },
    label,
    cells,
    weights,
  );
}

/** @param {number} n @param {Actions} actions */
function weightControls(n, actions) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "number", min: "0.01", max: "0.99", step: "0.01" })
  );
  field.addEventListener("change", () => actions.weigh(n, Number(field.value)));
  const attributes = { "aria-label": `Remove alternative ${n + 1}` };
  return [
    labelled(`Weight of alternative ${n + 1}`, field),
    button("Remove", () => actions.drop(n), attributes),
  ];
}
