/** Read: the messages of a run, and one of them with what is known of who is who. */

import * as api from "../calls.js";
import { el, refill } from "../dom.js";
import { bits, plural } from "../numbers.js";
import { entitiesOf, messagePane, setsOf, showRank } from "../parts/message.js";
import { messageList } from "../parts/message_list.js";
import { nothing, trouble } from "../parts/trouble.js";
import { address, note } from "../place.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

/** @param {HTMLElement} root @param {import("../place.js").Place} place */
export async function show(root, place) {
  if (!place.run) {
    refill(root, nothing("Nothing to read yet", ...BEGIN));
    return {};
  }
  const list = await messageList(place.run, place.message, "read");
  const body = el("div", { class: "reading" });
  let close = () => {};
  const open = async (/** @type {import("../place.js").Place} */ now) => {
    close();
    const name = now.message || list.first();
    list.mark(name);
    close = name ? await openMessage(body, now, name) : empty(body);
  };
  refill(root, list.node, body);
  await open(place);
  const update = (/** @type {import("../place.js").Place} */ now) => {
    open(now).catch((error) =>
      refill(
        body,
        trouble(error, () => update(now)),
      ),
    );
    return true;
  };
  return { update, close: () => close() };
}

const BEGIN = [
  "Put the paper's message into the store with ",
  el("code", {}, "partita demo"),
  ", your own with ",
  el("code", {}, "partita run FILE… --store partita.db"),
  ", or paste one under Try.",
];

/** @param {HTMLElement} body */
function empty(body) {
  refill(body, nothing("No message", "Nothing in this run is called so."));
  return () => {};
}

/** @param {HTMLElement} body @param {import("../place.js").Place} place @param {string} name */
async function openMessage(body, place, name) {
  const message = await api.message(place.run, name);
  const pane = messagePane(message, {
    links: (set) => setLinks(place.run, name, set),
    noted: (set, rank) => note({ run: place.run, message: name, set, rank }),
  });
  const text = el("div", { class: "panel text-panel" }, heading(message), pane.text, hint(message));
  refill(body, text, setsOf(pane), entitiesOf(message));
  if (place.set) showRank(pane, place.set, Number(place.rank) || 0);
  if (place.template) reveal(pane.text, place.template);
  return pane.close;
}

/** @param {Message} message */
function heading(message) {
  const whole = message.sets.reduce((sum, one) => sum + (one.entropy_bits ?? 0), 0);
  const said = [plural(message.sets.length, "set"), `${bits(whole)} uncertain`].join(", ");
  return el(
    "header",
    { class: "text-head" },
    el("h1", {}, message.message),
    el("p", { class: "quiet" }, said),
  );
}

/** @param {Message} message */
function hint(message) {
  if (!message.sets.length) return null;
  return el("p", { class: "quiet hint" }, "Arrow keys step through the configurations.");
}

/** @param {string} run @param {string} message @param {ResultSet} set */
function setLinks(run, message, set) {
  const given = { run, message, set: set.set };
  return [
    el("a", { href: address("why", given) }, "Why?"),
    el("a", { href: address("key", given) }, "Write the key"),
  ];
}

/** Bring a template into sight and point at it. @param {HTMLElement} text @param {string} id */
function reveal(text, id) {
  const tags = [...text.querySelectorAll(".tag")];
  const found = tags.find((one) => one.getAttribute("data-template") === id);
  requestAnimationFrame(() => /** @type {HTMLElement|undefined} */ (found)?.focus());
}
