/** The Next view: which sets to key next, training, and the effect of the keys. */

import * as api from "../api.js";
import { learningCurve, reliabilityDiagram } from "../charts/learning.js";
import { responsive } from "../charts/svg.js";
import { append, bar, el, replaceContent } from "../dom.js";
import { bits, plural } from "../format.js";
import { emptyPanel, errorPanel, titledPanel } from "../parts/panels.js";
import { trainingPanel } from "../parts/training.js";
import { hrefFor } from "../router.js";

/** @typedef {import("../types.js").NextSet} NextSet */
/** @typedef {import("../types.js").Learning} Learning */

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
  const learning = titledPanel("Effect of the labels", loading());
  const load = () => {
    loadSets();
    fillPanel(learning, async () => learningCharts(await api.curve(run)));
  };
  const training = trainingPanel(run, load);
  append(column, titledPanel("Train", training.node));
  replaceContent(root, title, column, learning);
  load();
  return { close: () => (training.open = false) };
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

/** @param {Learning} learning */
function learningCharts({ points, reliability: { before, after } }) {
  if (!points.length) return [el("p", {}, "There are no labels yet.")];
  const tooFew = points.length < 2 && el("p", {}, "A curve needs labels for at least two texts.");
  return [
    el("h3", {}, "Learning curve"),
    quietLine("Bits per mention on held-out labels; lower is better."),
    responsive((width) => learningCurve(points, width)),
    tooFew,
    el("h3", {}, "Calibration"),
    quietLine(
      "Predicted pair probabilities against the labels; points on the line are well calibrated.",
    ),
    responsive((width) => reliabilityDiagram(before, after, width)),
    legend(),
  ].filter((node) => node !== false);
}

/** @param {string} text */
const quietLine = (text) => el("p", { class: "quiet" }, text);

/** The legend of the diagram. */
function legend() {
  const names = ["before", "after"].map((time) => el("span", { class: time }, `${time} training`));
  return el("p", { class: "chart-legend" }, ...names);
}
