/** The Next view: which sets to key next, and training. */

import * as api from "../api.js";
import { bar, el, replaceContent } from "../dom.js";
import { bits, plural } from "../format.js";
import { emptyPanel, errorPanel, titledPanel } from "../parts/panels.js";
import { trainingPanel } from "../parts/training.js";
import { hrefFor } from "../router.js";

/** @typedef {import("../types.js").NextSet} NextSet */

const MAX_SETS = 10;
const SETS_HINT = "A label for the first is expected to improve the model most.";
const UNCERTAIN_HINT = "The least certain first.";
const UNTRAINABLE = "Labels of this run measure how good its answers are. Its model is trained by the command partita train.";

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, { run }) {
  if (!run) {
    replaceContent(root, emptyPanel("Nothing to label", "There are no texts yet."));
    return {};
  }
  const { untrainable } = await api.run(run);
  const loading = () => el("p", { class: "quiet" }, "Loading…");
  const sets = titledPanel("What to label next", loading());
  const title = el("h1", { class: "visually-hidden" }, "What to label next");
  const column = el("div", { class: "column" }, sets);
  const loadSets = () => fillPanel(sets, async () => setRows(run, await api.next(run, MAX_SETS)));
  if (untrainable) {
    const note = titledPanel("Train", el("p", { class: "quiet" }, UNTRAINABLE));
    replaceContent(root, title, column, note);
    loadSets();
    return {};
  }
  replaceContent(root, title, column, titledPanel("Train", trainingPanel(run, loadSets)));
  loadSets();
  return {};
}

/**
 * Fill a panel below its title when the content is loaded.
 * @param {HTMLElement} node
 * @param {() => Promise<Node[]>} load
 */
async function fillPanel(node, load) {
  const title = node.firstChild;
  const retry = () => fillPanel(node, load);
  const content = await load().catch((error) => [
    errorPanel(`${title?.textContent} could not be loaded`, error, retry),
  ]);
  replaceContent(node, title, ...content);
}

/** @param {string} run @param {NextSet[]} sets */
function setRows(run, sets) {
  if (!sets.length) return [el("p", {}, "Everything informative is labelled.")];
  const highest = Math.max(...sets.map(valueOf), 1e-9);
  const rows = sets.map((set) => setRow(run, set, highest));
  const hint = sets[0].gain === null ? UNCERTAIN_HINT : SETS_HINT;
  return [el("p", { class: "quiet" }, hint), el("ol", { class: "next-rows" }, ...rows)];
}

/** The gain, or the uncertainty where there is none. @param {NextSet} set */
const valueOf = (set) => set.gain ?? set.entropy_bits;

/** @param {string} run @param {NextSet} set @param {number} highest */
function setRow(run, set, highest) {
  const href = hrefFor("key", { run, message: set.message, set: set.set });
  const uncertainty = set.gain === null ? "" : `, ${bits(set.entropy_bits)} of uncertainty`;
  const detail = ` ${plural(set.templates, "mention")}${uncertainty}`;
  const name = el("span", {}, el("a", { href }, set.set), el("span", { class: "quiet" }, detail));
  const text = set.gain === null ? bits(set.entropy_bits) : `gain ${bits(set.gain)}`;
  const number = el("span", { class: "number" }, text);
  return el("li", {}, name, el("span", { class: "figure-line" }, number, bar(valueOf(set) / highest)));
}
