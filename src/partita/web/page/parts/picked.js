/** Which message and which set a view is about: two selects that go where they say. */

import * as api from "../calls.js";
import { el, labelled, select } from "../dom.js";
import { go } from "../place.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

const MANY = 1000;

/**
 * The message and set of a place, else the first message that has a set.
 * @param {import("../place.js").Place} place
 * @returns {Promise<{message: any, set: any, tools: HTMLElement}|null>}
 */
export async function picked(place) {
  const { messages } = await api.messages(place.run, { limit: MANY });
  const usable = messages.filter((one) => one.sets > 0);
  const owner = place.message || ownerOf(usable, place.set) || usable[0]?.message;
  if (!owner) return null;
  const message = await api.message(place.run, owner);
  const set = message.sets.find((one) => one.set === place.set) ?? message.sets[0];
  return { message, set, tools: tools(place, usable, message, set) };
}

/** A set is named after its message and a number. @param {any[]} messages @param {string} set */
function ownerOf(messages, set) {
  const found = messages.filter((one) => set.startsWith(`${one.message}.`));
  return found.sort((a, b) => b.message.length - a.message.length)[0]?.message;
}

/**
 * @param {import("../place.js").Place} place
 * @param {any[]} messages
 * @param {Message} message
 * @param {ResultSet} set
 */
function tools(place, messages, message, set) {
  const titles = messages.map((one) => option(one.message, one.title));
  if (!titles.some(([name]) => name === message.message)) titles.unshift(option(message.message));
  const sets = message.sets.map((one) => option(one.set));
  const toMessage = (/** @type {string} */ name) => go(place.view, { message: name, set: "" });
  const toSet = (/** @type {string} */ name) =>
    go(place.view, { message: message.message, set: name });
  return el(
    "div",
    { class: "tools" },
    labelled("Message", select(titles, message.message, toMessage)),
    labelled("Set", select(sets, set?.set ?? "", toSet, { disabled: !sets.length })),
  );
}

/** @param {string} name @param {string} [title] @returns {[string, string]} */
const option = (name, title) => [name, title && title !== name ? `${name}: ${title}` : name];
