/** The diagram of stated and held-out agreement. */

import { axisText, gridLine, scale, shape, svgDrawing, ticks } from "./svg.js";

const RELIABILITY_MARGIN = 40;
const MAX_SIDE = 360;

/** @typedef {import("../types.js").Bin} Bin */

/**
 * What the other claims state of their best value, against how often a held-out claim agrees.
 * @param {{count: number, stated: number, agreed: number}[]} bins
 * @param {number} width
 */
export function agreementDiagram(bins, width) {
  const label = bins.map((bin) => `stated ${bin.stated.toFixed(2)}, agreed ${bin.agreed.toFixed(2)}`);
  const points = bins.map(({ count, stated, agreed }) => ({ count, predicted: stated, observed: agreed }));
  return diagram(label.join("; "), width, ["stated", "agreed"], (x, y) =>
    reliabilitySeries(points, x, y),
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
 * The bins, joined by a line; the size of a mark shows how many claims it stands for.
 * @param {Bin[]} bins
 * @param {(value: number) => number} x
 * @param {(value: number) => number} y
 */
function reliabilitySeries(bins, x, y) {
  const points = bins.map((bin) => `${x(bin.predicted)} ${y(bin.observed)}`);
  const largest = Math.max(1, ...bins.map((bin) => bin.count));
  const dots = bins.map((bin) => {
    const [predicted, observed] = [bin.predicted, bin.observed].map((value) => value.toFixed(3));
    const title = `predicted ${predicted}, observed ${observed}, ${bin.count} held-out claims`;
    const r = 3 + 4 * Math.sqrt(bin.count / largest);
    return shape("circle", { cx: x(bin.predicted), cy: y(bin.observed), r, class: "after" }, title);
  });
  return [shape("path", { d: `M${points.join("L") || "0 0"}`, class: "series after" }), ...dots];
}
