/** Training on the keys of a run: started by a button. */

import * as api from "../api.js";
import { announce, button, el, replaceContent, table } from "../dom.js";
import { bits, plural, probability } from "../format.js";
import { hrefFor } from "../router.js";
import { refreshRuns } from "../run_menu.js";
import { errorPanel } from "./panels.js";

/** @typedef {import("../types.js").Trained} Trained */
/** @typedef {{run: string, node: HTMLElement, done: () => void}} Training */

const HINT =
  "Trains on all labels of this run, starting from the run's parameters, and reads its texts " +
  "again as a new run.";

/** @param {string} run @param {() => void} done */
export function trainingPanel(run, done) {
  const panel = { run, done, node: el("div", { class: "training" }) };
  drawOffer(panel);
  return panel.node;
}

/** @param {Training} panel @param {...Node} nodes */
function drawOffer(panel, ...nodes) {
  const start = button("Train on the labels of this run", () => train(panel), {
    class: "main-button",
  });
  replaceContent(panel.node, el("p", { class: "quiet" }, HINT), start, ...nodes);
}

/** @param {Training} panel */
async function train(panel) {
  const status = el("p", { class: "status", role: "status" }, "Training…");
  replaceContent(panel.node, status, el("progress", { "aria-label": "Training" }));
  try {
    await showResult(panel, await api.train(panel.run));
  } catch (error) {
    drawOffer(panel, errorPanel("Training failed", error, () => train(panel)));
  }
}

/** @param {Training} panel @param {Trained} trained */
async function showResult(panel, { run, report }) {
  await refreshRuns();
  const link = el("a", { href: hrefFor("read", { run, set: "" }) }, run);
  const same = run === panel.run;
  const text = same ? "Trained. Nothing changed: " : "Trained. The new run is ";
  const status = el("p", { class: "status saved", role: "status" }, text, link);
  const differences = el("a", { href: hrefFor("entities", { run, other: panel.run }) }, "What changed");
  drawOffer(panel, status, ...(same ? [] : [el("p", {}, differences)]), ...reportNodes(report));
  announce(`Trained. The new run is ${run}`);
  panel.done();
}

/** What training did to the keys: in sum, and for each keyed set. @param {Trained["report"]} report */
function reportNodes({ keys, bits: sum, sets, note }) {
  const rows = [...sets]
    .sort((a, b) => b.bits.before - b.bits.after - (a.bits.before - a.bits.after))
    .map((row) => [row.set, probability(row.probability.before), probability(row.probability.after)]);
  return [
    el("h3", {}, `The ${plural(keys, "label")}`),
    el("p", { class: "key-bits" }, `In sum ${bits(sum.before)} before, ${bits(sum.after)} after.`),
    note ? el("p", { class: "notice" }, note) : null,
    el("div", { class: "wide" }, beforeAfter(rows)),
  ].filter((node) => node !== null);
}

/** @param {string[][]} rows */
function beforeAfter(rows) {
  const body = rows.map(([name, ...figures]) =>
    el("tr", {}, el("td", {}, name), ...figures.map((figure) => el("td", { class: "number" }, figure))),
  );
  const caption = el("caption", {}, "Probability of the label");
  return table("plain before-after", ["Set", "Before", "After"], body, caption);
}
