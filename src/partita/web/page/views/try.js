/** The Try view: resolve a pasted message without storing it. */

import * as api from "../api.js";
import { announce, button, el, labelled, replaceContent, select } from "../dom.js";
import { count, plural } from "../format.js";
import { LARGE, decisionPanel } from "../parts/decisions.js";
import { explanationNodes } from "../parts/explanation.js";
import { messagePane, setColumn } from "../parts/message.js";
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
const BULLETIN = `SAN SALVADOR, 12 MAY 90 -- GUERRILLAS ATTACKED A POLICE STATION IN USULUTAN LAST
NIGHT. THE GUERRILLAS THREW TWO BOMBS AT THE STATION. A POLICEMAN WAS KILLED AND THREE CIVILIANS
WERE WOUNDED. THE ATTACK LASTED TEN MINUTES. THE MAYOR OF USULUTAN CONDEMNED THE BOMBING.
`;
const POSTCARD = `Tom met Ana in Lisbon on 4 May 2021. They rented two bicycles and rode to the harbour.
The bicycles were old, but the ride along the river was the best part of the trip.
`;
/** A sample for each domain that is installed: what its button says, and the text. */
/** @type {Record<string, [string, string]>} */
const SAMPLES = {
  general: ["An article", ARTICLE],
  depots: ["The paper's message", EXAMPLE],
  incidents: ["A news bulletin", BULLETIN],
  english: ["Names and dates", POSTCARD],
};

/** @param {HTMLElement} root */
export async function show(root) {
  const { domains, models, about } = await api.domains();
  const view = {
    domain: domains.includes("general") ? "general" : domains[0],
    model: "",
    about,
    close: () => {},
    cancel: () => {},
  };
  const field = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { rows: "9", spellcheck: "false", id: "pasted" })
  );
  field.value = sessionStorage.getItem(TEXT_KEY) ?? "";
  const answer = el("div", { class: "tried", "aria-live": "polite" });
  const resolve = () => resolveText(view, field.value, answer);
  replaceContent(root, form(view, field, domains, models, resolve), answer);
  const close = () => {
    view.cancel();
    view.close();
  };
  return { close };
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
  const sample = (/** @type {string} */ domain) =>
    button(SAMPLES[domain][0], () => {
      field.value = SAMPLES[domain][1];
      domainMenu.value = domain;
      domainMenu.dispatchEvent(new Event("change"));
      resolve();
    });
  const samples = domains.filter((name) => SAMPLES[name]).sort(generalFirst).map(sample);
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
  );
  return el(
    "form",
    { class: "panel", on: { submit } },
    el("h1", {}, "Try a message"),
    labelled("Text", field),
    tools,
    covers,
    el("div", { class: "samples" }, el("span", { class: "quiet" }, "Samples:"), ...samples),
  );
}

/** @param {string} a @param {string} b */
const generalFirst = (a, b) => Number(b === "general") - Number(a === "general");

/** @param {any} view @param {string} text @param {HTMLElement} answer */
async function resolveText(view, text, answer) {
  sessionStorage.setItem(TEXT_KEY, text);
  view.cancel();
  view.close();
  if (!text.trim())
    return replaceContent(answer, el("p", { class: "notice" }, "Paste a text first."));
  const request = new AbortController();
  const stop = showProgress(text, answer, request);
  view.cancel = () => {
    stop();
    request.abort();
  };
  const { domain, model } = view;
  try {
    const message = await api.resolve(text, domain, model, request.signal);
    if (request.signal.aborted) return answer;
    return drawMessage(view, message, answer, { text, domain, model });
  } catch (error) {
    if (request.signal.aborted) return answer;
    return replaceContent(
      answer,
      errorPanel("The text could not be resolved", error, () => resolveText(view, text, answer)),
    );
  } finally {
    stop();
  }
}

/**
 * Show the time so far and a button that cancels.
 * @param {string} text
 * @param {HTMLElement} answer
 * @param {AbortController} request
 */
function showProgress(text, answer, request) {
  const started = performance.now();
  const length = `${count(Array.from(text).length)} characters`;
  const line = el("p", { class: "quiet" }, `Resolving ${length}…`);
  const tick = () => {
    const seconds = Math.round((performance.now() - started) / 1000);
    line.textContent = `Resolving ${length}… ${plural(seconds, "second")}`;
  };
  const timer = setInterval(tick, 1000);
  const cancel = button("Cancel", () => {
    clearInterval(timer);
    request.abort();
    replaceContent(answer, el("p", { class: "quiet" }, "Cancelled."));
    announce("Cancelled");
  });
  const bar = el("progress", { "aria-label": "Resolving" });
  replaceContent(answer, el("div", { class: "panel working" }, line, bar, cancel));
  return () => clearInterval(timer);
}

/** @typedef {{text: string, domain: string, model: string}} Asked */

/**
 * @param {any} view
 * @param {Message} message
 * @param {HTMLElement} answer
 * @param {Asked} asked
 */
function drawMessage(view, message, answer, asked) {
  const pane = messagePane(message, { links: (set) => [whyLink(set)] });
  view.close = pane.close;
  const text = el("div", { class: "panel text-panel" }, pane.text);
  const sets = el(
    "div",
    { class: "column sets-side" },
    decisionPanel(message),
    setColumn(pane),
    ...message.sets.filter((set) => set.templates.length <= LARGE).map((set) => whyPanel(set, asked)),
  );
  const notes = (message.notes ?? []).map((note) => el("p", { class: "notice" }, note));
  replaceContent(answer, ...notes, el("div", { class: "reading" }, text, sets, pane.entities));
  const entities = plural(message.entities.length, "entity", "entities");
  announce(`${plural(message.sets.length, "set")}, ${entities}`);
  return answer;
}

/** @param {ResultSet} set */
const panelId = (set) => `why-${set.set}`;

/** A link to the table of pairs of a set. @param {ResultSet} set */
function whyLink(set) {
  const show = () => {
    const panel = document.getElementById(panelId(set));
    panel?.scrollIntoView({ block: "start" });
    /** @type {HTMLElement|null|undefined} */ (panel?.querySelector("button"))?.focus();
  };
  return button("Why?", show, { class: "link-button", disabled: set.templates.length > LARGE });
}

/**
 * The pairs of a set; choosing one explains it.
 * @param {ResultSet} set
 * @param {Asked} asked
 */
function whyPanel(set, asked) {
  const [table, explanation] = [el("div"), el("div", { class: "answer", "aria-live": "polite" })];
  const explain = async (/** @type {string} */ left, /** @type {string} */ right) => {
    draw([left, right]);
    replaceContent(explanation, el("p", { class: "quiet" }, "Loading…"));
    const nodes = await api
      .whyText({ ...asked, model: asked.model || null, set: set.set, left, right })
      .then(explanationNodes, (error) => [
        errorPanel("The pair could not be explained", error, () => explain(left, right)),
      ]);
    replaceContent(explanation, ...nodes);
  };
  const draw = (/** @type {[string, string]|null} */ chosen) =>
    replaceContent(table, pairTable(set, chosen, explain));
  draw(null);
  const title = el("h2", {}, `Why? Pairs of ${set.set}`);
  const hint = el("p", { class: "quiet hint" }, "Choose a pair to see why.");
  return el("div", { class: "panel", id: panelId(set) }, title, table, hint, explanation);
}
