/** Shapes of SVG; colours come from classes, words from text nodes. */

const SPACE = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag @param {Record<string, string|number>} given @param {string} [title]
 * @returns {SVGElement}
 */
export function shape(tag, given, title = "") {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, String(value));
  if (title) made.append(words("title", {}, title));
  return made;
}

/** @param {string} tag @param {Record<string, string|number>} given @param {string} text */
export function words(tag, given, text) {
  const made = shape(tag, given);
  made.textContent = text;
  return made;
}

/** @param {number} width @param {number} height @param {string} label @param {string} kind */
export function drawing(width, height, label, kind) {
  const given = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
  return shape("svg", { ...given, class: `drawing ${kind}` });
}

/** From values to places on a line. @param {[number, number]} from @param {[number, number]} to */
export function scale([a, b], [x, y]) {
  return (/** @type {number} */ value) => x + ((value - a) / (b - a || 1)) * (y - x);
}

/**
 * Round values between two ends, about as many as asked for.
 * @param {number} low
 * @param {number} high
 * @param {number} about
 */
export function ticks(low, high, about) {
  const rough = (high - low) / about || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((size) => size >= rough) ?? unit;
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1)
    found.push(n * step);
  return found.map((value) => Number(value.toPrecision(12)));
}

/**
 * Words that do not fit are cut; the whole is in the title.
 * @param {string} text
 * @param {number} most
 */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/**
 * Draw anew whenever the room changes, so that letters keep their size.
 * @param {(width: number) => SVGElement} draw @returns {HTMLElement}
 */
export function fitted(draw) {
  const box = document.createElement("div");
  box.className = "figure-box";
  let last = 0;
  const watch = new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (!width || width === last) return;
    last = width;
    box.replaceChildren(draw(width));
  });
  watch.observe(box);
  return box;
}
