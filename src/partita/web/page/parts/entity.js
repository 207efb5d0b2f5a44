/** An entity: its name, its templates, and its slots with a bar for every value. */

import { el } from "../dom.js";
import { figure, probability, slotValue } from "../numbers.js";
import { bar } from "./bar.js";

/** @typedef {import("../types.js").Entity} Entity */

const SURE = 0.99995;

/** @param {Entity} entity @returns {string} */
export const entityName = (entity) =>
  entity.name || entity.descriptions?.[0] || entity.templates.join(" ");

/**
 * @param {Entity} entity
 * @param {{level?: string, colour?: string, foot?: Node[]}} [given]
 */
export function entityCard(entity, { level = "h3", colour = "", foot = [] } = {}) {
  const certain = entity.probability > SURE;
  return el(
    "article",
    { class: `entity ${colour}` },
    el(
      "header",
      {},
      el(level, {}, entityName(entity)),
      entity.sort ? el("span", { class: "sort" }, entity.sort) : null,
    ),
    certain ? null : existence(entity),
    members(entity),
    el("dl", { class: "facts slots" }, ...Object.entries(entity.slots).flatMap(slot)),
    ...foot,
  );
}

/** @param {Entity} entity */
function existence(entity) {
  const words = entity.templates.length > 1 ? "exactly these are one" : "stands alone";
  return el(
    "p",
    { class: "figure-line" },
    el("span", { class: "quiet" }, words),
    el("span", { class: "number" }, figure(entity)),
    bar(entity.probability),
  );
}

/** @param {Entity} entity */
function members(entity) {
  const said = (entity.descriptions ?? []).slice(0, 6).join(" · ");
  return el(
    "p",
    { class: "members" },
    ...entity.templates.map((id) => el("span", { class: "chip" }, id)),
    said === entityName(entity) ? null : el("span", { class: "quiet" }, ` ${said}`),
  );
}

/** @param {[string, any[]]} given @returns {HTMLElement[]} */
function slot([name, values]) {
  return [el("dt", {}, name), el("dd", {}, ...values.map(value))];
}

/** What is sure needs no number. @param {import("../types.js").Value} one */
function value(one) {
  const kind = one.value === null ? "value unknown" : "value";
  const words = el("span", { class: "value-text" }, slotValue(one.value));
  if (one.probability > SURE) return el("span", { class: kind }, words);
  const spread = one.interval || one.error ? figure(one) : probability(one.probability);
  return el(
    "span",
    { class: kind },
    words,
    el("span", { class: "number" }, spread),
    bar(one.probability),
  );
}
