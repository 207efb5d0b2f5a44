/** Why: each feature's push on one pair, and what the other templates of the set did to it. */

import * as api from "../calls.js";
import { colours } from "../colours.js";
import { el, refill } from "../dom.js";
import { describedText, paintMarks } from "../parts/message.js";
import { matrix } from "../parts/matrix.js";
import { picked } from "../parts/picked.js";
import { told } from "../parts/reasons.js";
import { nothing, trouble } from "../parts/trouble.js";
import { note } from "../place.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */

/** @param {HTMLElement} root @param {import("../place.js").Place} place */
export async function show(root, place) {
  const found = place.run ? await picked({ ...place, view: "why" }) : null;
  if (!found?.set) {
    refill(
      root,
      nothing("No pair to explain", "This run has no set of templates that may corefer."),
      found?.tools,
    );
    return {};
  }
  const { message, set, tools } = found;
  const { text, close } = describedText(message);
  paintMarks(text, colours(message.sets, message.sets.map(bestCells)));
  const view = { run: place.run, message, set, text, table: el("div", {}), answer: answerBox() };
  picks(view);
  const asked = [place.left, place.right].every((id) => ids(set).includes(id));
  draw(view, asked ? [place.left, place.right] : mostMoved(set));
  refill(root, tools, left(view), view.answer);
  return { close };
}

/** @param {ResultSet} set */
const bestCells = (set) => set.configurations[0].cells;

/** @param {ResultSet} set @returns {string[]} */
const ids = (set) => set.templates.map((one) => one.id);

const answerBox = () =>
  el("section", { class: "panel answer", "aria-live": "polite", "aria-label": "The pair" });

/** @param {any} view */
function left(view) {
  const hint = el(
    "p",
    { class: "quiet hint" },
    "Choose a pair in the table, or two templates of the set in the text.",
  );
  return el(
    "div",
    { class: "column" },
    el("div", { class: "panel" }, el("h1", {}, `Pairs of ${view.set.set}`), view.table, hint),
    el("div", { class: "panel" }, view.text),
  );
}

/**
 * The pair that the rest of the set moved most.
 * @param {ResultSet} set
 * @returns {[string, string]}
 */
function mostMoved(set) {
  const far = (/** @type {any} */ one) => Math.abs(one.probability - one.marginal);
  const [most] = [...set.pairs].sort((a, b) => far(b) - far(a));
  return most ? [most.left, most.right] : [ids(set)[0], ids(set)[1]];
}

/** Two templates clicked in the text are a pair. @param {any} view */
function picks(view) {
  let first = "";
  view.text.addEventListener("click", (/** @type {any} */ event) => {
    const id = event.target.closest("[data-template]")?.getAttribute("data-template");
    if (!ids(view.set).includes(id)) return;
    const two = first && first !== id ? ordered(view.set, first, id) : null;
    first = two ? "" : id;
    if (two) draw(view, two);
    else point(view.text, [id]);
  });
}

/** @param {ResultSet} set @param {string} a @param {string} b @returns {[string, string]} */
const ordered = (set, a, b) => (ids(set).indexOf(a) < ids(set).indexOf(b) ? [a, b] : [b, a]);

/** @param {HTMLElement} text @param {string[]} chosen */
function point(text, chosen) {
  for (const mark of text.querySelectorAll(".mark")) {
    mark.classList.toggle("picked", chosen.includes(mark.getAttribute("data-template") ?? ""));
  }
}

/** @param {any} view @param {[string, string]} pair */
async function draw(view, pair) {
  const held =
    view.table.contains(document.activeElement) &&
    document.activeElement?.getAttribute("aria-label");
  refill(
    view.table,
    matrix(view.set, pair, (a, b) => draw(view, [a, b])),
  );
  if (held)
    [...view.table.querySelectorAll("button")]
      .find((one) => one.getAttribute("aria-label") === held)
      ?.focus();
  point(view.text, pair);
  view.asked = pair;
  note({
    run: view.run,
    message: view.message.message,
    set: view.set.set,
    left: pair[0],
    right: pair[1],
  });
  refill(view.answer, el("p", { class: "quiet" }, "Looking…"));
  const made = await api
    .why(view.run, view.set.set, ...pair)
    .then(told, (error) => [trouble(error, () => draw(view, pair))]);
  if (view.asked === pair) refill(view.answer, ...made);
}
