/** The messages of a run, with how uncertain each is: searched, ordered, more on demand. */

import * as api from "../calls.js";
import { button, el, fill, labelled, refill, say, select } from "../dom.js";
import { bits, count, plural } from "../numbers.js";
import { address } from "../place.js";
import { bar } from "./bar.js";

/** @typedef {import("../types.js").MessageRow} MessageRow */
/**
 * @typedef {object} State
 * @property {string} run
 * @property {string} view
 * @property {string} chosen
 * @property {string} search
 * @property {string} order
 * @property {MessageRow[]} found
 * @property {number} total
 */

const PAGE = 100;
const PAUSE = 200;
/** @type {[string, string][]} */
const ORDERS = [
  ["text", "As they come"],
  ["uncertain", "Least certain first"],
];

/**
 * @typedef {{node: HTMLElement, first: () => string, mark: (message: string) => void}} MessageList
 */

/**
 * @param {string} run
 * @param {string} chosen
 * @param {string} view
 * @returns {Promise<MessageList>}
 */
export async function messageList(run, chosen, view) {
  /** @type {State} */
  const state = { run, view, chosen, search: "", order: "text", found: [], total: 0 };
  const rows = el("ol", { class: "message-rows" });
  const foot = el("p", { class: "quiet list-foot" });
  const draw = () => drawRows(state, rows, foot, more);
  const load = async (/** @type {number} */ offset) => {
    const { search, order } = state;
    const told = await api.messages(run, { search, order, offset, limit: PAGE });
    if (search !== state.search || order !== state.order) return;
    state.found = offset ? [...state.found, ...told.messages] : told.messages;
    state.total = told.total;
    draw();
  };
  const more = () => load(state.found.length);
  await load(0);
  const node = frame(
    controls(state, () => load(0)),
    rows,
    foot,
  );
  const mark = (/** @type {string} */ message) => {
    state.chosen = message;
    draw();
  };
  return { node, first: () => state.found[0]?.message ?? "", mark };
}

/** @param {...HTMLElement} inside */
function frame(...inside) {
  const wide = matchMedia("(min-width: 60rem)").matches;
  const head = el("summary", {}, "Messages");
  const box = el("details", { open: wide }, head, ...inside);
  return el("nav", { class: "messages", "aria-label": "Messages" }, box);
}

/** @param {State} state @param {() => Promise<void>} load */
function controls(state, load) {
  let waiting = 0;
  const typed = (/** @type {any} */ event) => {
    state.search = event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(() => load().then(() => say(plural(state.total, "message"))), PAUSE);
  };
  const ordered = (/** @type {string} */ order) => {
    state.order = order;
    load();
  };
  const search = el("input", { type: "search", autocomplete: "off", on: { input: typed } });
  return el(
    "div",
    { class: "list-tools" },
    labelled("Search", search),
    labelled("Order", select(ORDERS, state.order, ordered)),
  );
}

/**
 * @param {State} state
 * @param {HTMLElement} rows
 * @param {HTMLElement} foot
 * @param {() => void} more
 */
function drawRows(state, rows, foot, more) {
  const most = Math.max(1, ...state.found.map((one) => one.entropy_bits ?? 0));
  refill(rows, ...state.found.map((one) => row(state, one, most)));
  refill(foot, `${count(state.found.length)} of ${plural(state.total, "message")}`);
  if (state.found.length < state.total) fill(foot, button("Show more", more));
}

/** @param {State} state @param {MessageRow} one @param {number} most */
function row(state, one, most) {
  const now = one.message === state.chosen ? "true" : undefined;
  const href = address(state.view, { run: state.run, message: one.message, set: "" });
  const said = one.error ? el("span", { class: "bad" }, one.error) : uncertainty(one, most);
  const link = el(
    "a",
    { href, "aria-current": now },
    el("span", { class: "message-title" }, one.title || one.message),
    el("span", { class: "quiet message-id" }, one.message, one.keyed ? " · keyed" : ""),
    said,
  );
  return el("li", {}, link);
}

/** @param {MessageRow} one @param {number} most */
function uncertainty(one, most) {
  const value = one.entropy_bits ?? 0;
  return el(
    "span",
    { class: "uncertainty" },
    el("span", { class: "number" }, bits(value)),
    bar(value / most),
  );
}
