/** The learning curve (bits by number of keys) and the reliability diagram (calibration). */

import { axisText, gridLine, scale, shape, svgDrawing, ticks } from "./svg.js";

const HEIGHT = 230;
const MARGIN = { left: 46, right: 14, top: 24, bottom: 36 };

/** @typedef {import("../types.js").Point} Point */

/** @param {Point[]} points @param {number} width */
export function learningCurve(points, width) {
  const [first, last] = [points[0], points[points.length - 1]];
  const [from, to] = [first, last].map(
    (point) => `${point.bits.toFixed(3)} bits after ${point.keys} keys`,
  );
  const label = `From ${from} to ${to}`;
  const chart = svgDrawing(width, HEIGHT, label, "curve");
  const highest = 1.1 * Math.max(...points.map((point) => point.high), 1e-9);
  const x = scale([0, Math.max(1, last.keys)], [MARGIN.left, width - MARGIN.right]);
  const y = scale([0, highest], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  chart.append(...curveFrame(x, y, highest, last.keys, width));
  chart.append(shape("path", { d: intervalBand(points, x, y), class: "band" }));
  chart.append(shape("path", { d: curveLine(points, x, y), class: "line" }));
  for (const point of points) chart.append(curveDot(point, x, y));
  return chart;
}

/** @param {Point} point @param {(v: number) => number} x @param {(v: number) => number} y */
function curveDot(point, x, y) {
  const [bits, low, high] = [point.bits, point.low, point.high].map((value) => value.toFixed(3));
  const title = `${point.keys} keys: ${bits} bits (${low} to ${high})`;
  return shape("circle", { cx: x(point.keys), cy: y(point.bits), r: 4.5, class: "dot" }, title);
}

/** @param {Point[]} points @param {(v: number) => number} x @param {(v: number) => number} y */
const curveLine = (points, x, y) =>
  points.map((point, n) => `${n ? "L" : "M"}${x(point.keys)} ${y(point.bits)}`).join("");

/** @param {Point[]} points @param {(v: number) => number} x @param {(v: number) => number} y */
function intervalBand(points, x, y) {
  const upper = points.map((point) => `${x(point.keys)} ${y(point.high)}`);
  const lower = points.map((point) => `${x(point.keys)} ${y(point.low)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}

/**
 * @param {(v: number) => number} x
 * @param {(v: number) => number} y
 * @param {number} highest
 * @param {number} keys
 * @param {number} width
 */
function curveFrame(x, y, highest, keys, width) {
  const rows = ticks(0, highest, 4).flatMap((value) => [
    gridLine(MARGIN.left, y(value), width - MARGIN.right, y(value)),
    axisText(MARGIN.left - 6, y(value) + 4, value, "end"),
  ]);
  const columns = ticks(0, Math.max(1, keys), 6)
    .filter(Number.isInteger)
    .map((value) => axisText(x(value), HEIGHT - MARGIN.bottom + 17, value, "middle"));
  const names = [
    axisText(width - MARGIN.right, HEIGHT - 4, "number of labels", "end"),
    axisText(0, 11, "bits per mention"),
  ];
  return [...rows, ...columns, ...names];
}

const RELIABILITY_MARGIN = 40;
const MAX_SIDE = 360;

/** @typedef {import("../types.js").Bin} Bin */

/** @param {Bin[]} before @param {Bin[]} after @param {number} width */
export function reliabilityDiagram(before, after, width) {
  const label = reliabilityLabel(before, after);
  return diagram(label, width, ["predicted", "observed"], (x, y) => [
    ...reliabilitySeries(before, x, y, "before"),
    ...reliabilitySeries(after, x, y, "after"),
  ]);
}

/**
 * What the other claims state of their best value, against how often a held-out claim agrees.
 * @param {{count: number, stated: number, agreed: number}[]} bins
 * @param {number} width
 */
export function agreementDiagram(bins, width) {
  const label = bins.map((bin) => `stated ${bin.stated.toFixed(2)}, agreed ${bin.agreed.toFixed(2)}`);
  const points = bins.map(({ count, stated, agreed }) => ({ count, predicted: stated, observed: agreed }));
  return diagram(label.join("; "), width, ["stated", "agreed"], (x, y) =>
    reliabilitySeries(points, x, y, "after", "held-out claims"),
  );
}

/**
 * A square diagram of two shares.
 * @param {string} label
 * @param {number} width
 * @param {string[]} axes
 * @param {(x: (v: number) => number, y: (v: number) => number) => SVGElement[]} series
 */
function diagram(label, width, axes, series) {
  const side = Math.min(MAX_SIDE, width);
  const chart = svgDrawing(side, side, label, "reliability");
  chart.setAttribute("width", String(side));
  const x = scale([0, 1], [RELIABILITY_MARGIN, side - 10]);
  const y = scale([0, 1], [side - RELIABILITY_MARGIN, 10]);
  chart.append(...reliabilityFrame(x, y, side, axes), ...series(x, y));
  return chart;
}

/** @param {Bin[]} before @param {Bin[]} after */
function reliabilityLabel(before, after) {
  const errorText = (/** @type {Bin[]} */ bins) =>
    bins.length ? `${calibrationError(bins).toFixed(3)}` : "unknown";
  const errors = `${errorText(before)} before training, ${errorText(after)} after`;
  return `Predicted against observed: mean error ${errors}`;
}

/** @param {Bin[]} bins */
function calibrationError(bins) {
  const total = bins.reduce((sum, bin) => sum + bin.count, 0);
  return (
    bins.reduce((sum, bin) => sum + bin.count * Math.abs(bin.predicted - bin.observed), 0) / total
  );
}

/**
 * @param {(v: number) => number} x
 * @param {(v: number) => number} y
 * @param {number} side
 * @param {string[]} axes
 */
function reliabilityFrame(x, y, side, [across, up]) {
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    gridLine(x(0), y(value), x(1), y(value)),
    axisText(x(0) - 6, y(value) + 4, value, "end"),
    axisText(x(value), side - RELIABILITY_MARGIN + 16, value, "middle"),
  ]);
  const names = [axisText(x(1), side - 6, across, "end"), axisText(x(0) + 6, y(1) + 14, up)];
  return [...lines, gridLine(x(0), y(0), x(1), y(1), "ideal"), ...names];
}

/**
 * Return the bins of one series, joined by a line; the size of a mark shows the number of pairs.
 * @param {Bin[]} bins
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 * @param {"before"|"after"} kind
 * @param {string} [what]
 */
function reliabilitySeries(bins, x, y, kind, what = "pairs") {
  const points = bins.map((bin) => `${x(bin.predicted)} ${y(bin.observed)}`);
  const largest = Math.max(1, ...bins.map((bin) => bin.count));
  const dots = bins.map((bin) => {
    const [predicted, observed] = [bin.predicted, bin.observed].map((value) => value.toFixed(3));
    const figures = `predicted ${predicted}, observed ${observed}, ${bin.count} ${what}`;
    const title = what === "pairs" ? `${kind}: ${figures}` : figures;
    const size = 3 + 4 * Math.sqrt(bin.count / largest);
    return reliabilityDot(x(bin.predicted), y(bin.observed), size, kind, title);
  });
  const line = shape("path", { d: `M${points.join("L") || "0 0"}`, class: `series ${kind}` });
  return [line, ...dots];
}

/**
 * Squares before training, circles after, so that colour is not the only difference.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {"before"|"after"} kind
 * @param {string} title
 */
function reliabilityDot(x, y, size, kind, title) {
  if (kind === "after") return shape("circle", { cx: x, cy: y, r: size, class: kind }, title);
  const box = { x: x - size, y: y - size, width: 2 * size, height: 2 * size };
  return shape("rect", { ...box, class: kind }, title);
}
