/** Where a key is written: what a person does to it, what is saved, and what others have said. */

import * as api from "../calls.js";
import { colours } from "../colours.js";
import { el, say } from "../dom.js";
import { same } from "../parts/changes.js";
import { describedText, paintMarks } from "../parts/message.js";
import { board, showCells } from "./board.js";
import {
  begun,
  changed,
  dropped,
  inOrder,
  redo,
  undo,
  weighed,
  went,
  withAlternative,
} from "./draft.js";
import { keeper, kept, save, send } from "./keeper.js";
import { byNumber, drawOthers, newest } from "./others.js";
import { drawUnsure } from "./unsure.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

/** @typedef {import("../types.js").Key} Key */
/** @typedef {(desk: Desk, state: string, detail?: any) => void} Tell */

export const AUTHOR = "partita.author";

/**
 * @typedef {object} Desk
 * @property {Message} message
 * @property {ResultSet} set
 * @property {import("./draft.js").History} history
 * @property {number} editing -1 for the key, else which alternative
 * @property {Key[]} keys all that were saved, as far as is known here
 * @property {Set<number>} fresh keys of others that came while this one was written
 * @property {Set<number>} seen
 * @property {Set<string>} settled what others say that one has decided about
 * @property {boolean} saved whether a key of this author is in the store
 * @property {import("./keeper.js").Keeper} keeper
 * @property {import("./board.js").Board} board
 * @property {HTMLElement} text
 * @property {HTMLElement} unsure
 * @property {HTMLElement} others
 * @property {() => void} close
 * @property {() => void} drawn called after every drawing
 */

/**
 * @param {string} run
 * @param {Message} message
 * @param {ResultSet} set
 * @param {Tell} tell
 * @returns {Promise<Desk>}
 */
export async function openDesk(run, message, set, tell) {
  const keys = (await api.keys(run, set.set)).sort(byNumber);
  const author = localStorage.getItem(AUTHOR) ?? "";
  const own = keys.findLast((one) => one.author === author);
  const { text, close } = describedText(message);
  /** @type {Desk} */
  const desk = {
    ...{ message, set, keys, text, close, editing: -1, saved: Boolean(own) },
    ...{
      fresh: new Set(),
      settled: new Set(),
      seen: new Set(keys.map((one) => one.key)),
      drawn: () => {},
    },
    keeper: keeper(run, set.set, author, keys[keys.length - 1]?.key ?? null, (...told) =>
      heard(desk, tell, ...told),
    ),
    history: begun({ cells: set.configurations[0].cells, alternatives: [] }),
    board: board(
      set.templates,
      (cells) => act(desk, changed(desk.history.now, desk.editing, cells)),
      (cells) => paintAll(desk, cells),
    ),
    unsure: el("div", { class: "unsure" }),
    others: el("section", { class: "panel others", hidden: true }),
  };
  begin(desk, own);
  return desk;
}

/**
 * What could not be saved comes first, then one's own key, then the most probable configuration.
 * @param {Desk} desk
 * @param {Key|undefined} own
 */
function begin(desk, own) {
  const ids = desk.set.templates.map((one) => one.id);
  const waiting = kept(desk.keeper, ids);
  const start = waiting ?? own;
  if (start)
    desk.history = begun({
      cells: inOrder(start.cells, ids),
      alternatives: start.alternatives ?? [],
    });
  draw(desk);
  if (waiting) save(desk.keeper, waiting);
}

/** Colours of cells, wherever they are shown. @param {Desk} desk @param {string[][]} cells */
const colour = (desk, cells) => colours([desk.set], [cells]);

/**
 * The text has the colours of the cells on the board.
 * @param {Desk} desk
 * @param {string[][]} cells
 */
function paintAll(desk, cells) {
  const found = colour(desk, cells);
  paintMarks(desk.text, found);
  return found;
}

/** @param {Desk} desk */
export function draw(desk) {
  const { now } = desk.history;
  if (desk.editing >= now.alternatives.length) desk.editing = -1;
  showCells(desk.board, desk.editing < 0 ? now.cells : now.alternatives[desk.editing].cells);
  drawUnsure(desk.unsure, now, desk.editing, unsureActs(desk), (cells) => colour(desk, cells));
  drawKeys(desk);
  desk.drawn();
}

