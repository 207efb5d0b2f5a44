/** One message: its marked text, the configurations of its sets, its entities. */

import { announce, el, replaceContent } from "../dom.js";
import { count, plural } from "../format.js";
import { cellColours, isText, movedTemplates } from "./cells.js";
import { configurationList } from "./configurations.js";
import { cellEntity, entityCard } from "./entity.js";
import { annotatedText, paintMarks } from "./marked_text.js";

/** @typedef {import("../types.js").Message} Message */

/**
 * @typedef {object} MessagePane
 * @property {Message} message
 * @property {HTMLElement} text
 * @property {number[]} ranks rank of the configuration shown, for each set; -1 for an answer not listed
 * @property {number} active index of the set that the arrow keys step through
 * @property {import("./configurations.js").ConfigurationList[]} steppers
 * @property {HTMLElement} entities the cards, which follow the configurations shown
 * @property {(set: string, rank: number) => void} onChoose
 * @property {() => void} close
 */

/**
 * @param {Message} message
 * @param {{links?: (set: any) => Node[], onChoose?: (set: string, rank: number) => void}} [options]
 * @returns {MessagePane}
 */
export function messagePane(message, { links = () => [], onChoose = () => {} } = {}) {
  const { text, close } = annotatedText(message);
  text.classList.toggle("many", message.sets.some(isText));
  const entities = el("section", { class: "entities-of" });
  const onKey = (/** @type {KeyboardEvent} */ event) => onArrowKey(pane, event);
  const stop = () => {
    document.removeEventListener("keydown", onKey);
    close();
  };
  /** @type {MessagePane} */
  const pane = { message, text, ranks: [], active: 0, steppers: [], entities, onChoose, close: stop };
  pane.ranks = message.sets.map((set) => set.answerRank);
  pane.steppers = message.sets.map((set, n) =>
    configurationList(set, (rank) => choose(pane, n, rank), links(set)),
  );
  document.addEventListener("keydown", onKey);
  drawPane(pane);
  return pane;
}

/** The column with the configurations of all sets. @param {MessagePane} pane */
export function setColumn(pane) {
  const noSets = el("p", { class: "quiet" }, "No two mentions of this text can be the same.");
  const lists = pane.steppers.map((list) => list.node);
  const sets = el("div", { class: "sets" }, ...(lists.length ? lists : [noSets]));
  if (!pane.message.sets.some(isText)) return sets;
  return el("details", { class: "set-details" }, el("summary", {}, "Details: other readings of the text"), sets);
}

/** Draw the cards of the configurations shown. @param {MessagePane} pane */
function drawEntities(pane) {
  const every = entitiesOf(pane);
  const [shown, once] = entitiesShown(pane.message, every);
  const cards = (/** @type {import("../types.js").Entity[]} */ entities) =>
    el("div", { class: "entity-grid" }, ...entities.map((entity) => entityCard(entity)));
  replaceContent(
    pane.entities,
    el("h2", {}, plural(every.length, "entity", "entities")),
    pane.ranks.some((rank, n) => rank !== pane.message.sets[n].answerRank)
      ? el("p", { class: "quiet" }, "If the reading shown is right; values without their probabilities.")
      : null,
    cards(shown),
    once.length
      ? el("details", {}, el("summary", {}, `${count(once.length)} mentioned once`), cards(once))
      : null,
  );
}

/** The entities, or those of the alternatives shown. */
function entitiesOf(/** @type {MessagePane} */ { message, ranks }) {
  const changed = message.sets.filter((set, n) => ranks[n] !== set.answerRank);
  if (!changed.length) return message.entities;
  const members = new Set(changed.flatMap((set) => set.templates.map((template) => template.id)));
  const kept = message.entities.filter((entity) => !entity.templates.some((id) => members.has(id)));
  const made = message.sets.flatMap((set, n) => {
    const byId = new Map(set.templates.map((template) => [template.id, template]));
    const cells = changed.includes(set) ? set.configurations[ranks[n]].cells : [];
    return cells.map((cell) => cellEntity(cell.flatMap((id) => byId.get(id) ?? [])));
  });
  return [...made, ...kept];
}

/** All entities; of a text those with most mentions first, and apart those with one. */
function entitiesShown(
  /** @type {Message} */ message,
  /** @type {import("../types.js").Entity[]} */ entities,
) {
  if (!message.sets.some(isText)) return [entities, []];
  const sorted = [...entities].sort((a, b) => b.templates.length - a.templates.length);
  const several = sorted.filter((entity) => entity.templates.length > 1);
  return [several, sorted.slice(several.length)];
}

/**
 * Show one configuration of a set.
 * @param {MessagePane} pane
 * @param {string} set
 * @param {number} rank
 */
export function selectConfiguration(pane, set, rank) {
  const n = pane.message.sets.findIndex((candidate) => candidate.set === set);
  if (n >= 0 && rank >= 0 && rank < pane.message.sets[n].configurations.length)
    choose(pane, n, rank);
}

/** @param {MessagePane} pane @param {number} n @param {number} rank */
function choose(pane, n, rank) {
  pane.active = n;
  pane.ranks[n] = rank;
  drawPane(pane);
  pane.onChoose(pane.message.sets[n].set, rank);
}

/**
 * Let the arrow keys step through the configurations of the active set.
 * @param {MessagePane} pane
 * @param {KeyboardEvent} event
 */
function onArrowKey(pane, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const set = pane.message.sets[pane.active];
  const target = /** @type {Element} */ (event.target);
  if (!step || !set || target.closest("input, textarea, select, .matrix-box")) return;
  event.preventDefault();
  const first = Math.min(0, set.answerRank);
  const rank = Math.max(first, Math.min(set.configurations.length - 1, pane.ranks[pane.active] + step));
  choose(pane, pane.active, rank);
  announce(rank < 0 ? "Entities" : `Configuration ${rank + 1} of ${set.configurations.length}`);
}

/** Colour the text and all rows by the configurations shown. @param {MessagePane} pane */
function drawPane(pane) {
  const { message, text, ranks, steppers } = pane;
  const { sets } = message;
  drawEntities(pane);
  const shown = entitiesOf(pane).map((entity) => entity.templates);
  const moved = sets.flatMap(({ configurations, answer }, n) =>
    movedTemplates(answer, configurations[ranks[n]]?.cells ?? answer),
  );
  paintMarks(text, cellColours(sets, [shown]), moved);
  steppers.forEach((list, n) => {
    list.show(ranks[n], (rank) => cellColours(sets, [sets[n].configurations[rank].cells]));
  });
}
