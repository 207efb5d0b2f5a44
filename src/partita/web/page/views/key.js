/** Key: who is who in one set, written by a person; every change is saved at once. */

import { button, el, labelled, refill } from "../dom.js";
import { back, confirm, look, named, openDesk } from "../keying/desk.js";
import { send } from "../keying/keeper.js";
import { picked } from "../parts/picked.js";
import { nothing } from "../parts/trouble.js";
import { address, note } from "../place.js";

const LOOK = 4000;
const HELP =
  "Drag a template into another cell. By keyboard: Enter picks a template up, arrow keys carry " +
  "it from cell to cell, Enter puts it down, Escape puts it back, Ctrl+Z undoes.";

/** @typedef {import("../keying/desk.js").Desk} Desk */

/** @param {HTMLElement} root @param {import("../place.js").Place} place */
export async function show(root, place) {
  const found = place.run ? await picked({ ...place, view: "key" }) : null;
  if (!found?.set) {
    refill(
      root,
      found?.tools,
      nothing("Nothing to key", "No templates that may corefer are here."),
    );
    return {};
  }
  const { message, set, tools } = found;
  note({ run: place.run, message: message.message, set: set.set });
  const status = el("p", { class: "status", role: "status" }, "Every change is saved at once.");
  const desk = await openDesk(place.run, message, set, (...told) => tell(status, ...told));
  refill(root, tools, textPanel(desk), keyPanel(desk, status));
  return watched(desk);
}

/** Look for the keys of others, and listen for undo, until the view is left. @param {Desk} desk */
function watched(desk) {
  const looking = setInterval(() => look(desk), LOOK);
  const undone = (/** @type {KeyboardEvent} */ event) => shortcut(desk, event);
  const leaving = (/** @type {Event} */ event) => desk.keeper.waiting && event.preventDefault();
  document.addEventListener("keydown", undone);
  addEventListener("beforeunload", leaving);
  const close = () => {
    clearInterval(looking);
    document.removeEventListener("keydown", undone);
    removeEventListener("beforeunload", leaving);
    desk.close();
  };
  return { close };
}

/** @param {Desk} desk @param {KeyboardEvent} event */
function shortcut(desk, event) {
  const typing = /** @type {Element} */ (event.target).matches("input:not([type=radio]), textarea");
  if (typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  event.preventDefault();
  back(desk, event.shiftKey);
}

/** @param {Desk} desk */
function textPanel(desk) {
  const title = el("h1", {}, `Key of ${desk.set.set}`);
  return el(
    "div",
    { class: "column" },
    el("div", { class: "panel text-panel" }, title, desk.text),
    desk.others,
  );
}

/** @param {Desk} desk @param {HTMLElement} status */
function keyPanel(desk, status) {
  const [undone, redone] = [
    button("Undo", () => back(desk, false)),
    button("Redo", () => back(desk, true)),
  ];
  const right = button("This is right", () => confirm(desk), { class: "main-button" });
  const warning = el("p", { class: "noted", hidden: true });
  desk.drawn = () => {
    /** @type {HTMLButtonElement} */ (undone).disabled = !desk.history.done.length;
    /** @type {HTMLButtonElement} */ (redone).disabled = !desk.history.undone.length;
    warn(desk, warning);
  };
  desk.drawn();
  return el(
    "div",
    { class: "panel key-panel" },
    el("div", { class: "key-tools" }, author(desk), right, undone, redone),
    status,
    el("p", { class: "quiet hint", id: "board-help" }, HELP),
    desk.board.node,
    warning,
    el("h2", {}, "Unsure?"),
    desk.unsure,
    el("p", { class: "links" }, el("a", { href: address("next") }, "Which set to key next")),
  );
}

/** @param {Desk} desk */
function author(desk) {
  const changed = (/** @type {any} */ event) => named(desk, event.target.value.trim());
  const given = { type: "text", maxlength: "200", autocomplete: "name", value: desk.keeper.author };
  return labelled("Your name", el("input", { ...given, id: "author", on: { change: changed } }));
}

/**
 * Two templates that cannot corefer in one cell: no model can find such a key.
 * @param {Desk} desk
 * @param {HTMLElement} node
 */
function warn(desk, node) {
  const cells = desk.board.cells;
  const bad = desk.set.incompatible.find(([a, b]) =>
    cells.some((cell) => cell.includes(a) && cell.includes(b)),
  );
  node.hidden = !bad;
  node.textContent = bad
    ? `${bad[0]} and ${bad[1]} are incompatible by their slots: no model can find this key.`
    : "";
}

/**
 * What became of the last change.
 * @param {HTMLElement} node
 * @param {Desk} desk
 * @param {string} state
 * @param {any} [detail]
 */
function tell(node, desk, state, detail) {
  const words = {
    name: () => ["Say your name: a key is saved under its author."],
    saving: () => ["Saving…"],
    saved: () => [
      `Saved as key ${detail.key} of ${desk.keeper.author}, ${new Date().toLocaleTimeString()}`,
    ],
    failed: () => [
      `Not saved, kept in this browser: ${detail.message} `,
      button("Save again", () => send(desk.keeper)),
    ],
  }[state];
  node.className = `status ${state}`;
  refill(node, ...(words?.() ?? []));
  if (state === "name") document.getElementById("author")?.focus();
}
