/** The Try view: resolve a pasted message without storing it. */

import * as api from "../api.js";
import { announce, button, el, labelled, replaceContent, select } from "../dom.js";
import { plural } from "../format.js";
import { LARGE, decisionPanel } from "../parts/decisions.js";
import { entitySection, messagePane, setColumn } from "../parts/message.js";
import { pairTable } from "../parts/pair_table.js";
import { errorPanel } from "../parts/panels.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Message} Message */

const TEXT_KEY = "partita.try";
const ARTICLE = `Acme to buy Borealis

Acme Corp. said on Monday that it would buy Borealis, a maker of weather balloons,
for $40 million. Jane Doe, the chief executive of Acme, told reporters that the deal
would close in May. "We have wanted this company for years," she said.

Borealis was founded in Oslo in 1998. Its chairman, Lars Berg, will leave the firm
when the sale is complete. He declined to comment on the price.
`;
const EXAMPLE = `Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of Raleigh, consisting
of extensive admin and support areas (similar to the ammunition depot in
Fairview), two material storage areas, extensive transshipment facilities
(some of which are under construction immediately east of the depot), and
several training areas.
`;

/** @param {HTMLElement} root */
export async function show(root) {
  const { domains, models, about } = await api.domains();
  const view = {
    domain: domains.includes("general") ? "general" : domains[0],
    model: "",
    about,
    close: () => {},
  };
  const field = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { rows: "9", spellcheck: "false", id: "pasted" })
  );
  field.value = sessionStorage.getItem(TEXT_KEY) ?? "";
  const answer = el("div", { class: "tried", "aria-live": "polite" });
  const resolve = () => resolveText(view, field.value, answer);
  replaceContent(root, form(view, field, domains, models, resolve), answer);
  return { close: () => view.close() };
}

/**
 * @param {any} view
 * @param {HTMLTextAreaElement} field
 * @param {string[]} domains
 * @param {string[]} models
 * @param {() => void} resolve
 */
function form(view, field, domains, models, resolve) {
  const options = (/** @type {string[]} */ names) =>
    names.map((name) => /** @type {[string, string]} */ ([name, name]));
  const covers = el("p", { class: "quiet" }, view.about[view.domain] ?? "");
  const domainMenu = select(options(domains), view.domain, (name) => {
    view.domain = name;
    covers.textContent = view.about[name] ?? "";
  });
  const example = (/** @type {string} */ name, /** @type {string} */ domain, /** @type {string} */ text) =>
    button(name, () => {
      field.value = text;
      domainMenu.value = domain;
      domainMenu.dispatchEvent(new Event("change"));
      resolve();
    });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    resolve();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  const tools = el(
    "div",
    { class: "tools" },
    labelled("Domain", domainMenu),
    labelled(
      "Model",
      select([["", "the domain's own"], ...options(models)], view.model, (name) => {
        view.model = name;
      }),
    ),
    el("button", { type: "submit", class: "main-button" }, "Resolve"),
    example("An article", "general", ARTICLE),
    example("The paper's message", "depots", EXAMPLE),
  );
  return el(
    "form",
    { class: "panel", on: { submit } },
    el("h1", {}, "Try a message"),
    labelled("Message", field),
    tools,
    covers,
  );
}

/** @param {any} view @param {string} text @param {HTMLElement} answer */
async function resolveText(view, text, answer) {
  sessionStorage.setItem(TEXT_KEY, text);
  view.close();
  if (!text.trim())
    return replaceContent(answer, el("p", { class: "notice" }, "Paste a message first."));
  replaceContent(answer, el("p", { class: "quiet" }, "Resolving…"));
  try {
    const message = await api.resolve(text, view.domain, view.model);
    return drawMessage(view, message, answer);
  } catch (error) {
    return replaceContent(
      answer,
      errorPanel("The message could not be resolved", error, () => resolveText(view, text, answer)),
    );
  }
}

/** @param {any} view @param {Message} message @param {HTMLElement} answer */
function drawMessage(view, message, answer) {
  const pane = messagePane(message);
  view.close = pane.close;
  const text = el("div", { class: "panel text-panel" }, pane.text);
  const sets = el(
    "div",
    { class: "column sets-side" },
    setColumn(pane),
    ...message.sets.filter((set) => set.templates.length <= LARGE).map(pairPanel),
  );
  const notes = (message.notes ?? []).map((note) => el("p", { class: "notice" }, note));
  const decisions = decisionPanel(message);
  const parts = decisions
    ? [entitySection(message), decisions, text, sets]
    : [text, sets, entitySection(message)];
  replaceContent(answer, ...notes, el("div", { class: "reading" }, ...parts));
  const entities = plural(message.entities.length, "entity", "entities");
  announce(`${plural(message.sets.length, "set")}, ${entities}`);
}

/** @param {ResultSet} set */
const pairPanel = (set) =>
  el("div", { class: "panel" }, el("h2", {}, `Pairs of ${set.set}`), pairTable(set));
