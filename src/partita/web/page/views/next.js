/** Next: which set to key next, training on what is keyed, and what the keys have taught. */

import * as api from "../calls.js";
import { curve } from "../charts/curve.js";
import { reliability } from "../charts/reliability.js";
import { fitted } from "../charts/svg.js";
import { el, refill } from "../dom.js";
import { bits, plural } from "../numbers.js";
import { bar } from "../parts/bar.js";
import { training } from "../parts/training.js";
import { nothing, trouble } from "../parts/trouble.js";
import { address } from "../place.js";

/** @typedef {import("../types.js").NextSet} NextSet */
/** @typedef {import("../types.js").Taught} Taught */

const MOST = 10;
const HINT = "The key of the first one is expected to teach the model most.";

/** @param {HTMLElement} root @param {import("../place.js").Place} place */
export async function show(root, { run }) {
  if (!run) {
    refill(root, nothing("Nothing to key", "There is no run yet."));
    return {};
  }
  const [sets, taught] = [panel("Key next"), panel("What the keys taught")];
  const look = () => {
    filled(sets, async () => setRows(run, await api.next(run, MOST)));
    filled(taught, async () => taughtBy(await api.curve(run)));
  };
  const trained = training(run, look);
  const train = el("section", { class: "panel", "aria-label": "Train" });
  refill(train, el("h2", {}, "Train"), trained.node);
  const title = el("h1", { class: "unseen" }, "What to key next, and what the keys taught");
  refill(root, title, el("div", { class: "column" }, sets, train), taught);
  look();
  return { close: () => (trained.open = false) };
}

/** @param {string} title */
function panel(title) {
  const waiting = el("p", { class: "quiet" }, "Looking…");
  return el("section", { class: "panel", "aria-label": title }, el("h2", {}, title), waiting);
}

/**
 * Fill a panel below its title when the answer comes.
 * @param {HTMLElement} node
 * @param {() => Promise<Node[]>} ask
 */
async function filled(node, ask) {
  const title = node.firstChild;
  const again = () => filled(node, ask);
  const made = await ask().catch((error) => [trouble(error, again)]);
  refill(node, title, ...made);
}

/** @param {string} run @param {NextSet[]} sets */
function setRows(run, sets) {
  if (!sets.length) return [el("p", {}, "Every set that could teach something is keyed.")];
  const most = Math.max(...sets.map((one) => one.gain), 1e-9);
  const rows = sets.map((one) => setRow(run, one, most));
  return [el("p", { class: "quiet" }, HINT), el("ol", { class: "next-rows" }, ...rows)];
}

/** @param {string} run @param {NextSet} one @param {number} most */
function setRow(run, one, most) {
  const href = address("key", { run, message: one.message, set: one.set });
  const said = ` ${plural(one.templates, "template")}, ${bits(one.entropy_bits)} uncertain`;
  const name = el("span", {}, el("a", { href }, one.set), el("span", { class: "quiet" }, said));
  const number = el("span", { class: "number" }, `gain ${bits(one.gain)}`);
  return el("li", {}, name, el("span", { class: "figure-line" }, number, bar(one.gain / most)));
}

/** @param {Taught} told */
function taughtBy({ points, reliability: { before, after } }) {
  if (!points.length) return [el("p", {}, "Nothing yet: first write a key.")];
  const few = points.length < 2 && el("p", {}, "Keys of two messages make it a curve.");
  return [
    el("h3", {}, "Learning curve"),
    note("Bits per template on keys that were held out; less is better."),
    fitted((width) => curve(points, width)),
    few,
    el("h3", {}, "Reliability"),
    note("What was predicted of pairs against what the keys say; on the line it is honest."),
    fitted((width) => reliability(before, after, width)),
    legend(),
  ].filter((one) => one !== false);
}

/** @param {string} text */
const note = (text) => el("p", { class: "quiet" }, text);

/** Which marks are which. */
function legend() {
  const names = ["before", "after"].map((one) => el("span", { class: one }, `${one} training`));
  return el("p", { class: "chart-legend" }, ...names);
}
