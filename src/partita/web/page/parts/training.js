/** Training on the keys of a run: started by a button, followed until it ends. */

import * as api from "../api.js";
import { announce, button, el, replaceContent } from "../dom.js";
import { bits } from "../format.js";
import { hrefFor } from "../router.js";
import { refreshRuns } from "../run_menu.js";
import { errorPanel } from "./panels.js";

/** @typedef {import("../types.js").Job} Job */
/** @typedef {{run: string, node: HTMLElement, open: boolean, done: () => void}} Training */

const POLL_INTERVAL = 700;
const HINT =
  "Trains on all keys of this run, starting from the run's parameters, and resolves its messages " +
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
  const start = button("Train on the keys of this run", () => startTraining(panel), {
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
    drawOffer(
      panel,
      errorPanel("Training failed", error, () => startTraining(panel)),
    );
  }
}

/** @param {Training} panel @param {string} job */
async function followJob(panel, job) {
  const status = el("p", { class: "status", role: "status" }, "Waiting…");
  replaceContent(panel.node, status, el("progress", { "aria-label": "Training" }));
  try {
    const result = await waitForJob(panel, job, status);
    if (!result) return;
    sessionStorage.removeItem(jobKey(panel.run));
    await showResult(panel, result.run);
  } catch (error) {
    sessionStorage.removeItem(jobKey(panel.run));
    drawOffer(
      panel,
      errorPanel("Training failed", error, () => startTraining(panel)),
    );
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

/** @param {Training} panel @param {string} run the new run */
async function showResult(panel, run) {
  const runs = await refreshRuns();
  const [before, after] = [panel.run, run].map((name) => runs.find((item) => item.name === name));
  const link = el("a", { href: hrefFor("read", { run, set: "" }) }, run);
  const status = el(
    "p",
    { class: "status saved", role: "status" },
    "Trained. The new run is ",
    link,
  );
  const [bitsBefore, bitsAfter] = [before, after].map((item) => bits(item?.entropy_bits));
  const change = `Uncertainty: ${bitsBefore} in this run, ${bitsAfter} in the new one.`;
  drawOffer(panel, status, el("p", {}, change));
  announce(`Trained. The new run is ${run}`);
  panel.done();
}
