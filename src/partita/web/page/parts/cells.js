/** A configuration as groups of chips, each group in the colour of its cell. */

import { el } from "../dom.js";

/**
 * @param {string[][]} cells @param {Map<string, string>} colour @param {string[]} [changed]
 * @returns {HTMLElement}
 */
export function cellRow(cells, colour, changed = []) {
  const groups = cells.map((cell) => {
    const chips = cell.map((id) =>
      el("span", { class: changed.includes(id) ? "chip moved" : "chip" }, id),
    );
    return el("span", { class: `cell ${colour.get(cell[0]) ?? ""}` }, ...chips);
  });
  return el("span", { class: "cells" }, ...groups);
}

/** For those who listen: (T1 T2) (T4). @param {string[][]} cells */
export const cellText = (cells) => cells.map((cell) => `(${cell.join(" ")})`).join(" ");

/**
 * A configuration that is also read out.
 * @param {string[][]} cells
 * @param {Map<string, string>} colour
 */
export const shownCells = (cells, colour) =>
  el("span", { role: "img", "aria-label": cellText(cells) }, cellRow(cells, colour));
