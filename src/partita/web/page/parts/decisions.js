/** The uncertain decisions of a text: mentions that may belong to one entity or another. */

import { el } from "../dom.js";
import { plural } from "../format.js";
import { isText } from "./cells.js";
import { entityName } from "./entity.js";

/** @typedef {import("../types.js").Message} Message */
/** @typedef {{name: string, share: number}} Choice */
/** @typedef {{template: any, choices: Choice[], bits: number}} Decision */

export const LARGE = 60; // templates: a larger set has no table of pairs
const DOUBTFUL = 0.75; // an uncertain decision has no choice above this
const LEAST = 0.01; // least probability of a pair that counts
const LEAST_SHOWN = 0.02;
const MAX_SHOWN = 12;

/** @param {Message} message @returns {HTMLElement|null} */
export function decisionPanel(message) {
  const doubtful = decisionsOf(message)
    .filter((decision) => decision.choices[0].share < DOUBTFUL)
    .sort((a, b) => b.bits - a.bits);
  if (!doubtful.length) return null;
  const rest = doubtful.length - MAX_SHOWN;
  return el(
    "section",
    { class: "panel decisions" },
    el("h2", {}, "Uncertain"),
    el("ul", {}, ...doubtful.slice(0, MAX_SHOWN).map(decisionItem)),
    rest > 0 ? el("p", { class: "quiet" }, `and ${plural(rest, "more decision")}`) : null,
  );
}

/** What each mention may belong to; several windows may hold it. @param {Message} message */
function decisionsOf({ sets, home }) {
  const texts = sets.filter(isText);
  const templates = new Map(texts.flatMap((set) => set.templates.map((one) => [one.id, one])));
  /** @type {Map<string, Map<any, number>>} */
  const shares = new Map([...templates.keys()].map((id) => [id, new Map()]));
  for (const { left, right, marginal } of texts.flatMap((set) => set.pairs))
    for (const [id, other] of marginal < LEAST ? [] : [[left, right], [right, left]]) {
      const known = shares.get(id) ?? new Map();
      known.set(home.get(other), Math.max(known.get(home.get(other)) ?? 0, marginal));
    }
  return [...templates].map(([id, template]) => decision(template, shares.get(id) ?? new Map()));
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
  return { template, choices, bits };
}

/** @param {Decision} decision */
function decisionItem({ template, choices }) {
  const shown = choices.filter(({ share }) => share >= LEAST_SHOWN).slice(0, 3);
  const text = shown.map(({ name, share }) => `${name} ${share.toFixed(2)}`).join(", ");
  return el(
    "li",
    {},
    el("b", {}, `“${template.text}”`),
    ` in sentence ${(template.sentence ?? 0) + 1}: ${text}`,
  );
}
