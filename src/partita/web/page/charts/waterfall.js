/** A waterfall chart: each step moves the running value up or down, the last row is the total. */

import { axisText, gridLine, scale, shape, svgDrawing, textShape, ticks, truncate } from "./svg.js";

const ROW_HEIGHT = 26;
const TOP = 26;
const LETTER_WIDTH = 6.9;

/**
 * @typedef {object} Step
 * @property {string} label
 * @property {number} before
 * @property {number} after
 * @property {string} value the text at the bar
 * @property {string} [title] more text, shown as a tooltip
 * @property {boolean} [total] a bar that starts at 0
 */

/**
 * @param {Step[]} steps @param {number} width @param {string} label
 * @param {{low?: number, high?: number, format?: (value: number) => string}} [options]
 */
export function waterfall(steps, width, label, options = {}) {
  const height = TOP + steps.length * ROW_HEIGHT + 6;
  const chart = svgDrawing(width, height, label, "waterfall");
  const labelWidth = Math.min(280, Math.round(width * 0.44));
  const values = steps.flatMap((step) => [step.before, step.after, 0]);
  const low = options.low ?? Math.min(...values);
  const high = options.high ?? Math.max(...values);
  const x = scale([low, high], [labelWidth + 44, width - 52]);
  chart.append(...axis(low, high, x, height, width, options.format ?? String));
  steps.forEach((step, n) => chart.append(...stepRow(step, n, x, labelWidth, steps[n + 1])));
  return chart;
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
    gridLine(x(value), TOP - 6, x(value), height, value ? "grid" : "grid zero"),
    axisText(x(value), TOP - 12, format(value), "middle"),
  ]);
}

/**
 * @param {Step} step
 * @param {number} n
 * @param {(v: number) => number} x
 * @param {number} labelWidth
 * @param {Step} [next]
 */
function stepRow(step, n, x, labelWidth, next) {
  const y = TOP + n * ROW_HEIGHT;
  const [left, right] = [step.before, step.after].map(x).sort((a, b) => a - b);
  const className = step.total ? "total" : step.after < step.before ? "down" : "up";
  const name = truncate(step.label, Math.floor(labelWidth / LETTER_WIDTH));
  const valuePosition =
    step.after < step.before
      ? { x: left - 5, "text-anchor": "end" }
      : { x: right + 5, "text-anchor": "start" };
  const title = [step.label, step.value, step.title].filter(Boolean).join("\n");
  const shapes = [
    textShape("text", { x: 0, y: y + 17, class: step.total ? "label strong" : "label" }, name),
    shape("rect", {
      x: left,
      y: y + 4,
      width: Math.max(1.5, right - left),
      height: ROW_HEIGHT - 9,
      rx: 2,
      class: className,
    }),
    textShape("text", { ...valuePosition, y: y + 17, class: "value-label" }, step.value),
    shape("rect", { x: 0, y, width: "100%", height: ROW_HEIGHT, class: "over" }, title),
  ];
  if (next && !next.total)
    shapes.push(gridLine(x(step.after), y + 4, x(step.after), y + ROW_HEIGHT + 4, "joint"));
  return shapes;
}
