/** Bars beside numbers: the number is what is read out, the bar is what is seen. */

import { el } from "../dom.js";
import { count, probability } from "../numbers.js";
import { shape, drawing } from "../charts/svg.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */

const WIDE = 1000;
const HIGH = 14;

/** A share from 0 to 1 as a bar. @param {number} share @param {string} [kind] */
export function bar(share, kind = "") {
  const filled = el("span", { class: "bar-fill" });
  filled.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { class: `bar ${kind}`, "aria-hidden": "true" }, filled);
}

/**
 * The whole distribution as one strip: a piece for each listed configuration, then the remainder.
 * @param {ResultSet} set @param {number} rank the configuration that is shown
 */
export function strip(set, rank) {
  const label = `${set.configurations.length} configurations shown; ${remainderText(set)}`;
  const made = drawing(WIDE, HIGH, label, "strip");
  made.setAttribute("preserveAspectRatio", "none");
  let x = 0;
  set.configurations.forEach((one, n) => {
    const kind = n === rank ? "strip-piece now" : "strip-piece";
    made.append(piece(x, one.probability, kind, `${n + 1}: ${probability(one.probability)}`));
    x += one.probability * WIDE;
  });
  made.append(piece(x, set.remainder.probability, "strip-rest", remainderText(set)));
  return made;
}

/** @param {number} x @param {number} share @param {string} kind @param {string} title */
function piece(x, share, kind, title) {
  const width = Math.max(0, share * WIDE - 1.5);
  return shape("rect", { x, y: 0, width, height: HIGH, class: kind }, title);
}

/** @param {ResultSet} set */
export function remainderText(set) {
  const { count: left, probability: p } = set.remainder;
  if (String(left) === "0") return "nothing remains";
  const many = String(left) === "1" ? "configuration" : "configurations";
  return `${count(left)} more ${many}, ${probability(p)} in all`;
}