/** The keys of others alone: what is in the hand on the board stays there. @param {Desk} desk */
function drawKeys(desk) {
  const { cells } = desk.history.now;
  const paint = (/** @type {string[][]} */ shown) => colour(desk, shown);
  drawOthers(desk.others, othersOf(desk), cells, desk.fresh, othersActs(desk), paint);
}

/** The newest key of each other person, or of oneself in another window. @param {Desk} desk */
function othersOf(desk) {
  const { author, mine } = desk.keeper;
  return newest(desk.keys).filter(
    (one) => one.author !== author || (desk.fresh.has(one.key) && !mine.includes(one.key)),
  );
}

/**
 * Something was done: it can be undone, and it is saved.
 * @param {Desk} desk
 * @param {import("./draft.js").Draft} draft
 */
export function act(desk, draft) {
  desk.history = went(desk.history, draft);
  return again(desk);
}

/** @param {Desk} desk */
function again(desk) {
  draw(desk);
  return save(desk.keeper, desk.history.now);
}

/** The key as it is shown is right. @param {Desk} desk */
export const confirm = (desk) => save(desk.keeper, desk.history.now);

/** @param {Desk} desk @param {boolean} forward */
export function back(desk, forward) {
  const before = desk.history;
  desk.history = forward ? redo(before) : undo(before);
  if (desk.history.now === before.now) return;
  say(forward ? "Done again" : "Undone");
  again(desk);
}

/** @param {Desk} desk @param {string} name */
export function named(desk, name) {
  desk.keeper.author = name;
  localStorage.setItem(AUTHOR, name);
  if (desk.keeper.waiting) send(desk.keeper);
  drawKeys(desk);
}

/** @param {Desk} desk */
function unsureActs(desk) {
  const now = () => desk.history.now;
  return {
    edit: (/** @type {number} */ n) => {
      desk.editing = n;
      draw(desk);
    },
    weigh: (/** @type {number} */ n, /** @type {number} */ weight) =>
      act(desk, weighed(now(), n, weight)),
    drop: (/** @type {number} */ n) => act(desk, dropped(now(), n)),
    add: () => {
      desk.editing = now().alternatives.length;
      act(desk, withAlternative(now(), desk.board.cells));
      say("An alternative was added: change its cells and its weight");
    },
  };
}

/** @param {Desk} desk */
function othersActs(desk) {
  const settle = (/** @type {Key} */ key) => {
    desk.fresh.delete(key.key);
    desk.settled.add(opinion(key));
  };
  return {
    take: (/** @type {Key} */ key) => {
      settle(key);
      act(desk, { cells: key.cells, alternatives: key.alternatives ?? [] });
    },
    add: (/** @type {Key} */ key) => {
      settle(key);
      act(desk, withAlternative(desk.history.now, key.cells));
    },
    keep: (/** @type {Key} */ key) => {
      settle(key);
      confirm(desk);
      draw(desk);
    },
  };
}

/**
 * @param {Desk} desk
 * @param {Tell} tell
 * @param {string} state
 * @param {any} [detail]
 */
function heard(desk, tell, state, detail) {
  if (state === "saved") {
    desk.saved = true;
    if (detail.conflicts.length) look(desk);
  }
  tell(desk, state, detail);
}

/** Look whether others have written keys meanwhile. @param {Desk} desk */
export async function look(desk) {
  if (document.hidden) return;
  const keys = await api.keys(desk.keeper.run, desk.set.set).catch(() => desk.keys);
  const unseen = keys.filter((one) => !desk.seen.has(one.key));
  desk.keys = keys.sort(byNumber);
  for (const one of unseen) notice(desk, one);
  if (unseen.length) drawKeys(desk);
}

/** Who says what. @param {Key} key */
const opinion = (key) => JSON.stringify([key.author, key.cells]);

/** @param {Desk} desk @param {Key} key */
function notice(desk, key) {
  desk.seen.add(key.key);
  if (desk.keeper.mine.includes(key.key) || desk.settled.has(opinion(key))) return;
  const touched = desk.saved || desk.history.done.length > 0;
  if (touched && !same(key.cells, desk.history.now.cells)) desk.fresh.add(key.key);
}
