/** One message, whole: its text with marks, its sets to step through, its entities. */

import { colours, paint } from "../colours.js";
import { el, say } from "../dom.js";
import { plural } from "../numbers.js";
import { cards, description } from "./card.js";
import { moved } from "./changes.js";
import { stepper } from "./configurations.js";
import { entityCard } from "./entity.js";
import { marked } from "./marked.js";

/** @typedef {import("../types.js").Message} Message */

/**
 * @typedef {object} Pane
 * @property {Message} message
 * @property {HTMLElement} text
 * @property {number[]} ranks the configuration that is shown of each set
 * @property {number} active the set that the arrow keys step through
 * @property {import("./configurations.js").Stepper[]} steppers
 * @property {(set: string, rank: number) => void} noted
 * @property {() => void} close
 */

/**
 * @param {Message} message
 * @param {{links?: (set: any) => Node[], noted?: (set: string, rank: number) => void}} [given]
 * @returns {Pane}
 */
export function messagePane(message, { links = () => [], noted = () => {} } = {}) {
  const { text, close } = describedText(message);
  /** @type {Pane} */
  const pane = { message, text, ranks: [], active: 0, steppers: [], noted, close };
  pane.ranks = message.sets.map(() => 0);
  pane.steppers = message.sets.map((set, n) =>
    stepper(set, (rank) => choose(pane, n, rank), links(set)),
  );
  text.addEventListener("keydown", (event) => step(pane, event));
  draw(pane);
  return pane;
}

/** The marked text of a message, with a card for each template. @param {Message} message */
export function describedText(message) {
  const known = templatesOf(message);
  const text = marked(
    message.text ?? "",
    [...known.values()].map((one) => one.template),
  );
  const about = (/** @type {string} */ id) => {
    const one = known.get(id);
    return one ? description(one.template, one.set) : [];
  };
  return { text, close: cards(text, about) };
}

/** The sets' side of a message. @param {Pane} pane */
export function setsOf(pane) {
  const alone = el("p", { class: "quiet" }, "No two templates of this message may corefer.");
  const made = pane.steppers.map((one) => one.node);
  return el("div", { class: "sets" }, ...(made.length ? made : [alone]));
}

/** @param {Message} message */
export function entitiesOf(message) {
  const made = message.entities.map((one) => entityCard(one));
  const title = el("h2", {}, plural(made.length, "entity", "entities"));
  return el(
    "section",
    { class: "entities-of" },
    title,
    el("div", { class: "entity-grid" }, ...made),
  );
}

/**
 * Show one configuration of one set, by its name.
 * @param {Pane} pane
 * @param {string} set
 * @param {number} rank
 */
export function showRank(pane, set, rank) {
  const n = pane.message.sets.findIndex((one) => one.set === set);
  if (n >= 0 && rank >= 0 && rank < pane.message.sets[n].configurations.length)
    choose(pane, n, rank);
}

/** Every template with the set that it is in, in text order. @param {Message} message */
export function templatesOf(message) {
  /** @type {Map<string, {template: any, set: any}>} */
  const found = new Map();
  for (const template of message.singletons) found.set(template.id, { template, set: null });
  for (const set of message.sets) {
    for (const template of set.templates) found.set(template.id, { template, set });
  }
  return found;
}

/** @param {Pane} pane @param {number} n @param {number} rank */
function choose(pane, n, rank) {
  pane.active = n;
  pane.ranks[n] = rank;
  draw(pane);
  pane.noted(pane.message.sets[n].set, rank);
}

/**
 * Arrow keys in the text step through the set that was touched last.
 * @param {Pane} pane
 * @param {KeyboardEvent} event
 */
function step(pane, event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const set = pane.message.sets[pane.active];
  if (!by || !set) return;
  event.preventDefault();
  const rank = Math.max(0, Math.min(set.configurations.length - 1, pane.ranks[pane.active] + by));
  choose(pane, pane.active, rank);
  say(`Configuration ${rank + 1} of ${set.configurations.length}`);
}

/**
 * Colours of the text and of every row, as the shown configurations have them.
 * @param {Pane} pane
 */
function draw({ message, text, ranks, steppers }) {
  const { sets } = message;
  const shown = sets.map((set, n) => set.configurations[ranks[n]].cells);
  paintMarks(text, colours(sets, shown), changedIn(sets, ranks));
  steppers.forEach((one, n) => {
    one.show(ranks[n], (rank) => colours(sets, [sets[n].configurations[rank].cells]));
  });
}

/** @param {any[]} sets @param {number[]} ranks */
function changedIn(sets, ranks) {
  return sets.flatMap(({ configurations }, n) =>
    moved(configurations[0].cells, configurations[ranks[n]].cells),
  );
}

/** @param {HTMLElement} text @param {Map<string, string>} colour @param {string[]} [changed] */
export function paintMarks(text, colour, changed = []) {
  for (const mark of text.querySelectorAll(".mark")) {
    const id = mark.getAttribute("data-template") ?? "";
    paint(mark, colour.get(id));
    mark.classList.toggle("alone", !colour.has(id));
    mark.classList.toggle("moved", changed.includes(id));
  }
}
