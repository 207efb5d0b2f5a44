/** SVG shapes, scales and ticks; colours come from CSS classes. */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag @param {Record<string, string|number>} attributes @param {string} [title]
 * @returns {SVGElement}
 */
export function shape(tag, attributes, title = "") {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (title) element.append(textShape("title", {}, title));
  return element;
}

/** @param {string} tag @param {Record<string, string|number>} attributes @param {string} text */
export function textShape(tag, attributes, text) {
  const element = shape(tag, attributes);
  element.textContent = text;
  return element;
}

/** A text at an axis. @param {number} x @param {number} y @param {any} text @param {string} [anchor] */
export const axisText = (x, y, text, anchor = "start") =>
  textShape("text", { x, y, class: "axis", "text-anchor": anchor }, String(text));

/** A line of a grid. @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
export const gridLine = (x1, y1, x2, y2, name = "grid") =>
  shape("line", { x1, y1, x2, y2, class: name });

/** @param {number} width @param {number} height @param {string} label @param {string} className */
export function svgDrawing(width, height, label, className) {
  const attributes = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
  return shape("svg", { ...attributes, class: `drawing ${className}` });
}

/**
 * Return a linear scale from values to coordinates.
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
export function scale([a, b], [x, y]) {
  return (/** @type {number} */ value) => x + ((value - a) / (b - a || 1)) * (y - x);
}

/**
 * Return about `count` round values between two ends.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((size) => size >= rough) ?? unit;
  const values = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1)
    values.push(n * step);
  return values.map((value) => Number(value.toPrecision(12)));
}

/**
 * Shorten text to a length; the full text belongs in the title.
 * @param {string} text
 * @param {number} length
 */
export const truncate = (text, length) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/**
 * Redraw when the width changes, so that text keeps its size.
 * @param {(width: number) => SVGElement} draw @returns {HTMLElement}
 */
export function responsive(draw) {
  const box = document.createElement("div");
  box.className = "figure-box";
  let lastWidth = 0;
  const observer = new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (!width || width === lastWidth) return;
    lastWidth = width;
    box.replaceChildren(draw(width));
  });
  observer.observe(box);
  return box;
}
