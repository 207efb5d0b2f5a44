/** The reliability diagram: what was predicted against what was so, before and after training. */

import { drawing, scale, shape, words } from "./svg.js";

const EDGE = 40;
const MOST = 360;

/** @typedef {import("../types.js").Bin} Bin */

/** @param {Bin[]} before @param {Bin[]} after @param {number} width */
export function reliability(before, after, width) {
  const side = Math.min(MOST, width);
  const made = drawing(side, side, summary(before, after), "reliability");
  made.setAttribute("width", String(side));
  const x = scale([0, 1], [EDGE, side - 10]);
  const y = scale([0, 1], [side - EDGE, 10]);
  made.append(
    ...frame(x, y, side),
    ...series(before, x, y, "before"),
    ...series(after, x, y, "after"),
  );
  return made;
}

/** @param {Bin[]} before @param {Bin[]} after */
function summary(before, after) {
  const told = (/** @type {Bin[]} */ bins) =>
    bins.length ? `${gap(bins).toFixed(3)} off` : "nothing";
  return `Predicted against observed: before ${told(before)} on average, after ${told(after)}`;
}

/** @param {Bin[]} bins */
function gap(bins) {
  const whole = bins.reduce((sum, one) => sum + one.count, 0);
  return (
    bins.reduce((sum, one) => sum + one.count * Math.abs(one.predicted - one.observed), 0) / whole
  );
}

/** @param {(v: number) => number} x @param {(v: number) => number} y @param {number} side */
function frame(x, y, side) {
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    shape("line", { x1: x(0), x2: x(1), y1: y(value), y2: y(value), class: "grid" }),
    words(
      "text",
      { x: x(0) - 6, y: y(value) + 4, class: "axis", "text-anchor": "end" },
      String(value),
    ),
    words(
      "text",
      { x: x(value), y: side - EDGE + 16, class: "axis", "text-anchor": "middle" },
      String(value),
    ),
  ]);
  const names = [
    words("text", { x: x(1), y: side - 6, class: "axis", "text-anchor": "end" }, "predicted"),
    words("text", { x: x(0) + 6, y: y(1) + 14, class: "axis" }, "observed"),
  ];
  return [
    ...lines,
    shape("line", { x1: x(0), x2: x(1), y1: y(0), y2: y(1), class: "honest" }),
    ...names,
  ];
}

/**
 * The bins of one side, joined by a thread; the more pairs, the larger.
 * @param {Bin[]} bins
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 * @param {"before"|"after"} kind
 */
function series(bins, x, y, kind) {
  const at = bins.map((one) => `${x(one.predicted)} ${y(one.observed)}`);
  const most = Math.max(1, ...bins.map((one) => one.count));
  const dots = bins.map((one) => {
    const [predicted, observed] = [one.predicted, one.observed].map((value) => value.toFixed(3));
    const told = `${kind}: predicted ${predicted}, observed ${observed}, ${one.count} pairs`;
    const size = 3 + 4 * Math.sqrt(one.count / most);
    return dot(x(one.predicted), y(one.observed), size, kind, told);
  });
  const thread = shape("path", { d: `M${at.join("L") || "0 0"}`, class: `thread ${kind}` });
  return [thread, ...dots];
}

/**
 * Squares before, circles after: colour is not all that tells them apart.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {"before"|"after"} kind
 * @param {string} told
 */
function dot(x, y, size, kind, told) {
  if (kind === "after") return shape("circle", { cx: x, cy: y, r: size, class: kind }, told);
  const place = { x: x - size, y: y - size, width: 2 * size, height: 2 * size };
  return shape("rect", { ...place, class: kind }, told);
}
