/** Two menus that choose the message and the set of a view. */

import * as api from "../api.js";
import { el, labelled, select } from "../dom.js";
import { navigate } from "../router.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

const MAX_MESSAGES = 100; // in the menu; Read has the others

/**
 * Return the message and set of a route, else the first message that has a set.
 * @param {import("../router.js").Route} route
 * @returns {Promise<{message: any, set: any, tools: HTMLElement}|null>}
 */
export async function pickSet(route) {
  const { messages } = await api.messages(route.run, { limit: MAX_MESSAGES });
  const withSets = messages.filter(({ sets }) => sets > 0);
  const name = route.message || messageOf(withSets, route.set) || withSets[0]?.message;
  if (!name) return null;
  const message = await api.message(route.run, name);
  const set = message.sets.find((candidate) => candidate.set === route.set) ?? message.sets[0];
  return { message, set, tools: menus(route, withSets, message, set) };
}

/**
 * Find the message of a set, whose name is that of its message and a number.
 * @param {any[]} messages
 * @param {string} set
 */
function messageOf(messages, set) {
  const candidates = messages.filter((message) => set.startsWith(`${message.message}.`));
  return candidates.sort((a, b) => b.message.length - a.message.length)[0]?.message;
}

/**
 * @param {import("../router.js").Route} route
 * @param {any[]} messages
 * @param {Message} message
 * @param {ResultSet} set
 */
function menus(route, messages, message, set) {
  const titles = messages.map((row) => option(row.message, row.title));
  if (!titles.some(([name]) => name === message.message)) titles.unshift(option(message.message));
  const sets = message.sets.map((candidate) => option(candidate.set));
  const openMessage = (/** @type {string} */ name) =>
    navigate(route.view, { message: name, set: "" });
  const openSet = (/** @type {string} */ name) =>
    navigate(route.view, { message: message.message, set: name });
  return el(
    "div",
    { class: "tools" },
    labelled("Message", select(titles, message.message, openMessage)),
    labelled("Set", select(sets, set?.set ?? "", openSet, { disabled: !sets.length })),
  );
}

/** @param {string} name @param {string} [title] @returns {[string, string]} */
const option = (name, title) => [name, title && title !== name ? `${name}: ${title}` : name];
