/** The cells of a key as boxes; templates are moved between them by mouse or keyboard. */

import { truncate } from "../charts/svg.js";
import { announce, append, button, el, replaceContent, select } from "../dom.js";
import { plural } from "../format.js";
import { mergeCells, moveByStep, moveTemplate, splitCell } from "./draft.js";

const MAX_OPTION = 40; // characters of a menu

/** @typedef {import("./draft.js").Cells} Cells */
/**
 * @typedef {object} Board
 * @property {HTMLElement} node
 * @property {any[]} templates
 * @property {string[]} ids
 * @property {Cells} cells the cells shown
 * @property {string} picked the template that is picked up, if any
 * @property {Cells|null} before the cells when it was picked up
 * @property {string} dragged
 * @property {string} drawnState the state drawn last
 * @property {Map<string, string>} colourOf
 * @property {(cells: Cells) => void} onChange
 * @property {(cells: Cells) => Map<string, string>} colourCells
 */

/**
 * @param {any[]} templates
 * @param {Board["onChange"]} onChange
 * @param {Board["colourCells"]} colourCells
 * @returns {Board}
 */
export function createBoard(templates, onChange, colourCells) {
  const node = el("div", { class: "board", role: "group", "aria-label": "Entities of the label" });
  const ids = templates.map((template) => template.id);
  const state = { picked: "", before: null, dragged: "", drawnState: "" };
  /** @type {Board} */
  const board = {
    node,
    templates,
    ids,
    cells: [],
    colourOf: new Map(),
    onChange,
    colourCells,
    ...state,
  };
  node.addEventListener("keydown", (event) => onKey(board, event));
  return board;
}

/**
 * Draw the cells unless they are unchanged: replacing a box would lose a click in progress.
 * @param {Board} board
 * @param {Cells} cells
 */
export function showCells(board, cells) {
  const state = JSON.stringify([cells, board.picked]);
  if (state === board.drawnState) return;
  board.drawnState = state;
  board.cells = cells;
  board.colourOf = board.colourCells(cells);
  const focused = board.node.contains(document.activeElement)
    ? document.activeElement?.getAttribute("data-chip")
    : "";
  replaceContent(board.node, ...cells.map((cell, n) => cellBox(board, cell, n)), newCellBox(board));
  board.node.classList.toggle("holding", Boolean(board.picked));
  focusChip(board, board.picked || focused || "");
}

/** @param {Board} board @param {string} id */
function focusChip(board, id) {
  const chips = /** @type {NodeListOf<HTMLElement>} */ (board.node.querySelectorAll("[data-chip]"));
  if (id) [...chips].find((chipItem) => chipItem.getAttribute("data-chip") === id)?.focus();
}

/** @param {Board} board @param {string[]} cell @param {number} n */
function cellBox(board, cell, n) {
  const name = `Entity ${n + 1}`;
  const box = el("section", {
    class: `cell-box ${board.colourOf.get(cell[0]) ?? ""}`,
    "aria-label": name,
    "data-cell": cell[0],
  });
  const tools = el("div", { class: "cell-tools" }, ...cellTools(board, cell, n));
  const head = el(
    "header",
    {},
    el("h2", {}, name),
    el("span", { class: "quiet" }, plural(cell.length, "mention")),
  );
  append(box, head, el("ul", { class: "chips" }, ...cell.map((id) => chipItem(board, id))), tools);
  return makeDropTarget(board, box, cell[0]);
}

/** @param {Board} board @param {string[]} cell @param {number} n */
function cellTools(board, cell, n) {
  const { cells, ids } = board;
  if (board.picked)
    return cell.includes(board.picked)
      ? []
      : [putHereButton(board, cell[0], `Put ${board.picked} into entity ${n + 1}`)];
  const text = new Map(board.templates.map((template) => [template.id, template.text]));
  const others = cells.map((other, m) => {
    const words = truncate(other.map((id) => text.get(id) || id).join(", "), MAX_OPTION);
    return /** @type {[string, string]} */ ([other[0], `entity ${m + 1}: ${words}`]);
  });
  const options = /** @type {[string, string][]} */ ([
    ["", "Merge with…"],
    ...others.filter((_, m) => m !== n),
  ]);
  const onMerge = (/** @type {string} */ to) =>
    to && finishMove(board, mergeCells(cells, cell[0], to, ids), "Entities merged");
  return [
    cell.length > 1
      ? button("Split", () => finishMove(board, splitCell(cells, cell[0], ids), "Entity split"), {
          "aria-label": `Split entity ${n + 1}`,
        })
      : null,
    cells.length > 1
      ? select(options, "", onMerge, { "aria-label": `Merge entity ${n + 1} with` })
      : null,
  ].filter((tool) => tool !== null);
}

