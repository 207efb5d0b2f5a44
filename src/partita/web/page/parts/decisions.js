/** The uncertain decisions of a text: mentions that may belong to one entity or another. */

import { button, el } from "../dom.js";
import { plural } from "../format.js";
import { isText } from "./cells.js";
import { hrefFor } from "../router.js";
import { entityName } from "./entity.js";
import { openMention } from "./marked_text.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {{name: string, share: number}} Choice */
/** @typedef {{set: string, left: string, right: string, marginal: number}} Link the most probable pair of a mention with an earlier one */
/** @typedef {{template: any, choices: Choice[], weight: number, link?: Link}} Decision `weight`: bits, times the mentions that would move */

const DOUBTFUL = 0.75; // an uncertain decision has no choice above this
const LEAST = 0.01; // least probability of a pair that counts
const LEAST_SHOWN = 0.02;
const MAX_SHOWN = 6;

/** @param {Message} message @returns {HTMLElement|null} */
export function decisionPanel(message) {
  const doubtful = decisionsOf(message)
    .filter((decision) => decision.choices[0].share < DOUBTFUL)
    .sort((a, b) => b.weight - a.weight);
  if (!doubtful.length) return null;
  const rest = doubtful.slice(MAX_SHOWN);
  return el(
    "section",
    { class: "panel decisions" },
    el("h2", {}, "Uncertain"),
    el("p", { class: "quiet" }, "Choose one to see it in the text."),
    el("ul", {}, ...doubtful.slice(0, MAX_SHOWN).map(decisionItem)),
    rest.length
      ? el(
          "details",
          {},
          el("summary", {}, plural(rest.length, "more decision")),
          el("ul", {}, ...rest.map(decisionItem)),
        )
      : null,
  );
}

/** What mentions may belong to, by the first set that holds them. @param {Message} message */
function decisionsOf({ sets, home }) {
  const done = new Set();
  return sets.filter(isText).flatMap((set) => {
    const place = new Map(set.templates.map(({ id }, n) => [id, n]));
    /** @type {Map<string, Map<any, number>>} */
    const shares = new Map(set.templates.map(({ id }) => [id, new Map()]));
    /** @type {Map<string, Link>} */
    const links = new Map();
    for (const { left, right, marginal } of set.pairs) {
      const [earlier, later] = (place.get(left) ?? 0) < (place.get(right) ?? 0) ? [left, right] : [right, left];
      const [known, entity] = [shares.get(later), home.get(earlier)];
      if (marginal > (links.get(later)?.marginal ?? 0)) links.set(later, { set: set.set, left: earlier, right: later, marginal });
      if (marginal >= LEAST) known?.set(entity, Math.max(known.get(entity) ?? 0, marginal));
    }
    const fresh = set.templates.slice(1).filter(({ id }) => !done.has(id));
    for (const { id } of set.templates) done.add(id);
    return fresh.map((template) => ({
      ...decision(template, shares.get(template.id) ?? new Map()),
      link: links.get(template.id),
    }));
  });
}

/** @param {any} template @param {Map<any, number>} shares @returns {Decision} */
function decision(template, shares) {
  const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
  const choices = [...shares].map(([entity, share]) => ({
    name: entity ? entityName(entity) : "",
    share: share / Math.max(1, total),
  }));
  choices.push({ name: "new", share: Math.max(0, 1 - total) });
  choices.sort((a, b) => b.share - a.share);
  const bits = choices.reduce((sum, { share }) => sum - (share ? share * Math.log2(share) : 0), 0);
  const moved = Math.max(1, ...[...shares.keys()].map((entity) => Math.log2(1 + (entity?.templates.length ?? 0))));
  return { template, choices, weight: bits * moved };
}

/** @param {Decision} decision */
function decisionItem({ template, choices, link }) {
  const shown = choices.filter(({ share }) => share >= LEAST_SHOWN).slice(0, 3);
  const text = shown.map(({ name, share }) => `${name} ${share.toFixed(2)}`).join(", ");
  const open = button(`“${template.text}”`, () => openMention(document, template.id), { class: "link-button" });
  const why = link && el("a", { href: hrefFor("why", { ...link, marginal: "" }), "aria-label": `Why ${template.text}?` }, "Why?");
  return el("li", {}, open, ` in sentence ${(template.sentence ?? 0) + 1}: ${text} `, why);
}
