/** Save keys one request at a time; an unsent draft is kept in the browser until it is sent. */

import * as api from "../api.js";
import { sameCells } from "../parts/cells.js";

const RETRY_DELAY = 5000;

/** @typedef {import("./draft.js").Draft} Draft */
/**
 * @typedef {object} Saver
 * @property {string} run
 * @property {string} set
 * @property {string} author
 * @property {number|null} basedOn the newest key known when the last one was written
 * @property {Draft|null} pending
 * @property {boolean} busy
 * @property {boolean} override save the pending draft although it contradicts what is known
 * @property {number} timer
 * @property {number[]} savedKeys the ids of the keys saved here
 * @property {(state: string, detail?: any) => void} onState
 */

/**
 * @param {string} run
 * @param {string} set
 * @param {string} author
 * @param {number|null} basedOn
 * @param {Saver["onState"]} onState
 * @returns {Saver}
 */
export const createSaver = (run, set, author, basedOn, onState) => ({
  ...{ run, set, author, basedOn: basedOn, onState: onState },
  ...{ pending: null, busy: false, override: false, timer: 0, savedKeys: [] },
});

/** @param {Saver} saver */
const draftKey = (saver) => `partita.draft\n${saver.run}\n${saver.set}`;

/**
 * Return the unsent draft of an earlier visit, if its templates are still the same.
 * @param {Saver} saver
 * @param {string[]} ids
 * @returns {Draft|null}
 */
export function storedDraft(saver, ids) {
  try {
    const draft = JSON.parse(localStorage.getItem(draftKey(saver)) ?? "null");
    return draft && String(draft.cells.flat().sort()) === String([...ids].sort()) ? draft : null;
  } catch {
    return null;
  }
}

/** @param {Saver} saver @param {Draft} draft */
export function saveDraft(saver, draft) {
  saver.pending = draft;
  saver.override = false;
  localStorage.setItem(draftKey(saver), JSON.stringify(draft));
  return sendPending(saver);
}

/** Send pending drafts until there are none or one fails. @param {Saver} saver */
export async function sendPending(saver) {
  clearTimeout(saver.timer);
  if (!saver.author) return saver.onState("name");
  if (saver.busy) return;
  saver.busy = true;
  try {
    while (saver.pending) await sendDraft(saver, saver.pending);
  } catch (error) {
    onFailure(saver, error);
  }
  saver.busy = false;
}

/** @param {Saver} saver @param {Draft} draft */
async function sendDraft(saver, draft) {
  saver.onState("saving");
  const answer = await api.saveKey(saver.run, saver.set, requestBody(saver, draft));
  saver.basedOn = answer.key;
  saver.savedKeys.push(answer.key);
  if (saver.pending === draft) {
    saver.pending = null;
    localStorage.removeItem(draftKey(saver));
  }
  saver.onState("saved", answer);
}

/**
 * Return the request; an alternative equal to the key is left out.
 * @param {Saver} saver
 * @param {Draft} draft
 */
function requestBody(saver, draft) {
  const alternatives = draft.alternatives.filter(
    (alternative) => !sameCells(alternative.cells, draft.cells),
  );
  const { author, basedOn, override } = saver;
  return { cells: draft.cells, alternatives, author, based_on: basedOn, override };
}

/** Send the pending draft although it contradicts what is known. @param {Saver} saver */
export function sendNevertheless(saver) {
  saver.override = true;
  return sendPending(saver);
}

/** @param {Saver} saver @param {any} error */
function onFailure(saver, error) {
  if (error.status === 422 && error.message.includes("override"))
    return saver.onState("contradiction", error);
  saver.onState("failed", error);
  if (!error.status || error.status >= 500)
    saver.timer = setTimeout(() => sendPending(saver), RETRY_DELAY);
}
