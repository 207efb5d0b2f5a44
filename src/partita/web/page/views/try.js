/** Try: paste a message, and see at once what is made of it; nothing is kept. */

import * as api from "../calls.js";
import { button, el, labelled, refill, say, select } from "../dom.js";
import { plural } from "../numbers.js";
import { matrix } from "../parts/matrix.js";
import { entitiesOf, messagePane, setsOf } from "../parts/message.js";
import { trouble } from "../parts/trouble.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

const KEPT = "partita.try";
const EXAMPLE = `Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of Raleigh, consisting
of extensive admin and support areas (similar to the ammunition depot in
Fairview), two material storage areas, extensive transshipment facilities
(some of which are under construction immediately east of the depot), and
several training areas.
`;

/** @param {HTMLElement} root */
export async function show(root) {
  const { domains, models } = await api.domains();
  const view = {
    domain: domains.includes("depots") ? "depots" : domains[0],
    model: "evidential",
    close: () => {},
  };
  const field = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { rows: "9", spellcheck: "false", id: "pasted" })
  );
  field.value = sessionStorage.getItem(KEPT) ?? "";
  const answer = el("div", { class: "tried", "aria-live": "polite" });
  const go = () => resolved(view, field.value, answer);
  refill(root, form(view, field, domains, models, go), answer);
  return { close: () => view.close() };
}

/**
 * @param {any} view
 * @param {HTMLTextAreaElement} field
 * @param {string[]} domains
 * @param {string[]} models
 * @param {() => void} go
 */
function form(view, field, domains, models, go) {
  const options = (/** @type {string[]} */ names) =>
    names.map((one) => /** @type {[string, string]} */ ([one, one]));
  const example = button("The paper's message", () => {
    field.value = EXAMPLE;
    go();
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    go();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  const tools = el(
    "div",
    { class: "tools" },
    labelled(
      "Domain",
      select(options(domains), view.domain, (name) => (view.domain = name)),
    ),
    labelled(
      "Model",
      select(options(models), view.model, (name) => (view.model = name)),
    ),
    el("button", { type: "submit", class: "main-button" }, "Who is who?"),
    example,
  );
  return el(
    "form",
    { class: "panel", on: { submit } },
    el("h1", {}, "Try a message"),
    labelled("Message", field),
    tools,
  );
}

/** @param {any} view @param {string} text @param {HTMLElement} answer */
async function resolved(view, text, answer) {
  sessionStorage.setItem(KEPT, text);
  view.close();
  if (!text.trim()) return refill(answer, el("p", { class: "noted" }, "Paste a message first."));
  refill(answer, el("p", { class: "quiet" }, "Resolving…"));
  try {
    const message = await api.resolve(text, view.domain, view.model);
    return drawMessage(view, message, answer);
  } catch (error) {
    return refill(
      answer,
      trouble(error, () => resolved(view, text, answer)),
    );
  }
}

/** @param {any} view @param {Message} message @param {HTMLElement} answer */
function drawMessage(view, message, answer) {
  const pane = messagePane(message);
  view.close = pane.close;
  const text = el("div", { class: "panel text-panel" }, pane.text);
  const sets = el("div", { class: "column sets-side" }, setsOf(pane), ...message.sets.map(pairs));
  refill(answer, el("div", { class: "reading" }, text, sets, entitiesOf(message)));
  const found = plural(message.entities.length, "entity", "entities");
  say(`${plural(message.sets.length, "set")}, ${found}`);
}

/** @param {ResultSet} set */
const pairs = (set) =>
  el("div", { class: "panel" }, el("h2", {}, `Pairs of ${set.set}`), matrix(set));
