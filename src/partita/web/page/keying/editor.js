/** The editor of a key: its draft and history, saving, and the keys of other people. */

import * as api from "../api.js";
import { announce, el } from "../dom.js";
import { cellColours, sameCells } from "../parts/cells.js";
import { annotatedText, paintMarks } from "../parts/marked_text.js";
import { drawAlternatives } from "./alternatives.js";
import { createBoard, showCells } from "./board.js";
import {
  inTextOrder,
  newHistory,
  redo,
  undo,
  withAlternative,
  withCells,
  withStep,
  withWeight,
  withoutAlternative,
} from "./draft.js";
import { byKeyId, drawOtherKeys, newestByAuthor } from "./other_keys.js";
import { createSaver, saveDraft, sendPending, storedDraft } from "./saver.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

/** @typedef {import("../types.js").Key} Key */
/** @typedef {(editor: Editor, state: string, detail?: any) => void} OnState */

export const AUTHOR_KEY = "partita.author";

/**
 * @typedef {object} Editor
 * @property {Message} message
 * @property {ResultSet} set
 * @property {import("./draft.js").History} history
 * @property {number} editing -1 for the key, else the index of an alternative
 * @property {Key[]} keys all saved keys that are known here
 * @property {Set<number>} newKeys keys of others that arrived while this one was written
 * @property {Set<number>} seenKeys
 * @property {Set<string>} settledOpinions keys of others that the author has decided about
 * @property {boolean} hasSavedKey whether a key of this author is in the store
 * @property {import("../types.js").Agreement|null} agreement of all authors
 * @property {import("./saver.js").Saver} saver
 * @property {import("./board.js").Board} board
 * @property {HTMLElement} text
 * @property {HTMLElement} alternatives
 * @property {HTMLElement} others
 * @property {() => void} close
 * @property {() => void} afterDraw called after every redraw
 */

/**
 * @param {string} run
 * @param {Message} message
 * @param {ResultSet} set
 * @param {OnState} onState
 * @returns {Promise<Editor>}
 */
export async function openEditor(run, message, set, onState) {
  const keys = (await api.keys(run, set.set)).sort(byKeyId);
  const author = localStorage.getItem(AUTHOR_KEY) ?? "";
  const own = keys.findLast((key) => key.author === author && !key.withdrawn);
  const { text, close } = annotatedText(message);
  /** @type {Editor} */
  const editor = {
    ...{ message, set, keys, text, close, editing: -1, hasSavedKey: Boolean(own) },
    agreement: null,
    ...{
      newKeys: new Set(),
      settledOpinions: new Set(),
      seenKeys: new Set(keys.map((key) => key.key)),
      afterDraw: () => {},
    },
    saver: createSaver(run, set.set, author, keys[keys.length - 1]?.key ?? null, (...state) =>
      onSaverState(editor, onState, ...state),
    ),
    history: newHistory({ cells: set.answer, alternatives: [] }),
    board: createBoard(
      set.templates,
      (cells) => applyDraft(editor, withCells(editor.history.current, editor.editing, cells)),
      (cells) => paintText(editor, cells),
    ),
    alternatives: el("div", { class: "alternatives" }),
    others: el("section", { class: "panel others", hidden: true }),
  };
  loadStart(editor, own);
  updateAgreement(editor);
  return editor;
}

/** Load how the authors agree, and draw it. @param {Editor} editor */
async function updateAgreement(editor) {
  editor.agreement = await api.agreement(editor.saver.run, editor.set.set).catch(() => null);
  drawOthersPanel(editor);
}

/** Withdraw the author's keys and start anew. @param {Editor} editor */
export async function withdrawKey(editor) {
  const { run, set, author } = editor.saver;
  await api.withdrawKey(run, set, author);
  editor.hasSavedKey = false;
  editor.history = newHistory({ cells: editor.set.answer, alternatives: [] });
  await checkForKeys(editor);
  await updateAgreement(editor);
  drawEditor(editor);
  announce("Label withdrawn");
}

/**
 * Save the key as shown, and return the set to key next; null if it could not be saved.
 * @param {Editor} editor
 */
export async function saveAndChoose(editor) {
  await confirmKey(editor);
  if (editor.saver.pending) return null;
  const [next] = await api.next(editor.saver.run, 1);
  return next ?? { set: "", message: "" };
}

/**
 * Start with the unsaved draft, else the author's own key, else the answer.
 * @param {Editor} editor
 * @param {Key|undefined} own
 */
function loadStart(editor, own) {
  const ids = editor.set.templates.map((template) => template.id);
  const unsaved = storedDraft(editor.saver, ids);
  const start = unsaved ?? own;
  if (start)
    editor.history = newHistory({
      cells: inTextOrder(start.cells, ids),
      alternatives: start.alternatives ?? [],
    });
  drawEditor(editor);
  if (unsaved) saveDraft(editor.saver, unsaved);
}

/** The colours of cells. @param {Editor} editor @param {string[][]} cells */
const coloursOf = (editor, cells) => cellColours([editor.set], [cells]);

/**
 * Colour the text by the cells on the board.
 * @param {Editor} editor
 * @param {string[][]} cells
 */
function paintText(editor, cells) {
  const colourOf = coloursOf(editor, cells);
  paintMarks(editor.text, colourOf);
  return colourOf;
}

