/** Training on the keys of a run: started by a button, followed until it ends. */

import * as api from "../api.js";
import { announce, button, el, replaceContent, table } from "../dom.js";
import { bits, plural, probability } from "../format.js";
import { hrefFor } from "../router.js";
import { refreshRuns } from "../run_menu.js";
import { errorPanel } from "./panels.js";

/** @typedef {{run: string, node: HTMLElement, open: boolean, done: () => void}} Training */

const POLL_INTERVAL = 700;
const HINT =
  "Trains on all labels of this run, starting from the run's parameters, and reads its texts " +
  "again as a new run.";

/** @param {string} run @param {() => void} done @returns {Training} */
export function trainingPanel(run, done) {
  const panel = { run, done, open: true, node: el("div", { class: "training" }) };
  const job = sessionStorage.getItem(jobKey(run));
  if (job) followJob(panel, job);
  else drawOffer(panel);
  return panel;
}

/** The storage key of the job that is running. @param {string} run */
const jobKey = (run) => `partita.job\n${run}`;

/** @param {Training} panel @param {...Node} nodes */
function drawOffer(panel, ...nodes) {
  const start = button("Train on the labels of this run", () => startTraining(panel), {
    class: "main-button",
  });
  replaceContent(panel.node, el("p", { class: "quiet" }, HINT), start, ...nodes);
}

/** @param {Training} panel */
async function startTraining(panel) {
  try {
    const { job } = await api.train(panel.run);
    sessionStorage.setItem(jobKey(panel.run), job);
    await followJob(panel, job);
  } catch (error) {
    drawFailure(panel, error);
  }
}

/** @param {Training} panel @param {any} error */
function drawFailure(panel, error) {
  const retry = () => startTraining(panel);
  drawOffer(panel, errorPanel("Training failed", error, retry));
}

/** @param {Training} panel @param {string} job */
async function followJob(panel, job) {
  const status = el("p", { class: "status", role: "status" }, "Waiting…");
  replaceContent(panel.node, status, el("progress", { "aria-label": "Training" }));
  try {
    const result = await waitForJob(panel, job, status);
    if (!result) return;
    sessionStorage.removeItem(jobKey(panel.run));
    await showResult(panel, result);
  } catch (error) {
    sessionStorage.removeItem(jobKey(panel.run));
    drawFailure(panel, error);
  }
}

/**
 * Poll a job until it ends or the view is closed.
 * @param {Training} panel
 * @param {string} job
 * @param {HTMLElement} status
 */
async function waitForJob(panel, job, status) {
  while (panel.open) {
    const state = await api.job(job);
    if (state.state === "failed") throw new Error(state.error ?? "training failed");
    if (state.state === "done") return state.result;
    status.textContent = state.progress || (state.state === "waiting" ? "Waiting…" : "Training…");
    await new Promise((resume) => setTimeout(resume, POLL_INTERVAL));
  }
  return null;
}

/** @typedef {import("../types.js").Trained} Trained */

/** @param {Training} panel @param {Trained} trained */
async function showResult(panel, trained) {
  await refreshRuns();
  const { run, report } = trained;
  const link = el("a", { href: hrefFor("read", { run, set: "" }) }, run);
  const text = run === panel.run ? "Trained. Nothing changed: " : "Trained. The new run is ";
  const status = el("p", { class: "status saved", role: "status" }, text, link);
  drawOffer(panel, status, ...reportNodes(report), ...elsewhereNodes(trained));
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
    beforeAfter("Probability of the label", rows),
  ].filter((node) => node !== null);
}

/** What changed in the sets without keys. @param {Trained} trained */
function elsewhereNodes({ run, elsewhere }) {
  if (!elsewhere.sets) return [];
  const { changed, most, sets, bits: sum } = elsewhere;
  const moved = changed ? `${plural(changed, "set")} of ${sets}` : `none of ${plural(sets, "set")}`;
  const rows = most.map((row) => [
    el("a", { href: hrefFor("read", { run, message: row.message, set: row.set }) }, row.set),
    probability(row.before),
    probability(row.after),
    row.same ? "" : "another",
  ]);
  return [
    el("h3", {}, "Elsewhere"),
    el(
      "p",
      { class: "elsewhere" },
      `The most probable answer changed in ${moved} without a label; their uncertainty was ` +
        `${bits(sum.before)} and is ${bits(sum.after)}.`,
    ),
    beforeAfter("Probability of the best answer", rows),
  ];
}

/** @param {string} caption @param {(Node|string)[][]} rows */
function beforeAfter(caption, rows) {
  const wide = rows.some((row) => row[3]);
  const names = ["Set", "Before", "After", ...(wide ? ["Answer"] : [])];
  const body = rows.map((row) =>
    el("tr", {}, ...row.slice(0, names.length).map((cell, n) => el("td", cellClass(n), cell))),
  );
  const shown = table("plain before-after", names, body, el("caption", {}, caption));
  return el("div", { class: "wide" }, shown);
}

/** @param {number} column */
const cellClass = (column) => (column === 1 || column === 2 ? { class: "number" } : {});
