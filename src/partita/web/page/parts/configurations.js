/** The K best configurations of a set, to step through: a group of radio buttons with bars. */

import { el, fill, refill, unseen } from "../dom.js";
import { bits, count, figure, plural } from "../numbers.js";
import { bar, remainderText, strip } from "./bar.js";
import { cellRow, cellText } from "./cells.js";
import { changes, moved } from "./changes.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {Map<string, string>} Colour */
/** @typedef {(rank: number, colour: (rank: number) => Colour) => void} Show */
/** @typedef {{node: HTMLElement, show: Show}} Stepper */

const MOST = 100;

/**
 * @param {ResultSet} set
 * @param {(rank: number) => void} choose
 * @param {Node[]} [links]
 * @returns {Stepper}
 */
export function stepper(set, choose, links = []) {
  const rows = set.configurations.slice(0, MOST).map((_, rank) => row(set, rank, choose));
  const whole = el("div", { class: "strip-box" });
  const told = el("p", { class: "changes", "aria-live": "polite" });
  const list = el("div", { class: "configurations" }, ...rows.map((one) => one.node));
  const node = el("fieldset", { class: "set", "data-set": set.set }, legend(set), whole, list);
  fill(node, rest(set), told, method(set));
  if (links.length) fill(node, el("p", { class: "links" }, ...links));
  /** @type {Show} */
  const show = (rank, colour) => {
    refill(whole, strip(set, rank));
    rows.forEach((one, n) => one.show(n === rank, colour(n)));
    refill(told, difference(set, rank));
  };
  return { node, show };
}

/** @param {ResultSet} set */
function legend(set) {
  const templates = plural(set.templates.length, "template");
  const said = ` ${templates}, ${count(set.count ?? "?")} configurations, ${set.model}`;
  const name = el("span", { class: "set-name" }, set.set);
  return el("legend", {}, name, el("span", { class: "quiet" }, said));
}

/**
 * One configuration: its cells, its probability and a bar.
 * @param {ResultSet} set
 * @param {number} rank
 * @param {(rank: number) => void} choose
 */
function row(set, rank, choose) {
  const one = set.configurations[rank];
  const given = { type: "radio", name: `set-${set.set}`, value: rank };
  const input = el("input", { ...given, on: { change: () => choose(rank) } });
  const cells = el("span", { class: "row-cells", "aria-hidden": "true" });
  const number = el("span", { class: "number" }, figure(one));
  const mass = el("span", { class: "mass" }, number, bar(one.probability));
  const spoken = unseen(`: ${cellText(one.cells)}, probability `);
  const node = el("label", { class: "configuration" }, input);
  fill(node, el("span", { class: "rank" }, rank + 1), cells, spoken, mass);
  const changed = moved(set.configurations[0].cells, one.cells);
  const show = (/** @type {boolean} */ now, /** @type {Colour} */ colour) => {
    /** @type {HTMLInputElement} */ (input).checked = now;
    node.classList.toggle("now", now);
    refill(cells, cellRow(one.cells, colour, changed));
  };
  return { node, show };
}

/** The mass of what is not listed, as a row of its own. @param {ResultSet} set */
function rest(set) {
  const hidden = set.configurations.length - MOST;
  const more = hidden > 0 ? `${count(hidden)} more are listed in the export; ` : "";
  const none = String(set.remainder.count) === "0";
  const made = el("p", { class: "remainder" }, el("span", {}, more + remainderText(set)));
  return none ? made : fill(made, bar(set.remainder.probability, "hatched"));
}

/** @param {ResultSet} set */
function method(set) {
  const conflict = set.conflict === null ? "" : `, conflict κ ${set.conflict.toFixed(4)}`;
  const said = `entropy ${bits(set.entropy_bits)}${conflict}; ${set.reason}`;
  return el("p", { class: "quiet method" }, said);
}

/** @param {ResultSet} set @param {number} rank */
function difference(set, rank) {
  if (rank === 0) return "The most probable configuration.";
  const said = changes(set.configurations[0].cells, set.configurations[rank].cells);
  return `Number ${rank + 1} against the most probable: ${said.join("; ")}.`;
}
