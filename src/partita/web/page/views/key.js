/** The Key view: write the key (gold label) of one set; every change is saved immediately. */

import { button, el, labelled, replaceContent } from "../dom.js";
import {
  checkForKeys,
  confirmKey,
  openEditor,
  saveAndChoose,
  setAuthor,
  stepHistory,
  withdrawKey,
} from "../keying/editor.js";
import { sendNevertheless, sendPending } from "../keying/saver.js";
import { emptyPanel } from "../parts/panels.js";
import { pickSet } from "../parts/set_menus.js";
import { hrefFor, navigate, replaceRoute } from "../router.js";

const POLL_INTERVAL = 4000;
const HELP =
  "Drag a mention into another entity. By keyboard: Enter picks a mention up, the arrow keys " +
  "move it between entities, Enter puts it down, Escape cancels, Ctrl+Z undoes, Ctrl+Enter saves " +
  "and opens what to label next.";
const TOUCH_HELP = "Tap a mention, then tap Put here in another entity.";
const isTouch = matchMedia("(pointer: coarse)").matches;

/** @typedef {import("../keying/editor.js").Editor} Editor */

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, route) {
  const picked = route.run ? await pickSet({ ...route, view: "key" }) : null;
  if (!picked?.set) {
    replaceContent(
      root,
      picked?.tools,
      emptyPanel("Nothing to label", "No two mentions here can be the same."),
    );
    return {};
  }
  const { message, set, tools } = picked;
  replaceRoute({ run: route.run, message: message.message, set: set.set });
  const status = el("p", { class: "status", role: "status" }, "Every change is saved immediately.");
  const editor = await openEditor(route.run, message, set, (...details) =>
    showStatus(status, ...details),
  );
  const title = el("h1", {}, `Label ${set.set}`);
  replaceContent(root, title, keyPanel(editor, status), tools, textPanel(editor));
  return watchEditor(editor);
}

/** Check for keys by others and listen for undo until the view is closed. @param {Editor} editor */
function watchEditor(editor) {
  const timer = setInterval(() => checkForKeys(editor), POLL_INTERVAL);
  const onKey = (/** @type {KeyboardEvent} */ event) => onShortcut(editor, event);
  const onLeave = (/** @type {Event} */ event) => editor.saver.pending && event.preventDefault();
  document.addEventListener("keydown", onKey);
  addEventListener("beforeunload", onLeave);
  const close = () => {
    clearInterval(timer);
    document.removeEventListener("keydown", onKey);
    removeEventListener("beforeunload", onLeave);
    editor.close();
  };
  return { close };
}

/** @param {Editor} editor @param {KeyboardEvent} event */
function onShortcut(editor, event) {
  if (!(event.ctrlKey || event.metaKey)) return;
  const typing = /** @type {Element} */ (event.target).matches("input:not([type=radio]), textarea");
  if (event.key === "Enter") {
    event.preventDefault();
    if (typing) /** @type {HTMLElement} */ (event.target).blur(); // the name is taken at once
    openNext(editor);
  } else if (!typing && event.key.toLowerCase() === "z") {
    event.preventDefault();
    stepHistory(editor, event.shiftKey);
  }
}

/** Save, then open the set that is most useful to key next. @param {Editor} editor */
async function openNext(editor) {
  const next = await saveAndChoose(editor);
  if (!next) return;
  if (next.set) navigate("key", { message: next.message, set: next.set });
  else navigate("next", { message: "", set: "" });
}

/** @param {Editor} editor */
function textPanel(editor) {
  return el(
    "div",
    { class: "column" },
    el("div", { class: "panel text-panel" }, editor.text),
    editor.others,
  );
}

/** @param {Editor} editor @param {HTMLElement} status */
function keyPanel(editor, status) {
  const [undoButton, redoButton] = [
    button("Undo", () => stepHistory(editor, false)),
    button("Redo", () => stepHistory(editor, true)),
  ];
  const nextButton = button("Save and next", () => openNext(editor), {
    class: "main-button",
    title: "Ctrl+Enter",
    "aria-keyshortcuts": "Control+Enter",
  });
  const confirmButton = button("Confirm", () => confirmKey(editor));
  const withdrawButton = button("Withdraw my label", () => withdrawKey(editor));
  const warning = el("p", { class: "notice", hidden: true });
  editor.afterDraw = () => {
    /** @type {HTMLButtonElement} */ (undoButton).disabled = !editor.history.past.length;
    /** @type {HTMLButtonElement} */ (redoButton).disabled = !editor.history.future.length;
    withdrawButton.hidden = !editor.hasSavedKey;
    drawWarning(editor, warning);
  };
  editor.afterDraw();
  return el(
    "div",
    { class: "panel key-panel" },
    authorField(editor),
    editor.board.node,
    warning,
    el(
      "div",
      { class: "key-tools" },
      ...[nextButton, confirmButton, undoButton, redoButton, withdrawButton],
    ),
    status,
    el("p", { class: "quiet hint", id: "board-help" }, isTouch ? TOUCH_HELP : HELP),
    el("h2", {}, "Alternatives"),
    editor.alternatives,
    el("p", { class: "links" }, el("a", { href: hrefFor("next") }, "What to label next")),
  );
}

/** @param {Editor} editor */
function authorField(editor) {
  const onChange = (/** @type {any} */ event) => setAuthor(editor, event.target.value.trim());
  const attributes = {
    type: "text",
    maxlength: "200",
    autocomplete: "name",
    value: editor.saver.author,
  };
  return labelled(
    "Your name",
    el("input", { ...attributes, id: "author", on: { change: onChange } }),
  );
}

/**
 * Warn if a cell contains two incompatible templates: no model can produce such a key.
 * @param {Editor} editor
 * @param {HTMLElement} node
 */
function drawWarning(editor, node) {
  const cells = editor.board.cells;
  const incompatible = editor.set.incompatible.find(([a, b]) =>
    cells.some((cell) => cell.includes(a) && cell.includes(b)),
  );
  node.hidden = !incompatible;
  node.textContent = incompatible
    ? `${incompatible.join(" and ")} are known to differ; no model can produce this label.`
    : "";
}

/**
 * Show whether the last change was saved.
 * @param {HTMLElement} node
 * @param {Editor} editor
 * @param {string} state
 * @param {any} [detail]
 */
function showStatus(node, editor, state, detail) {
  const contents = {
    name: () => ["Enter your name: each label is saved under its author."],
    saving: () => ["Saving…"],
    saved: () => [
      `Saved as label ${detail.key} by ${editor.saver.author}, ${new Date().toLocaleTimeString()}`,
    ],
    contradiction: () => [
      `Not saved: ${detail.message.replace(/; set override.*$/, "")}. `,
      button("Save nevertheless", () => sendNevertheless(editor.saver)),
    ],
    failed: () => [
      `Not saved yet, kept in this browser: ${detail.message} `,
      button("Try again", () => sendPending(editor.saver)),
    ],
  }[state];
  node.className = `status ${state === "contradiction" ? "failed" : state}`;
  if (state === "saved") editor.afterDraw();
  replaceContent(node, ...(contents?.() ?? []));
  if (state === "name") document.getElementById("author")?.focus();
}
