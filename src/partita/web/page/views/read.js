/** The Read view: the messages of a run, and one message with its sets and entities. */

import * as api from "../api.js";
import { el, replaceContent } from "../dom.js";
import { bits, plural } from "../format.js";
import { decisionPanel } from "../parts/decisions.js";
import { isText } from "../parts/cells.js";
import { messagePane, selectConfiguration, setColumn } from "../parts/message.js";
import { openMention } from "../parts/marked_text.js";
import { messageList } from "../parts/message_list.js";
import { downloadLink, emptyPanel, errorPanel } from "../parts/panels.js";
import { hrefFor, replaceRoute } from "../router.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, route) {
  const list = await messageList(route.run, route.message);
  const body = el("div", { class: "reading" });
  let close = () => {};
  const open = async (/** @type {import("../router.js").Route} */ next) => {
    close();
    const name = next.message || list.first();
    list.select(name);
    close = name ? await openMessage(body, next, name) : showEmpty(body);
  };
  replaceContent(root, list.node, body);
  await open(route);
  const update = (/** @type {import("../router.js").Route} */ next) => {
    open(next).catch((error) =>
      replaceContent(
        body,
        errorPanel("The message could not be opened", error, () => update(next)),
      ),
    );
    return true;
  };
  return { update, close: () => close() };
}

/** @param {HTMLElement} body */
function showEmpty(body) {
  replaceContent(body, emptyPanel("No messages", "This run has no messages."));
  return () => {};
}

/** @param {HTMLElement} body @param {import("../router.js").Route} route @param {string} name */
async function openMessage(body, route, name) {
  const message = await api.message(route.run, name);
  const pane = messagePane(message, {
    links: (set) => setLinks(route.run, name, set),
    onChoose: (set, rank) => replaceRoute({ run: route.run, message: name, set, rank }),
  });
  const text = el(
    "div",
    { class: "panel text-panel" },
    textHeading(route.run, message),
    pane.text,
    keyboardHint(message),
  );
  const decisions = decisionPanel(message);
  const side = el("div", { class: "column sets-side" }, decisions, setColumn(pane));
  replaceContent(body, text, side, pane.entities);
  if (route.set) selectConfiguration(pane, route.set, Number(route.rank) || 0);
  if (route.template) requestAnimationFrame(() => openMention(pane.text, route.template));
  return pane.close;
}

/** @param {string} run @param {Message} message */
function textHeading(run, message) {
  const total = message.sets.reduce((sum, set) => sum + (set.entropy_bits ?? 0), 0);
  const entities = plural(message.entities.length, "entity", "entities");
  const summary = message.sets.some(isText)
    ? `${plural(message.home.size, "mention")}, ${entities}`
    : [plural(message.sets.length, "set"), `${bits(total)} of uncertainty`].join(", ");
  return el(
    "header",
    { class: "text-head" },
    el("h1", {}, message.message),
    el("p", { class: "quiet" }, summary),
    exportLinks(run),
  );
}

/** Downloads of the run: tables. @param {string} run */
function exportLinks(run) {
  const link = downloadLink(run);
  return el(
    "p",
    { class: "links exports" },
    el("span", { class: "quiet" }, "Download"),
    link("Entities", "export/entities.csv"),
    link("Results", "export/results.jsonl"),
  );
}

/** @param {Message} message */
function keyboardHint(message) {
  if (!message.sets.length || message.sets.some(isText)) return null;
  const touch = matchMedia("(pointer: coarse)").matches;
  const hint = touch ? "Tap a configuration to see it." : "The arrow keys step through the configurations.";
  return el("p", { class: "quiet hint" }, hint);
}

/** @param {string} run @param {string} message @param {ResultSet} set */
function setLinks(run, message, set) {
  const parameters = { run, message, set: set.set };
  return [
    el("a", { href: hrefFor("why", parameters) }, "Why?"),
    el("a", { href: hrefFor("key", parameters) }, "Label this set"),
  ];
}
