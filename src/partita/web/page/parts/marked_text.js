/** The text of a message with its templates marked, and a card with details for each template. */

import { append, el, replaceContent } from "../dom.js";
import { probability, slotValue } from "../format.js";
import { setCellColour } from "./cells.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Template} Template */
/** @typedef {{template: Template, start: number, end: number, first: boolean}} Span */

const TABLE = /\t|\S {3,}\S/;
const FULL_LINE = 45; // characters: a line this long was probably wrapped

/**
 * @param {string} text @param {Template[]} templates
 * @returns {HTMLElement} each mark has `data-template`, and a button with the template's id
 */
export function markedText(text, templates) {
  const isTable = TABLE.test(text);
  const characters = isTable ? Array.from(text) : joinLines(text);
  const spans = templates
    .map((template) => spanOf(template, characters.length))
    .filter((span) => span !== null);
  const className = isTable ? "message-text table" : "message-text";
  return append(
    el("div", { class: className }),
    ...textNodes(characters, 0, characters.length, inTextOrder(spans)),
  );
}

/**
 * Return the characters of a text (offsets count these, not UTF-16 units); line breaks that only
 * wrap a long line become spaces.
 * @param {string} text
 */
function joinLines(text) {
  const characters = Array.from(text);
  let start = 0;
  characters.forEach((character, n) => {
    if (character !== "\n") return;
    if (n - start >= FULL_LINE && /[\p{L}\p{N}("]/u.test(characters[n + 1] ?? ""))
      characters[n] = " ";
    start = n + 1;
  });
  return characters;
}

/** @param {Template} template @param {number} length @returns {Span|null} */
function spanOf(template, length) {
  const { start = -1, end = -1 } = template;
  return start >= 0 && start < end && end <= length ? { template, start, end, first: true } : null;
}

/** Sort by start, longer spans first. @param {Span[]} spans */
const inTextOrder = (spans) => spans.sort((a, b) => a.start - b.start || b.end - a.end);

/**
 * Return text and marks from one offset to another.
 * @param {string[]} characters @param {number} from @param {number} to @param {Span[]} spans
 * @returns {(Node|string)[]}
 */
function textNodes(characters, from, to, spans) {
  const nodes = [];
  let position = from;
  let rest = spans;
  while (rest.length) {
    const [span, ...following] = rest;
    nodes.push(characters.slice(position, span.start).join(""));
    const inner = following.filter((other) => other.start < span.end);
    const crossing = inner
      .filter((other) => other.end > span.end)
      .map((other) => cutBefore(other, span.end));
    nodes.push(
      markNode(
        characters,
        span,
        inner.map((other) => cutAfter(other, span.end)),
      ),
    );
    position = span.end;
    rest = inTextOrder([...crossing, ...following.filter((other) => other.start >= span.end)]);
  }
  nodes.push(characters.slice(position, to).join(""));
  return nodes;
}

/** When two spans overlap, the second is cut where the first ends. */
const cutAfter = (/** @type {Span} */ span, /** @type {number} */ end) => ({
  ...span,
  end: Math.min(span.end, end),
});
const cutBefore = (/** @type {Span} */ span, /** @type {number} */ start) => ({
  ...span,
  start,
  first: false,
});

/** @param {string[]} characters @param {Span} span @param {Span[]} inner */
function markNode(characters, span, inner) {
  const { template, start, end, first } = span;
  const node = el("span", { class: "mark", "data-template": template.id });
  append(node, first && tagButton(template), ...textNodes(characters, start, end, inner));
  return node;
}

/** The template's id as a button, which can be reached by keyboard. @param {Template} template */
function tagButton(template) {
  const label = `${template.id}, ${template.text ?? ""}: show details`;
  const attributes = {
    type: "button",
    class: "tag",
    "aria-label": label,
    "data-template": template.id,
  };
  return el("button", attributes, template.id);
}

/** Scroll to a mention and open its card. @param {ParentNode} text @param {string} id */
export function openMention(text, id) {
  const tags = /** @type {NodeListOf<HTMLElement>} */ (text.querySelectorAll(".tag"));
  const tag = [...tags].find((one) => one.getAttribute("data-template") === id);
  tag?.scrollIntoView({ block: "center" });
  tag?.focus();
}

/** Return the marked text of a message, with a card for each template. @param {Message} message */
export function annotatedText(message) {
  const templates = templatesOf(message);
  const text = markedText(
    message.text ?? "",
    [...templates.values()].map((entry) => entry.template),
  );
  const describe = (/** @type {string} */ id) => {
    const entry = templates.get(id);
    return entry ? description(entry.template, entry.set) : [];
  };
  return { text, close: attachCards(text, describe) };
}

/** Return every template by id, with its set if it is in one. @param {Message} message */
export function templatesOf(message) {
  /** @type {Map<string, {template: any, set: any}>} */
  const templates = new Map();
  for (const template of message.singletons) templates.set(template.id, { template, set: null });
  for (const set of message.sets)
    for (const template of set.templates)
      if (!templates.has(template.id)) templates.set(template.id, { template, set });
  return templates;
}

/** @param {HTMLElement} text @param {Map<string, string>} colourOf @param {string[]} [moved] */
export function paintMarks(text, colourOf, moved = []) {
  for (const mark of text.querySelectorAll(".mark")) {
    const id = mark.getAttribute("data-template") ?? "";
    setCellColour(mark, colourOf.get(id));
    mark.classList.toggle("alone", !colourOf.has(id));
    mark.classList.toggle("moved", moved.includes(id));
  }
}

const card = el("div", { class: "card", id: "card", role: "tooltip", hidden: true });
const MARGIN = 8;

/**
 * Show a card when a mark is pointed at or focused.
 * @param {HTMLElement} text @param {(id: string) => Node[]} describe
 * @returns {() => void} call this when the text is removed
 */
export function attachCards(text, describe) {
  document.body.append(card);
  const onPoint = (/** @type {Event} */ event) => {
    const mark = /** @type {Element} */ (event.target).closest("[data-template]");
    mark ? openCard(mark, describe) : closeCard();
  };
  text.addEventListener("pointerover", onPoint);
  text.addEventListener("focusin", onPoint);
  text.addEventListener("pointerleave", closeCard);
  text.addEventListener("focusout", closeCard);
  document.addEventListener("keydown", closeOnEscape);
  return () => {
    document.removeEventListener("keydown", closeOnEscape);
    closeCard();
  };
}

/** @param {KeyboardEvent} event */
function closeOnEscape(event) {
  if (event.key === "Escape") closeCard();
}

function closeCard() {
  card.hidden = true;
}

/** @param {Element} mark @param {(id: string) => Node[]} describe */
function openCard(mark, describe) {
  replaceContent(card, ...describe(mark.getAttribute("data-template") ?? ""));
  card.hidden = false;
  mark.querySelector(".tag")?.setAttribute("aria-describedby", "card");
  if (mark.matches(".tag")) mark.setAttribute("aria-describedby", "card");
  placeCard(mark.getClientRects()[0]);
}

/**
 * Place the card below the mark if there is room, else above it, within the window.
 * @param {DOMRect} rectangle
 */
function placeCard(rectangle) {
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = Math.min(rectangle.left, document.documentElement.clientWidth - width - MARGIN);
  const below = rectangle.bottom + MARGIN;
  const fits = below + height <= innerHeight;
  card.style.left = `${Math.max(MARGIN, left)}px`;
  card.style.top = `${fits ? below : Math.max(MARGIN, rectangle.top - height - MARGIN)}px`;
}

/**
 * Return the slots, form, antecedents and rule of a template, and what it may corefer with.
 * @param {Template} template @param {ResultSet} [set] its set
 * @returns {Node[]}
 */
export function description(template, set) {
  const head = el(
    "p",
    { class: "card-head" },
    el("b", {}, template.id),
    ` ${template.text ?? ""}`,
    template.sort ? el("span", { class: "sort" }, template.sort) : null,
  );
  return [
    head,
    factList(slotsOf(template), "slots"),
    factList(formOf(template), "form"),
    ...likelyMates(template, set),
  ];
}

/** @param {Template} template @returns {[string, string][]} */
const slotsOf = (template) =>
  Object.entries(template.slots ?? {}).map(([name, value]) => [name, slotValue(value)]);

/** @param {Template} template @returns {[string, string][]} */
function formOf(template) {
  const antecedents = (template.antecedents ?? [])
    .map((antecedent) => (antecedent.preferred ? `${antecedent.id} (preferred)` : antecedent.id))
    .join(", ");
  const { form, region, rule } = template;
  const fields = Object.entries({ form, "may refer to": antecedents, region, rule });
  return fields.flatMap(([name, value]) => (value ? [[name, value]] : []));
}

/** @param {[string, string][]} entries @param {string} modifier */
function factList(entries, modifier) {
  const rows = entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  return el("dl", { class: `facts ${modifier}`, hidden: !rows.length }, ...rows);
}

/**
 * The templates that this one most probably corefers with.
 * @param {Template} template
 * @param {ResultSet} [set]
 */
function likelyMates(template, set) {
  if (!set) return [el("p", { class: "quiet" }, "No other mention can be the same.")];
  const mates = set.pairs
    .filter((pair) => pair.left === template.id || pair.right === template.id)
    .filter((pair) => pair.marginal > 0)
    .sort((a, b) => b.marginal - a.marginal)
    .slice(0, 4)
    .map((pair) => {
      const other = pair.left === template.id ? pair.right : pair.left;
      return `${other} ${probability(pair.marginal)}`;
    });
  return mates.length ? [factList([["the same as", mates.join(", ")]], "mates")] : [];
}
