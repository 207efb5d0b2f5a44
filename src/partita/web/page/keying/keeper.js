/** Saves a key at once, one request at a time; what cannot be sent is kept here until it can. */

import * as api from "../calls.js";
import { same } from "../parts/changes.js";

const AGAIN = 5000;

/** @typedef {import("./draft.js").Draft} Draft */
/**
 * @typedef {object} Keeper
 * @property {string} run
 * @property {string} set
 * @property {string} author
 * @property {number|null} based the newest key that was known when the last one was written
 * @property {Draft|null} waiting
 * @property {boolean} busy
 * @property {number} timer
 * @property {number[]} mine the ids of the keys that were saved here
 * @property {(state: string, detail?: any) => void} tell
 */

/**
 * @param {string} run
 * @param {string} set
 * @param {string} author
 * @param {number|null} based
 * @param {Keeper["tell"]} tell
 * @returns {Keeper}
 */
export const keeper = (run, set, author, based, tell) => ({
  ...{ run, set, author, based, tell },
  ...{ waiting: null, busy: false, timer: 0, mine: [] },
});

/** @param {Keeper} one */
const place = (one) => `partita.draft\n${one.run}\n${one.set}`;

/**
 * What could not be saved when the page was left, if it is still about the same templates.
 * @param {Keeper} one
 * @param {string[]} ids
 * @returns {Draft|null}
 */
export function kept(one, ids) {
  try {
    const draft = JSON.parse(localStorage.getItem(place(one)) ?? "null");
    return draft && String(draft.cells.flat().sort()) === String([...ids].sort()) ? draft : null;
  } catch {
    return null;
  }
}

/** @param {Keeper} one @param {Draft} draft */
export function save(one, draft) {
  one.waiting = draft;
  localStorage.setItem(place(one), JSON.stringify(draft));
  return send(one);
}

/** Send what waits, until nothing does or something is in the way. @param {Keeper} one */
export async function send(one) {
  clearTimeout(one.timer);
  if (!one.author) return one.tell("name");
  if (one.busy) return;
  one.busy = true;
  try {
    while (one.waiting) await sendOne(one, one.waiting);
  } catch (error) {
    failed(one, error);
  }
  one.busy = false;
}

/** @param {Keeper} one @param {Draft} draft */
async function sendOne(one, draft) {
  one.tell("saving");
  const answer = await api.saveKey(one.run, one.set, written(one, draft));
  one.based = answer.key;
  one.mine.push(answer.key);
  if (one.waiting === draft) {
    one.waiting = null;
    localStorage.removeItem(place(one));
  }
  one.tell("saved", answer);
}

/** Another possibility must be another one. @param {Keeper} one @param {Draft} draft */
function written(one, draft) {
  const alternatives = draft.alternatives.filter((other) => !same(other.cells, draft.cells));
  return { cells: draft.cells, alternatives, author: one.author, based_on: one.based };
}

/** @param {Keeper} one @param {any} error */
function failed(one, error) {
  one.tell("failed", error);
  if (!error.status || error.status >= 500) one.timer = setTimeout(() => send(one), AGAIN);
}
