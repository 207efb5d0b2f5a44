/** All pairs of a set as a table: probabilities of the pairs alone, and given the whole set. */

import { truncate } from "../charts/svg.js";
import { button, el, table } from "../dom.js";
import { probability } from "../format.js";
import { isText } from "./cells.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Pair} Pair */
/** @typedef {(left: string, right: string) => void} ChoosePair */

const HOTTEST = 56; // per cent of the colour for probability 1
const MAX_TEMPLATES = 24; // a larger table shows those that matter for the chosen pair
const CAPTION = "Above the diagonal: each pair alone. Below the diagonal: given the whole set.";
const TEXT_CAPTION = "How probable it is that two mentions are the same."; // a joint model has no pairs alone
const MAX_EXPRESSION = 18; // characters

/**
 * @param {ResultSet} set
 * @param {[string, string]} chosen
 * @param {ChoosePair} choose
 */
export function pairTable(set, chosen, choose) {
  const pairOf = pairLookup(set);
  const templates = shownTemplates(set, chosen, pairOf);
  const ids = templates.map((template) => template.id);
  const rowName = (/** @type {any} */ { id, text = "" }) => (isText(set) ? `${id} ${truncate(text, MAX_EXPRESSION)}` : id);
  const cell = (/** @type {number} */ row, /** @type {number} */ column) => {
    const [left, right] = row < column ? [ids[row], ids[column]] : [ids[column], ids[row]];
    const current = chosen[0] === left && chosen[1] === right;
    return el("td", {}, pairCell(pairOf(left, right), row < column, current, choose));
  };
  const rows = templates.map((template, row) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", title: template.text }, rowName(template)),
      ...ids.map((_, column) =>
        row === column ? el("td", { class: "diagonal" }) : cell(row, column),
      ),
    ),
  );
  const caption = set.model === "joint" ? TEXT_CAPTION : CAPTION;
  const hidden = set.templates.length - ids.length;
  const part = hidden ? ` ${ids.length} of ${set.templates.length} mentions are shown.` : "";
  const attributes = { class: "matrix-box", tabindex: "0", role: "group", "aria-label": "Pairs" };
  return el("div", {}, el("div", attributes, table("matrix", [el("td"), ...ids], rows)), el("p", { class: "quiet" }, caption + part));
}

/**
 * Return all templates, or of a large set those that most probably corefer with the chosen pair.
 * @param {ResultSet} set
 * @param {[string, string]} chosen
 * @param {(left: string, right: string) => Pair} pairOf
 */
function shownTemplates(set, chosen, pairOf) {
  if (set.templates.length <= MAX_TEMPLATES) return set.templates;
  const order = set.templates.map((template) => template.id);
  const near = (/** @type {string} */ id) =>
    Math.max(
      ...chosen.map((other) => {
        if (other === id) return 2;
        const ends = order.indexOf(other) < order.indexOf(id) ? [other, id] : [id, other];
        return pairOf(ends[0], ends[1]).marginal;
      }),
    );
  const ranked = [...order].sort((a, b) => near(b) - near(a)).slice(0, MAX_TEMPLATES);
  return set.templates.filter((template) => ranked.includes(template.id));
}

/**
 * Return a lookup of pairs by their templates; an unlisted pair has probability 0.
 * @param {ResultSet} set
 */
function pairLookup(set) {
  const byNames = new Map(set.pairs.map((pair) => [JSON.stringify([pair.left, pair.right]), pair]));
  return (/** @type {string} */ left, /** @type {string} */ right) =>
    byNames.get(JSON.stringify([left, right])) ?? { left, right, probability: 0, marginal: 0 };
}

/**
 * @param {Pair} pair
 * @param {boolean} asGiven the pair alone, or given the whole set
 * @param {boolean} current
 * @param {ChoosePair} choose
 */
function pairCell({ left, right, probability: alone, marginal }, asGiven, current, choose) {
  const p = asGiven ? alone : marginal;
  const which = asGiven ? "alone" : "given the whole set";
  const label = `${left} = ${right} ${which}: ${probability(p)}`;
  const attributes = { class: "pair", title: label, "aria-pressed": String(current), "aria-label": label };
  const cell = button(shortNumber(p), () => choose(left, right), attributes);
  cell.style.setProperty("--heat", `${p * HOTTEST}%`);
  return cell;
}

/** A probability with two digits. @param {number} p */
function shortNumber(p) {
  if (p === 0 || p === 1) return String(p);
  return p < 0.005 ? ".00" : p > 0.995 ? ".99" : p.toFixed(2).slice(1);
}
