/** The learning curve: bits against the number of keys, with an interval. */

import { drawing, scale, shape, ticks, words } from "./svg.js";

const HIGH = 230;
const EDGE = { left: 46, right: 14, top: 14, bottom: 36 };

/** @typedef {import("../types.js").Point} Point */

/** @param {Point[]} points @param {number} width */
export function curve(points, width) {
  const [first, last] = [points[0], points[points.length - 1]];
  const [from, to] = [first, last].map(
    (one) => `${one.bits.toFixed(3)} bits after ${one.keys} keys`,
  );
  const label = `From ${from} to ${to}`;
  const made = drawing(width, HIGH, label, "curve");
  const most = Math.max(...points.map((one) => one.high), 1e-9);
  const x = scale([0, Math.max(1, last.keys)], [EDGE.left, width - EDGE.right]);
  const y = scale([0, most], [HIGH - EDGE.bottom, EDGE.top]);
  made.append(...frame(x, y, most, last.keys, width));
  made.append(shape("path", { d: band(points, x, y), class: "band" }));
  made.append(shape("path", { d: line(points, x, y), class: "line" }));
  for (const one of points) made.append(dot(one, x, y));
  return made;
}

/** @param {Point} one @param {(v: number) => number} x @param {(v: number) => number} y */
function dot(one, x, y) {
  const [bits, low, high] = [one.bits, one.low, one.high].map((value) => value.toFixed(3));
  const told = `${one.keys} keys: ${bits} bits (${low} to ${high})`;
  return shape("circle", { cx: x(one.keys), cy: y(one.bits), r: 4.5, class: "dot" }, told);
}

/** @param {Point[]} points @param {(v: number) => number} x @param {(v: number) => number} y */
const line = (points, x, y) =>
  points.map((one, n) => `${n ? "L" : "M"}${x(one.keys)} ${y(one.bits)}`).join("");

/** @param {Point[]} points @param {(v: number) => number} x @param {(v: number) => number} y */
function band(points, x, y) {
  const over = points.map((one) => `${x(one.keys)} ${y(one.high)}`);
  const under = points.map((one) => `${x(one.keys)} ${y(one.low)}`).reverse();
  return `M${[...over, ...under].join("L")}Z`;
}

/**
 * @param {(v: number) => number} x
 * @param {(v: number) => number} y
 * @param {number} most
 * @param {number} keys
 * @param {number} width
 */
function frame(x, y, most, keys, width) {
  const rows = ticks(0, most, 4).flatMap((value) => [
    shape("line", {
      x1: EDGE.left,
      x2: width - EDGE.right,
      y1: y(value),
      y2: y(value),
      class: "grid",
    }),
    words(
      "text",
      { x: EDGE.left - 6, y: y(value) + 4, class: "axis", "text-anchor": "end" },
      String(value),
    ),
  ]);
  const columns = ticks(0, Math.max(1, keys), 6)
    .filter(Number.isInteger)
    .map((value) =>
      words(
        "text",
        { x: x(value), y: HIGH - EDGE.bottom + 17, class: "axis", "text-anchor": "middle" },
        String(value),
      ),
    );
  const name = words(
    "text",
    { x: width - EDGE.right, y: HIGH - 4, class: "axis", "text-anchor": "end" },
    "keys",
  );
  return [...rows, ...columns, name];
}
