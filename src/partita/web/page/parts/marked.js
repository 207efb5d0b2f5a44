/** The text of a message with its templates marked where they stand, one inside the other. */

import { el, fill } from "../dom.js";

/** @typedef {{id: string, text?: string, start?: number, end?: number}} Template */
/** @typedef {{template: Template, start: number, end: number, first: boolean}} Span */

const TABLE = /\t|\S {3,}\S/;
const FULL = 45; // characters of a line that was broken because it was full

/**
 * @param {string} text @param {Template[]} templates
 * @returns {HTMLElement} each mark has `data-template`, and a button with the template's id
 */
export function marked(text, templates) {
  const table = TABLE.test(text);
  const points = table ? Array.from(text) : flowing(text);
  const spans = templates.map((one) => spanOf(one, points.length)).filter((one) => one !== null);
  const kind = table ? "message-text table" : "message-text";
  return fill(el("div", { class: kind }), ...nodes(points, 0, points.length, ordered(spans)));
}

/**
 * The characters of a text (offsets count these, not UTF-16 units), with a space where a full line
 * was broken in mid-sentence: the window breaks lines itself.
 * @param {string} text
 */
function flowing(text) {
  const points = Array.from(text);
  let start = 0;
  points.forEach((point, n) => {
    if (point !== "\n") return;
    if (n - start >= FULL && /[\p{L}\p{N}("]/u.test(points[n + 1] ?? "")) points[n] = " ";
    start = n + 1;
  });
  return points;
}

/** @param {Template} template @param {number} length @returns {Span|null} */
function spanOf(template, length) {
  const { start = -1, end = -1 } = template;
  return start >= 0 && start < end && end <= length ? { template, start, end, first: true } : null;
}

/** By start, the longer one first. @param {Span[]} spans */
const ordered = (spans) => spans.sort((a, b) => a.start - b.start || b.end - a.end);

/**
 * Text and marks from one offset to another.
 * @param {string[]} points @param {number} from @param {number} to @param {Span[]} spans
 * @returns {(Node|string)[]}
 */
function nodes(points, from, to, spans) {
  const made = [];
  let at = from;
  let left = spans;
  while (left.length) {
    const [span, ...others] = left;
    made.push(points.slice(at, span.start).join(""));
    const inner = others.filter((one) => one.start < span.end);
    const cut = inner.filter((one) => one.end > span.end).map((one) => after(one, span.end));
    made.push(
      mark(
        points,
        span,
        inner.map((one) => before(one, span.end)),
      ),
    );
    at = span.end;
    left = ordered([...cut, ...others.filter((one) => one.start >= span.end)]);
  }
  made.push(points.slice(at, to).join(""));
  return made;
}

/** Two expressions that cross: the second one is cut where the first one ends. */
const before = (/** @type {Span} */ span, /** @type {number} */ end) => ({
  ...span,
  end: Math.min(span.end, end),
});
const after = (/** @type {Span} */ span, /** @type {number} */ start) => ({
  ...span,
  start,
  first: false,
});

/** @param {string[]} points @param {Span} span @param {Span[]} inner */
function mark(points, span, inner) {
  const { template, start, end, first } = span;
  const made = el("span", { class: "mark", "data-template": template.id });
  fill(made, first && tag(template), ...nodes(points, start, end, inner));
  return made;
}

/** The template's id as a button, which a keyboard reaches. @param {Template} template */
function tag(template) {
  const name = `${template.id}, ${template.text ?? ""}: what is known of it`;
  const given = { type: "button", class: "tag", "aria-label": name, "data-template": template.id };
  return el("button", given, template.id);
}