/** @param {Editor} editor */
export function drawEditor(editor) {
  const { current } = editor.history;
  if (editor.editing >= current.alternatives.length) editor.editing = -1;
  showCells(
    editor.board,
    editor.editing < 0 ? current.cells : current.alternatives[editor.editing].cells,
  );
  drawAlternatives(
    editor.alternatives,
    current,
    editor.editing,
    alternativeActions(editor),
    (cells) => coloursOf(editor, cells),
  );
  drawOthersPanel(editor);
  editor.afterDraw();
}

/** Redraw only the keys of others; the board is left alone. @param {Editor} editor */
function drawOthersPanel(editor) {
  const { cells } = editor.history.current;
  const colourCells = (/** @type {string[][]} */ cells_) => coloursOf(editor, cells_);
  drawOtherKeys(
    editor.others,
    otherKeys(editor),
    cells,
    editor.newKeys,
    otherKeyActions(editor),
    colourCells,
    editor.agreement,
  );
}

/**
 * The newest key of each other author, or of the same author in another window.
 * @param {Editor} editor
 */
function otherKeys(editor) {
  const { author, savedKeys: mine } = editor.saver;
  return newestByAuthor(editor.keys).filter(
    (key) => key.author !== author || (editor.newKeys.has(key.key) && !mine.includes(key.key)),
  );
}

/**
 * Apply a change: it can be undone and is saved.
 * @param {Editor} editor
 * @param {import("./draft.js").Draft} draft
 */
export function applyDraft(editor, draft) {
  editor.history = withStep(editor.history, draft);
  return redrawAndSave(editor);
}

/** @param {Editor} editor */
function redrawAndSave(editor) {
  drawEditor(editor);
  return saveDraft(editor.saver, editor.history.current);
}

/** Save the key as shown. @param {Editor} editor */
export const confirmKey = (editor) => saveDraft(editor.saver, editor.history.current);

/** @param {Editor} editor @param {boolean} forward */
export function stepHistory(editor, forward) {
  const before = editor.history;
  editor.history = forward ? redo(before) : undo(before);
  if (editor.history.current === before.current) return;
  announce(forward ? "Redone" : "Undone");
  redrawAndSave(editor);
}

/** @param {Editor} editor @param {string} name */
export function setAuthor(editor, name) {
  editor.saver.author = name;
  localStorage.setItem(AUTHOR_KEY, name);
  if (editor.saver.pending) sendPending(editor.saver);
  drawOthersPanel(editor);
}

/** @param {Editor} editor */
function alternativeActions(editor) {
  const now = () => editor.history.current;
  return {
    edit: (/** @type {number} */ n) => {
      editor.editing = n;
      drawEditor(editor);
    },
    weigh: (/** @type {number} */ n, /** @type {number} */ weight) =>
      applyDraft(editor, withWeight(now(), n, weight)),
    drop: (/** @type {number} */ n) => applyDraft(editor, withoutAlternative(now(), n)),
    add: () => {
      editor.editing = now().alternatives.length;
      applyDraft(editor, withAlternative(now(), editor.board.cells));
      announce("Alternative added. Change its entities and its weight.");
    },
  };
}

/** @param {Editor} editor */
function otherKeyActions(editor) {
  const settle = (/** @type {Key} */ key) => {
    editor.newKeys.delete(key.key);
    editor.settledOpinions.add(opinionOf(key));
  };
  return {
    take: (/** @type {Key} */ key) => {
      settle(key);
      applyDraft(editor, { cells: key.cells, alternatives: key.alternatives ?? [] });
    },
    add: (/** @type {Key} */ key) => {
      settle(key);
      applyDraft(editor, withAlternative(editor.history.current, key.cells));
    },
    keep: (/** @type {Key} */ key) => {
      settle(key);
      confirmKey(editor);
      drawEditor(editor);
    },
  };
}

/**
 * @param {Editor} editor
 * @param {OnState} onState
 * @param {string} state
 * @param {any} [detail]
 */
function onSaverState(editor, onState, state, detail) {
  if (state === "saved") {
    editor.hasSavedKey = true;
    if (detail.conflicts.length) checkForKeys(editor);
    updateAgreement(editor);
  }
  onState(editor, state, detail);
}

/** Check for new keys by other people. @param {Editor} editor */
export async function checkForKeys(editor) {
  if (document.hidden) return;
  const keys = await api.keys(editor.saver.run, editor.set.set).catch(() => editor.keys);
  const newKeys = keys.filter((key) => !editor.seenKeys.has(key.key));
  editor.keys = keys.sort(byKeyId);
  for (const key of newKeys) addNewKey(editor, key);
  if (newKeys.length) await updateAgreement(editor);
}

/** The author and cells of a key as text. @param {Key} key */
const opinionOf = (key) => JSON.stringify([key.author, key.cells]);

/** @param {Editor} editor @param {Key} key */
function addNewKey(editor, key) {
  editor.seenKeys.add(key.key);
  if (editor.saver.savedKeys.includes(key.key) || editor.settledOpinions.has(opinionOf(key)))
    return;
  const edited = editor.hasSavedKey || editor.history.past.length > 0;
  if (edited && !sameCells(key.cells, editor.history.current.cells)) editor.newKeys.add(key.key);
}
