/** The list of messages of a run with their uncertainty: searchable, sortable, paged. */

import * as api from "../api.js";
import { announce, append, bar, button, clearButton, el, labelled, replaceContent, searchField, select } from "../dom.js";
import { bits, count, plural } from "../format.js";
import { hrefFor } from "../router.js";

/** @typedef {import("../types.js").MessageRow} MessageRow */
/**
 * @typedef {object} ListState
 * @property {string} run
 * @property {string} chosen
 * @property {string} search
 * @property {string} order
 * @property {MessageRow[]} messages
 * @property {number} total
 */

const PAGE_SIZE = 100;
/** @type {[string, string][]} */
const ORDERS = [
  ["text", "Input order"],
  ["uncertain", "Least certain first"],
];

/**
 * @typedef {object} MessageList
 * @property {HTMLElement} node
 * @property {() => string} first
 * @property {(message: string) => void} select
 */

/**
 * @param {string} run
 * @param {string} chosen
 * @returns {Promise<MessageList>}
 */
export async function messageList(run, chosen) {
  /** @type {ListState} */
  const state = { run, chosen, search: "", order: "text", messages: [], total: 0 };
  const rows = el("ol", { class: "message-rows" });
  const footer = el("p", { class: "quiet list-foot" });
  const draw = () => drawRows(state, rows, footer, loadMore);
  const load = async (/** @type {number} */ offset) => {
    const { search, order } = state;
    const page = await api.messages(run, { search, order, offset, limit: PAGE_SIZE });
    if (search !== state.search || order !== state.order) return;
    state.messages = offset ? [...state.messages, ...page.messages] : page.messages;
    state.total = page.total;
    draw();
  };
  const loadMore = () => load(state.messages.length);
  await load(0);
  const tools = controls(state, () => load(0));
  const wide = matchMedia("(min-width: 60rem)").matches;
  const box = el("details", { open: wide }, el("summary", {}, "Messages"), tools, rows, footer);
  const node = el("nav", { class: "messages", "aria-label": "Messages" }, box);
  const selectMessage = (/** @type {string} */ message) => {
    state.chosen = message;
    draw();
  };
  return { node, first: () => state.messages[0]?.message ?? "", select: selectMessage };
}

/** @param {ListState} state @param {() => Promise<void>} load */
function controls(state, load) {
  const onSearch = (/** @type {string} */ text) => {
    state.search = text;
    load().then(() => announce(plural(state.total, "message")));
  };
  const onOrder = (/** @type {string} */ order) => {
    state.order = order;
    load();
  };
  return el(
    "div",
    { class: "list-tools" },
    searchField("", onSearch),
    labelled("Order", select(ORDERS, state.order, onOrder)),
  );
}

/**
 * @param {ListState} state
 * @param {HTMLElement} rows
 * @param {HTMLElement} footer
 * @param {() => void} loadMore
 */
function drawRows(state, rows, footer, loadMore) {
  const highest = Math.max(1, ...state.messages.map((message) => message.entropy_bits ?? 0));
  replaceContent(rows, ...state.messages.map((message) => messageRow(state, message, highest)));
  replaceContent(footer, `${count(state.messages.length)} of ${plural(state.total, "message")}`);
  if (state.messages.length < state.total) append(footer, button("Show more", loadMore));
  if (!state.total && state.search) append(footer, clearButton(rows.parentElement));
}

/** @param {ListState} state @param {MessageRow} message @param {number} highest */
function messageRow(state, message, highest) {
  const current = message.message === state.chosen ? "true" : undefined;
  const href = hrefFor("read", { run: state.run, message: message.message, set: "" });
  const detail = message.error
    ? el("span", { class: "bad" }, message.error)
    : uncertaintyBar(message, highest);
  const link = el(
    "a",
    { href, "aria-current": current },
    el("span", { class: "message-title" }, message.title || message.message),
    el("span", { class: "quiet message-id" }, message.message, message.keyed ? " · labelled" : ""),
    detail,
  );
  return el("li", {}, link);
}

/** @param {MessageRow} message @param {number} highest */
function uncertaintyBar(message, highest) {
  const value = message.entropy_bits ?? 0;
  return el(
    "span",
    { class: "uncertainty" },
    el("span", { class: "number" }, bits(value)),
    bar(value / highest),
  );
}