/** @param {Board} board @param {string|null} to @param {string} name */
function putHereButton(board, to, name) {
  return button(
    "Put here",
    () =>
      finishMove(
        board,
        moveTemplate(board.cells, board.picked, to, board.ids),
        `${board.picked} put down`,
      ),
    { "aria-label": name },
  );
}

/** The drop target for a new cell. @param {Board} board */
function newCellBox(board) {
  const box = el(
    "section",
    { class: "cell-box new-cell", "aria-label": "New entity" },
    el("p", { class: "quiet" }, "New entity: drop a mention here"),
  );
  if (board.picked) append(box, putHereButton(board, null, `Put ${board.picked} into a new entity`));
  return makeDropTarget(board, box, null);
}

/** @param {Board} board @param {string} id */
function chipItem(board, id) {
  const { text = "" } = board.templates.find((template) => template.id === id) ?? {};
  const picked = board.picked === id;
  const attributes = {
    type: "button",
    class: picked ? "chip-button picked" : "chip-button",
    draggable: "true",
    "data-chip": id,
    "aria-pressed": String(picked),
    "aria-describedby": "board-help",
    on: {
      click: () => pickUpOrPutDown(board, id),
      dragstart: (/** @type {DragEvent} */ event) => startDrag(board, id, event),
    },
  };
  return el("li", {}, el("button", attributes, el("b", {}, id), ` ${text}`));
}

/** @param {Board} board @param {string} id @param {DragEvent} event */
function startDrag(board, id, event) {
  board.dragged = id;
  event.dataTransfer?.setData("text/plain", id);
}

/**
 * Make a box accept dropped templates.
 * @param {Board} board
 * @param {HTMLElement} box
 * @param {string|null} to
 */
function makeDropTarget(board, box, to) {
  const highlight = (/** @type {boolean} */ on) => box.classList.toggle("over", on);
  box.addEventListener("dragover", (event) => {
    event.preventDefault();
    highlight(true);
  });
  box.addEventListener("dragleave", () => highlight(false));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    if (board.dragged)
      finishMove(
        board,
        moveTemplate(board.cells, board.dragged, to, board.ids),
        `${board.dragged} moved`,
      );
    board.dragged = "";
  });
  return box;
}

/**
 * Pick up a template, or put down the one that is picked up.
 * @param {Board} board
 * @param {string} id
 */
function pickUpOrPutDown(board, id) {
  if (board.picked) {
    const cells =
      board.picked === id ? board.cells : moveTemplate(board.cells, board.picked, id, board.ids);
    return finishMove(board, cells, `${board.picked} put down`);
  }
  board.picked = id;
  board.before = board.cells;
  showCells(board, board.cells);
  announce(
    `${id} picked up. Use the arrow keys to move it, Enter to put it down, Escape to cancel.`,
  );
}

/**
 * Complete a move and report the change.
 * @param {Board} board
 * @param {Cells} cells
 * @param {string} message
 */
function finishMove(board, cells, message) {
  const picked = board.picked;
  const before = board.before ?? board.cells;
  board.picked = "";
  board.before = null;
  showCells(board, cells);
  focusChip(board, picked);
  announce(message);
  if (JSON.stringify(before) !== JSON.stringify(cells)) board.onChange(cells);
}

/** @param {Board} board @param {KeyboardEvent} event */
function onKey(board, event) {
  const id = /** @type {Element} */ (event.target).getAttribute("data-chip");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? 0;
  if (board.picked && event.key === "Escape")
    return finishMove(board, board.before ?? board.cells, `${board.picked} put back`);
  if (!id || !step) return;
  event.preventDefault();
  if (board.picked) carryPicked(board, step);
  else moveFocus(board, id, step);
}

/** @param {Board} board @param {number} step */
function carryPicked(board, step) {
  showCells(board, moveByStep(board.cells, board.picked, step, board.ids));
  const n = board.cells.findIndex((cell) => cell.includes(board.picked));
  const mates = board.cells[n].filter((id) => id !== board.picked);
  announce(
    `${board.picked} in cell ${n + 1}, ${mates.length ? `with ${mates.join(", ")}` : "alone"}`,
  );
}

/**
 * Move the focus from template to template.
 * @param {Board} board
 * @param {string} id
 * @param {number} step
 */
function moveFocus(board, id, step) {
  const order = board.cells.flat();
  focusChip(board, order[(order.indexOf(id) + step + order.length) % order.length]);
}
