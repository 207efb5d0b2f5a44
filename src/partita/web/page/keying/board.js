/** The cells of a key as boxes: templates are dragged between them, or picked up and put down. */

import { button, el, fill, refill, say, select } from "../dom.js";
import { plural } from "../numbers.js";
import { merge, move, moveBy, split } from "./draft.js";

/** @typedef {import("./draft.js").Cells} Cells */
/**
 * @typedef {object} Board
 * @property {HTMLElement} node
 * @property {any[]} templates
 * @property {string[]} ids
 * @property {Cells} cells what is shown
 * @property {string} picked the template in the hand, if any
 * @property {Cells|null} before the cells when it was picked up
 * @property {string} dragged
 * @property {string} shown what was drawn last
 * @property {Map<string, string>} colour
 * @property {(cells: Cells) => void} changed
 * @property {(cells: Cells) => Map<string, string>} paint
 */

/**
 * @param {any[]} templates
 * @param {Board["changed"]} changed
 * @param {Board["paint"]} paint
 * @returns {Board}
 */
export function board(templates, changed, paint) {
  const node = el("div", { class: "board", role: "group", "aria-label": "Cells of the key" });
  const ids = templates.map((one) => one.id);
  const hand = { picked: "", before: null, dragged: "", shown: "" };
  const made = { node, templates, ids, cells: [], colour: new Map(), changed, paint, ...hand };
  node.addEventListener("keydown", (event) => pressed(made, event));
  return made;
}

/**
 * Draw the cells, unless they are there: a box that goes while it is clicked is not clicked.
 * @param {Board} one
 * @param {Cells} cells
 */
export function showCells(one, cells) {
  const state = JSON.stringify([cells, one.picked]);
  if (state === one.shown) return;
  one.shown = state;
  one.cells = cells;
  one.colour = one.paint(cells);
  const held = one.node.contains(document.activeElement)
    ? document.activeElement?.getAttribute("data-chip")
    : "";
  refill(one.node, ...cells.map((cell, n) => box(one, cell, n)), alone(one));
  one.node.classList.toggle("holding", Boolean(one.picked));
  focusChip(one, one.picked || held || "");
}

/** @param {Board} one @param {string} id */
function focusChip(one, id) {
  const chips = /** @type {NodeListOf<HTMLElement>} */ (one.node.querySelectorAll("[data-chip]"));
  if (id) [...chips].find((chip) => chip.getAttribute("data-chip") === id)?.focus();
}

/** @param {Board} one @param {string[]} cell @param {number} n */
function box(one, cell, n) {
  const name = `Cell ${n + 1}`;
  const made = el("section", {
    class: `cell-box ${one.colour.get(cell[0]) ?? ""}`,
    "aria-label": name,
    "data-cell": cell[0],
  });
  const tools = el("div", { class: "cell-tools" }, ...toolsOf(one, cell, n));
  const head = el(
    "header",
    {},
    el("h3", {}, name),
    el("span", { class: "quiet" }, plural(cell.length, "template")),
  );
  fill(made, head, el("ul", { class: "chips" }, ...cell.map((id) => chip(one, id))), tools);
  return landing(one, made, cell[0]);
}

/** @param {Board} one @param {string[]} cell @param {number} n */
function toolsOf(one, cell, n) {
  const { cells, ids } = one;
  if (one.picked)
    return cell.includes(one.picked)
      ? []
      : [putHere(one, cell[0], `Put ${one.picked} into cell ${n + 1}`)];
  const others = cells.map(
    (other, m) => /** @type {[string, string]} */ ([other[0], `cell ${m + 1}: ${other.join(" ")}`]),
  );
  const options = /** @type {[string, string][]} */ ([
    ["", "Merge with…"],
    ...others.filter((_, m) => m !== n),
  ]);
  const merged = (/** @type {string} */ to) =>
    to && finish(one, merge(cells, cell[0], to, ids), `Cells merged`);
  return [
    cell.length > 1
      ? button("Split", () => finish(one, split(cells, cell[0], ids), "Cell split"), {
          "aria-label": `Split cell ${n + 1}`,
        })
      : null,
    cells.length > 1
      ? select(options, "", merged, { "aria-label": `Merge cell ${n + 1} with` })
      : null,
  ].filter((made) => made !== null);
}

