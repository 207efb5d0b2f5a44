/** An entity: its name, its templates, and its slots with a bar for every value. */

import { bar, el } from "../dom.js";
import { figure, probability, slotValue } from "../format.js";

/** @typedef {import("../types.js").Entity} Entity */

const CERTAIN = 0.99995;

const LONGEST_TITLE = 60; // characters
const MAX_VALUES = 4; // of a slot; the others are added up

/** @param {Entity} entity @returns {string} */
export const entityName = (entity) =>
  shortened(entity.name || entity.descriptions?.[0] || entity.templates.join(" "));

/** Cut a long text at a word. @param {string} text */
function shortened(text) {
  if (text.length <= LONGEST_TITLE) return text;
  return `${text.slice(0, LONGEST_TITLE).replace(/\s+\S*$/, "")}…`;
}

/**
 * The entity of one cell of a configuration, with the values of its templates.
 * @param {import("../types.js").Template[]} templates
 * @returns {Entity}
 */
export function cellEntity(templates) {
  /** @type {Record<string, any[]>} */
  const slots = {};
  for (const { id, slots: values = {} } of templates)
    for (const [name, value] of Object.entries(values))
      if (value !== null && !slots[name]?.some((known) => String(known.value) === String(value)))
        (slots[name] ??= []).push({ value, probability: 1, templates: [id] });
  const texts = [...new Set(templates.map((template) => template.text ?? "").filter(Boolean))];
  const longest = [...texts].sort((a, b) => b.length - a.length)[0] ?? "";
  const sort = templates.map((template) => template.sort ?? "").find(Boolean) ?? "";
  const ids = templates.map((template) => template.id);
  return { id: ids[0], sort, templates: ids, name: longest, descriptions: texts, probability: 1, slots };
}

/**
 * @param {Entity} entity
 * @param {{level?: string, colour?: string, footer?: Node[]}} [options]
 */
export function entityCard(entity, { level = "h3", colour = "", footer = [] } = {}) {
  const certain = entity.probability > CERTAIN;
  return el(
    "article",
    { class: `entity ${colour}` },
    el(
      "header",
      {},
      el(level, {}, entityName(entity)),
      entity.sort ? el("span", { class: "sort" }, entity.sort) : null,
    ),
    certain ? null : existenceLine(entity),
    memberLine(entity),
    el("dl", { class: "facts slots" }, ...Object.entries(entity.slots).flatMap(slotRow)),
    ...footer,
  );
}

/** @param {Entity} entity */
function existenceLine(entity) {
  const text = entity.templates.length > 1 ? "exactly this group" : "on its own";
  return el(
    "p",
    { class: "figure-line" },
    el("span", { class: "quiet" }, text),
    el("span", { class: "number" }, figure(entity)),
    bar(entity.probability),
  );
}

/** @param {Entity} entity */
function memberLine(entity) {
  const descriptions = (entity.descriptions ?? []).slice(0, 6).join(" · ");
  return el(
    "p",
    { class: "members" },
    ...entity.templates.map((id) => el("span", { class: "chip" }, id)),
    descriptions === entityName(entity) ? null : el("span", { class: "quiet" }, ` ${descriptions}`),
  );
}

/** @param {[string, any[]]} slot @returns {HTMLElement[]} */
function slotRow([name, values]) {
  const shown = values.length > MAX_VALUES + 1 ? values.slice(0, MAX_VALUES) : values;
  const rest = values.slice(shown.length);
  const total = rest.reduce((sum, value) => sum + value.probability, 0);
  const more = rest.length && el("span", { class: "quiet" }, `${rest.length} more, ${probability(total)}`);
  return [el("dt", {}, name), el("dd", {}, ...shown.map(valueLine), more || null)];
}

/**
 * A value with its probability; a certain value has no number.
 * @param {import("../types.js").Value} value
 */
function valueLine(value) {
  const className = value.value === null ? "value unknown" : "value";
  const text = el("span", { class: "value-text" }, slotValue(value.value));
  if (value.probability > CERTAIN) return el("span", { class: className }, text);
  const shownNumber =
    value.interval || value.error ? figure(value) : probability(value.probability);
  return el(
    "span",
    { class: className },
    text,
    el("span", { class: "number" }, shownNumber),
    bar(value.probability),
  );
}
