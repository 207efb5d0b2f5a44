/** A waterfall: each step pushes what was so far, up or down, and the last row is where it ends. */

import { cut, drawing, scale, shape, ticks, words } from "./svg.js";

const ROW = 26;
const TOP = 26;
const LETTER = 6.9;

/**
 * @typedef {object} Step
 * @property {string} label
 * @property {number} before
 * @property {number} after
 * @property {string} told the number at the bar
 * @property {string} [title] more words, for whoever points at it
 * @property {boolean} [total] a row that begins at nothing
 */

/**
 * @param {Step[]} steps @param {number} width @param {string} label
 * @param {{low?: number, high?: number, format?: (value: number) => string}} [given]
 */
export function waterfall(steps, width, label, given = {}) {
  const height = TOP + steps.length * ROW + 6;
  const made = drawing(width, height, label, "waterfall");
  const room = Math.min(280, Math.round(width * 0.44));
  const ends = steps.flatMap((one) => [one.before, one.after, 0]);
  const low = given.low ?? Math.min(...ends);
  const high = given.high ?? Math.max(...ends);
  const x = scale([low, high], [room + 44, width - 52]);
  made.append(...axis(low, high, x, height, width, given.format ?? String));
  steps.forEach((one, n) => made.append(...row(one, n, x, room, steps[n + 1])));
  return made;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {(v: number) => number} x
 * @param {number} height
 * @param {number} width
 * @param {(v: number) => string} format
 */
function axis(low, high, x, height, width, format) {
  return ticks(low, high, width < 500 ? 3 : 6).flatMap((value) => [
    shape("line", {
      x1: x(value),
      x2: x(value),
      y1: TOP - 6,
      y2: height,
      class: value ? "grid" : "grid zero",
    }),
    words(
      "text",
      { x: x(value), y: TOP - 12, class: "axis", "text-anchor": "middle" },
      format(value),
    ),
  ]);
}

/**
 * @param {Step} one
 * @param {number} n
 * @param {(v: number) => number} x
 * @param {number} room
 * @param {Step} [then]
 */
function row(one, n, x, room, then) {
  const y = TOP + n * ROW;
  const [left, right] = [one.before, one.after].map(x).sort((a, b) => a - b);
  const kind = one.total ? "total" : one.after < one.before ? "down" : "up";
  const name = cut(one.label, Math.floor(room / LETTER));
  const outside =
    one.after < one.before
      ? { x: left - 5, "text-anchor": "end" }
      : { x: right + 5, "text-anchor": "start" };
  const title = [one.label, one.told, one.title].filter(Boolean).join("\n");
  const made = [
    words("text", { x: 0, y: y + 17, class: one.total ? "label strong" : "label" }, name),
    shape("rect", {
      x: left,
      y: y + 4,
      width: Math.max(1.5, right - left),
      height: ROW - 9,
      rx: 2,
      class: kind,
    }),
    words("text", { ...outside, y: y + 17, class: "told" }, one.told),
    shape("rect", { x: 0, y, width: "100%", height: ROW, class: "over" }, title),
  ];
  if (then && !then.total)
    made.push(
      shape("line", {
        x1: x(one.after),
        x2: x(one.after),
        y1: y + 4,
        y2: y + ROW + 4,
        class: "joint",
      }),
    );
  return made;
}
