/** The Why view: explain one pair by its features and by the other templates of its set. */

import * as api from "../api.js";
import { el, replaceContent } from "../dom.js";
import { cellColours } from "../parts/cells.js";
import { explanationNodes } from "../parts/explanation.js";
import { annotatedText, paintMarks } from "../parts/marked_text.js";
import { pairTable } from "../parts/pair_table.js";
import { emptyPanel, errorPanel } from "../parts/panels.js";
import { pickSet } from "../parts/set_menus.js";
import { replaceRoute } from "../router.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, route) {
  const picked = route.run ? await pickSet({ ...route, view: "why" }) : null;
  if (!picked?.set) {
    replaceContent(
      root,
      emptyPanel("No pair to explain", "No two mentions of this run can be the same."),
      picked?.tools,
    );
    return {};
  }
  const { message, set, tools } = picked;
  const { text, close } = annotatedText(message);
  paintMarks(text, cellColours(message.sets, [message.entities.map((one) => one.templates)]));
  const view = {
    run: route.run,
    message,
    set,
    text,
    table: el("div", {}),
    answer: explanationPanel(),
  };
  pickFromText(view);
  const valid = [route.left, route.right].every((id) => templateIds(set).includes(id));
  drawPair(view, valid ? [route.left, route.right] : mostMoved(set));
  replaceContent(root, tools, leftColumn(view), view.answer);
  return { close };
}

/** @param {ResultSet} set @returns {string[]} */
const templateIds = (set) => set.templates.map((template) => template.id);

const explanationPanel = () =>
  el("section", { class: "panel answer", "aria-live": "polite", "aria-label": "Explanation" });

/** @param {any} view */
function leftColumn(view) {
  const hint = el(
    "p",
    { class: "quiet hint" },
    "Choose a pair in the table, or click two mentions in the text.",
  );
  return el(
    "div",
    { class: "column" },
    el("div", { class: "panel" }, el("h1", {}, `Which mentions of ${view.set.set} are the same`), view.table, hint),
    el("div", { class: "panel" }, view.text),
  );
}

/**
 * Return the pair whose probability the rest of the set changed most, else the least certain one.
 * @param {ResultSet} set
 * @returns {[string, string]}
 */
function mostMoved(set) {
  const shift = (/** @type {any} */ pair) => Math.abs(pair.probability - pair.marginal);
  const doubt = (/** @type {any} */ pair) => Math.abs(pair.marginal - 0.5);
  const [most] = [...set.pairs].sort((a, b) => shift(b) - shift(a) || doubt(a) - doubt(b));
  return most ? [most.left, most.right] : [templateIds(set)[0], templateIds(set)[1]];
}

/** Let two clicks in the text choose a pair. @param {any} view */
function pickFromText(view) {
  let first = "";
  view.text.addEventListener("click", (/** @type {any} */ event) => {
    const id = event.target.closest("[data-template]")?.getAttribute("data-template");
    if (!templateIds(view.set).includes(id)) return;
    const pair = first && first !== id ? inTextOrder(view.set, first, id) : null;
    first = pair ? "" : id;
    if (pair) drawPair(view, pair);
    else outlineMarks(view.text, [id]);
  });
}

/** @param {ResultSet} set @param {string} a @param {string} b @returns {[string, string]} */
const inTextOrder = (set, a, b) =>
  templateIds(set).indexOf(a) < templateIds(set).indexOf(b) ? [a, b] : [b, a];

/** @param {HTMLElement} text @param {string[]} chosen */
function outlineMarks(text, chosen) {
  for (const mark of text.querySelectorAll(".mark")) {
    mark.classList.toggle("picked", chosen.includes(mark.getAttribute("data-template") ?? ""));
  }
}

/** @param {any} view @param {[string, string]} pair */
async function drawPair(view, pair) {
  const focused =
    view.table.contains(document.activeElement) &&
    document.activeElement?.getAttribute("aria-label");
  replaceContent(
    view.table,
    pairTable(view.set, pair, (a, b) => drawPair(view, [a, b])),
  );
  if (focused)
    [...view.table.querySelectorAll("button")]
      .find((cell) => cell.getAttribute("aria-label") === focused)
      ?.focus();
  outlineMarks(view.text, pair);
  view.pair = pair;
  const [left, right] = pair;
  replaceRoute({ run: view.run, message: view.message.message, set: view.set.set, left, right });
  replaceContent(view.answer, el("p", { class: "quiet" }, "Loading…"));
  const content = await api
    .why(view.run, view.set.set, ...pair)
    .then(explanationNodes, (error) => [
      errorPanel("The pair could not be explained", error, () => drawPair(view, pair)),
    ]);
  if (view.pair === pair) replaceContent(view.answer, ...content);
}
