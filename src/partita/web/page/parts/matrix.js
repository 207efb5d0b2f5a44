/** All pairs of a set as a table: above the diagonal as given, below it given everything else. */

import { button, el } from "../dom.js";
import { probability } from "../numbers.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Pair} Pair */
/** @typedef {(left: string, right: string) => void} Choose */

const STEPS = 10;
const CAPTION = "Above the diagonal each pair as given, below it given everything else";

/**
 * @param {ResultSet} set
 * @param {[string, string]|null} [chosen]
 * @param {Choose|null} [choose] without it there is nothing to choose
 */
export function matrix(set, chosen = null, choose = null) {
  const ids = set.templates.map((one) => one.id);
  const known = pairsOf(set);
  const head = el("tr", {}, el("td"), ...ids.map((id) => el("th", { scope: "col" }, id)));
  const cell = (/** @type {number} */ r, /** @type {number} */ c) => {
    const [left, right] = r < c ? [ids[r], ids[c]] : [ids[c], ids[r]];
    const now = chosen?.[0] === left && chosen?.[1] === right;
    return el("td", {}, shown(known(left, right), r < c, now, choose));
  };
  const rows = set.templates.map((one, r) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", title: one.text }, one.id),
      ...ids.map((_, c) => (r === c ? el("td", { class: "diagonal" }) : cell(r, c))),
    ),
  );
  const table = el("table", { class: "matrix" }, el("caption", {}, CAPTION));
  table.append(el("thead", {}, head), el("tbody", {}, ...rows));
  const given = { class: "matrix-box", tabindex: "0", role: "group", "aria-label": "Pairs" };
  return el("div", given, table);
}

/** The pairs by their templates; one that is not listed cannot be. @param {ResultSet} set */
function pairsOf(set) {
  const found = new Map(set.pairs.map((one) => [JSON.stringify([one.left, one.right]), one]));
  return (/** @type {string} */ left, /** @type {string} */ right) =>
    found.get(JSON.stringify([left, right])) ?? { left, right, probability: 0, marginal: 0 };
}

/**
 * @param {Pair} pair
 * @param {boolean} alone as given, or given everything else
 * @param {boolean} now
 * @param {Choose|null} choose
 */
function shown({ left, right, probability: given, marginal }, alone, now, choose) {
  const p = alone ? given : marginal;
  const which = alone ? "as given" : "given everything else";
  const words = `${left} = ${right} ${which}: ${probability(p)}`;
  const kind = { class: `pair heat-${Math.round(p * STEPS)}`, title: words };
  if (!choose) return el("span", kind, short(p));
  const told = { ...kind, "aria-pressed": String(now), "aria-label": words };
  return button(short(p), () => choose(left, right), told);
}

/** Two digits are enough in a table. @param {number} p */
function short(p) {
  if (p === 0 || p === 1) return String(p);
  return p < 0.005 ? ".00" : p > 0.995 ? ".99" : p.toFixed(2).slice(1);
}
