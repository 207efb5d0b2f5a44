/** Training on the keys of a run: begun by a button, followed until it is done, also later. */

import * as api from "../calls.js";
import { renew } from "../chooser.js";
import { button, el, refill, say } from "../dom.js";
import { bits } from "../numbers.js";
import { address } from "../place.js";
import { trouble } from "./trouble.js";

/** @typedef {import("../types.js").Job} Job */
/** @typedef {{run: string, node: HTMLElement, open: boolean, done: () => void}} Training */

const ASK = 700;
const HINT =
  "Learns from all keys of this run, around the parameters that it was made with, and resolves " +
  "its messages with what was learned, as a new run.";

/** @param {string} run @param {() => void} done @returns {Training} */
export function training(run, done) {
  const made = { run, done, open: true, node: el("div", { class: "training" }) };
  const job = sessionStorage.getItem(place(run));
  if (job) follow(made, job);
  else offer(made);
  return made;
}

/** Where the job is kept that still goes on. @param {string} run */
const place = (run) => `partita.job\n${run}`;

/** @param {Training} one @param {...Node} more */
function offer(one, ...more) {
  const go = button("Train on the keys of this run", () => begin(one), { class: "main-button" });
  refill(one.node, el("p", { class: "quiet" }, HINT), go, ...more);
}

/** @param {Training} one */
async function begin(one) {
  try {
    const { job } = await api.train(one.run);
    sessionStorage.setItem(place(one.run), job);
    await follow(one, job);
  } catch (error) {
    offer(
      one,
      trouble(error, () => begin(one)),
    );
  }
}

/** @param {Training} one @param {string} job */
async function follow(one, job) {
  const words = el("p", { class: "status", role: "status" }, "Waiting…");
  refill(one.node, words, el("progress", { "aria-label": "Training" }));
  try {
    const result = await finished(one, job, words);
    if (!result) return;
    sessionStorage.removeItem(place(one.run));
    await tell(one, result.run);
  } catch (error) {
    sessionStorage.removeItem(place(one.run));
    offer(
      one,
      trouble(error, () => begin(one)),
    );
  }
}

/**
 * Ask how far a job is until it is done or the view is left.
 * @param {Training} one
 * @param {string} job
 * @param {HTMLElement} words
 */
async function finished(one, job, words) {
  while (one.open) {
    const told = await api.job(job);
    if (told.state === "failed") throw new Error(told.error ?? "training failed");
    if (told.state === "done") return told.result;
    words.textContent = told.progress || (told.state === "waiting" ? "Waiting…" : "Training…");
    await new Promise((go) => setTimeout(go, ASK));
  }
  return null;
}

/** @param {Training} one @param {string} run the new one */
async function tell(one, run) {
  const known = await renew();
  const [before, after] = [one.run, run].map((name) => known.find((it) => it.name === name));
  const link = el("a", { href: address("read", { run, set: "" }) }, run);
  const words = el(
    "p",
    { class: "status saved", role: "status" },
    "Trained. The new run is ",
    link,
  );
  const [was, is] = [before, after].map((it) => bits(it?.entropy_bits));
  const change = `${was} were uncertain in this run, ${is} are in the new one.`;
  offer(one, words, el("p", {}, change));
  say(`Trained. The new run is ${run}`);
  one.done();
}