/** @param {Board} one @param {string|null} to @param {string} name */
function putHere(one, to, name) {
  return button(
    "Put here",
    () => finish(one, move(one.cells, one.picked, to, one.ids), `${one.picked} put down`),
    { "aria-label": name },
  );
}

/** The place for a new cell. @param {Board} one */
function alone(one) {
  const made = el(
    "section",
    { class: "cell-box new-cell", "aria-label": "A new cell" },
    el("p", { class: "quiet" }, "A new cell: drop here"),
  );
  if (one.picked) fill(made, putHere(one, null, `Put ${one.picked} into a new cell`));
  return landing(one, made, null);
}

/** @param {Board} one @param {string} id */
function chip(one, id) {
  const { text = "" } = one.templates.find((template) => template.id === id) ?? {};
  const now = one.picked === id;
  const given = {
    type: "button",
    class: now ? "chip-button picked" : "chip-button",
    draggable: "true",
    "data-chip": id,
    "aria-pressed": String(now),
    "aria-describedby": "board-help",
    on: {
      click: () => pick(one, id),
      dragstart: (/** @type {DragEvent} */ event) => lift(one, id, event),
    },
  };
  return el("li", {}, el("button", given, el("b", {}, id), ` ${text}`));
}

/** @param {Board} one @param {string} id @param {DragEvent} event */
function lift(one, id, event) {
  one.dragged = id;
  event.dataTransfer?.setData("text/plain", id);
}

/**
 * Let templates be dropped on a box.
 * @param {Board} one
 * @param {HTMLElement} made
 * @param {string|null} to
 */
function landing(one, made, to) {
  const light = (/** @type {boolean} */ on) => made.classList.toggle("over", on);
  made.addEventListener("dragover", (event) => {
    event.preventDefault();
    light(true);
  });
  made.addEventListener("dragleave", () => light(false));
  made.addEventListener("drop", (event) => {
    event.preventDefault();
    if (one.dragged) finish(one, move(one.cells, one.dragged, to, one.ids), `${one.dragged} moved`);
    one.dragged = "";
  });
  return made;
}

/** Pick a template up, or put down what is in the hand. @param {Board} one @param {string} id */
function pick(one, id) {
  if (one.picked) {
    const to = one.picked === id ? one.cells : move(one.cells, one.picked, id, one.ids);
    return finish(one, to, `${one.picked} put down`);
  }
  one.picked = id;
  one.before = one.cells;
  showCells(one, one.cells);
  say(`${id} picked up. Arrow keys move it, Enter puts it down, Escape puts it back.`);
}

/** What was done is done. @param {Board} one @param {Cells} cells @param {string} said */
function finish(one, cells, said) {
  const held = one.picked;
  const before = one.before ?? one.cells;
  one.picked = "";
  one.before = null;
  showCells(one, cells);
  focusChip(one, held);
  say(said);
  if (JSON.stringify(before) !== JSON.stringify(cells)) one.changed(cells);
}

/** @param {Board} one @param {KeyboardEvent} event */
function pressed(one, event) {
  const id = /** @type {Element} */ (event.target).getAttribute("data-chip");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? 0;
  if (one.picked && event.key === "Escape")
    return finish(one, one.before ?? one.cells, `${one.picked} put back`);
  if (!id || !step) return;
  event.preventDefault();
  if (one.picked) carry(one, step);
  else walk(one, id, step);
}

/** @param {Board} one @param {number} step */
function carry(one, step) {
  showCells(one, moveBy(one.cells, one.picked, step, one.ids));
  const n = one.cells.findIndex((cell) => cell.includes(one.picked));
  const mates = one.cells[n].filter((id) => id !== one.picked);
  say(`${one.picked} in cell ${n + 1}, ${mates.length ? `with ${mates.join(", ")}` : "alone"}`);
}

/**
 * The focus goes from template to template.
 * @param {Board} one
 * @param {string} id
 * @param {number} step
 */
function walk(one, id, step) {
  const order = one.cells.flat();
  focusChip(one, order[(order.indexOf(id) + step + order.length) % order.length]);
}
