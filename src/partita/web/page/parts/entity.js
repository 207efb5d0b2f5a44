/** An entity for people: its name, type, mentions, a plain confidence and its likely facts. */

import { bar, el } from "../dom.js";
import { confidenceWord, figure, plural, probability, slotValue } from "../format.js";
import { hrefFor } from "../router.js";

/** @typedef {import("../types.js").Entity} Entity */

const LONGEST_TITLE = 60; // characters
const LIKELY = 0.5; // least probability of a fact that is shown at once
const LEAST_SHOWN = 0.005; // probability of a value that the details list
const MAX_VALUES = 4; // of a slot; the others are added up
const MAX_EXPRESSIONS = 5;
const NO_FACTS = ["NAME", "TYPE", "GENDER"]; // the heading shows them, or they follow from it

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

/** The likely facts of an entity: a name and a value each. @param {Entity} entity @returns {[string, any][]} */
export const likelyFacts = ({ slots }) =>
  Object.entries(slots).flatMap(([name, values]) => {
    const best = values.find(({ value }) => value !== null);
    const shown = best && best.probability >= LIKELY && !NO_FACTS.includes(name);
    return shown ? [/** @type {[string, any]} */ ([name.toLowerCase(), best])] : [];
  });

/** The confidence in words, the number on hover. @param {Entity} entity */
export function confidence(entity) {
  const p = entity.confidence ?? entity.probability;
  const title = `probability ${probability(p)}`;
  if (entity.templates.length < 2) return el("span", { class: "quiet", title }, "mentioned once");
  return el("span", { class: "confidence", title, tabindex: "0" }, confidenceWord(p));
}

/** The different expressions of an entity. @param {Entity} entity */
export function expressions({ descriptions = [] }) {
  const texts = [...new Set(descriptions)];
  const more = texts.length - MAX_EXPRESSIONS;
  return texts.slice(0, MAX_EXPRESSIONS).join(" · ") + (more > 0 ? ` · ${more} more` : "");
}

/** @param {Entity} entity */
export function entityCard(entity) {
  const shown = expressions(entity);
  const size = entity.templates.length > 1 ? `${plural(entity.templates.length, "mention")}, ` : "";
  const facts = likelyFacts(entity).map(([name, { value, probability: p }]) =>
    el("li", { title: `probability ${probability(p)}` }, `${name}: ${slotValue(value)}`),
  );
  return el(
    "article",
    { class: "entity" },
    nameLine(entityName(entity), entity.sort),
    el("p", { class: "quiet" }, size, confidence(entity)),
    shown && shown !== entityName(entity) ? el("p", { class: "members" }, shown) : null,
    facts.length ? el("ul", { class: "fact-list" }, ...facts) : null,
    entityDetails(entity),
  );
}

/** The name and the type. @param {string} name @param {string} sort */
export const nameLine = (name, sort) =>
  el("header", {}, el("h3", {}, name), sort ? el("span", { class: "sort" }, sort) : null);

/** How probable a group is. @param {import("../types.js").Figure} group @param {boolean} several whether it has several members */
export function groupLine(group, several) {
  const text = el("span", { class: "quiet" }, several ? "exactly this group" : "on its own");
  return el("p", { class: "figure-line" }, text, el("span", { class: "number" }, figure(group)), bar(group.probability));
}

/** Everything that is known, with all probabilities. @param {Entity} entity */
export function entityDetails(entity) {
  const slots = Object.entries(entity.slots);
  const { message, set, templates } = entity;
  const [left, right] = templates;
  return el(
    "details",
    { class: "entity-details" },
    el("summary", {}, "Details"),
    el(
      "p",
      { class: "members" },
      ...entity.templates.map((id) => el("span", { class: "chip" }, id)),
    ),
    groupLine(entity, entity.templates.length > 1),
    el("dl", { class: "facts slots" }, ...slots.flatMap(slotRow)),
    right && set ? el("a", { href: hrefFor("why", { message, set, left, right }) }, "Why together?") : null,
  );
}

/** @param {[string, any[]]} slot @returns {HTMLElement[]} */
function slotRow([name, values]) {
  const likely = values.filter((value) => value.probability >= LEAST_SHOWN);
  const shown = likely.length > MAX_VALUES + 1 ? likely.slice(0, MAX_VALUES) : likely;
  const rest = values.filter((value) => !shown.includes(value));
  const total = rest.reduce((sum, value) => sum + value.probability, 0);
  const more = rest.length && el("span", { class: "quiet" }, `${rest.length} more, ${probability(total)}`);
  return [el("dt", {}, name), el("dd", {}, ...shown.map(valueLine), more || null)];
}

/** A value with its probability. @param {import("../types.js").Value} value */
function valueLine(value) {
  return el(
    "span",
    { class: value.value === null ? "value unknown" : "value" },
    el("span", { class: "value-text" }, slotValue(value.value)),
    el("span", { class: "number" }, figure(value)),
    bar(value.probability),
  );
}
