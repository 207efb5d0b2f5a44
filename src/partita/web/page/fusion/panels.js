/** The result of fusion: values, conflicts, what changes without a source, and reliabilities. */

import { agreementDiagram } from "../charts/agreement.js";
import { append, bar, button, el, labelled, replaceContent, select } from "../dom.js";
import { count, plural, probability } from "../format.js";
import { titledPanel } from "../parts/panels.js";
import { selection } from "./input.js";
import { changesByThing, fusedThings, trustBySource } from "./result.js";
import { thingCard } from "./thing_card.js";

/** @typedef {import("../types.js").Fused} Fused */

const PAGE_SIZE = 24;

/**
 * @param {HTMLElement} root
 * @param {Fused} fused
 * @param {(without: string) => void} setWithout
 */
export function drawFused(root, fused, setWithout) {
  const notes = fused.notes.map((name) => el("p", { class: "notice" }, name));
  replaceContent(
    root,
    fusedHeading(fused, setWithout),
    ...notes,
    contradictions(fused),
    thingList(fused),
    trustPanel(fused),
    agreementPanel(fused),
  );
}

/** @param {Fused} fused @param {(without: string) => void} setWithout */
function fusedHeading(fused, setWithout) {
  const list = fusedThings(fused);
  const options = selection.namedSources.map(
    (name) => /** @type {[string, string]} */ ([name, name]),
  );
  const menu = select([["", "none"], ...options], selection.without, setWithout, {
    id: "without",
  });
  const counts = [
    fused.entities ? plural(list.length, "entity", "entities") : plural(list.length, "object"),
    plural(selection.namedSources.length, "source"),
    fused.compared &&
      `${count(fused.compared.pairs)} of ${count(fused.compared.of)} pairs compared`,
  ];
  return el(
    "section",
    { class: "panel fused-head", "aria-label": "Result" },
    el("h2", {}, counts.filter(Boolean).join(", ")),
    labelled("Leave out a source", menu),
    fused.without ? withoutLine(fused.without) : null,
  );
}

/** @param {{source: string, changes: any[]}} without */
function withoutLine({ source, changes }) {
  const what = changes.length ? plural(changes.length, "value") : "no value";
  const verb = changes.length > 1 ? "change" : "changes";
  return el("p", { class: "summary-line", role: "status" }, `Without ${source}, ${what} ${verb}.`);
}

/** The sets about whose coreference sources disagree. @param {Fused} fused */
function contradictions({ sets = [] }) {
  const contradicted = sets.filter((set) => set.contradicted?.length);
  if (!contradicted.length) return null;
  const rows = contradicted.flatMap((set) => [
    el("li", {}, `Set ${set.set}: κ = ${probability(set.conflict ?? 0)}`),
    ...(set.contradicted ?? []).map(({ left, right, conflict }) =>
      el("li", { class: "quiet" }, `${left} and ${right}: ${probability(conflict)}`),
    ),
  ]);
  return titledPanel("Sources disagree about coreference", el("ul", {}, ...rows));
}

/** @param {Fused} fused */
function thingList(fused) {
  const list = fusedThings(fused);
  const changed = changesByThing(fused);
  const context = { runs: fused.runs, without: fused.without?.source ?? "" };
  const grid = el("div", { class: "entity-grid things" });
  const footer = el("p", { class: "quiet list-foot" });
  const showMore = () => {
    const next = list.slice(grid.childElementCount, grid.childElementCount + PAGE_SIZE);
    append(grid, ...next.map((thing) => thingCard(thing, changed.get(thing.id) ?? [], context)));
    const shown = grid.childElementCount;
    replaceContent(footer, `${count(shown)} of ${count(list.length)}`);
    if (shown < list.length) append(footer, button("Show more", showMore));
  };
  showMore();
  return el("section", { class: "entities-of", "aria-label": "Values" }, grid, footer);
}

/** @typedef {import("./result.js").Trust} Trust */

const RATE_LABELS = [
  ["exact", "exact"],
  ["general", "less specific"],
  ["guess", "guessed"],
];
const MAX_LABELS = 4;
const HINT =
  "Probability that a claim of the source is true; the line on the bar is a 95% interval.";

/** @param {Fused} fused */
export function trustPanel(fused) {
  const rows = [...trustBySource(fused)].map(([name, slots]) => sourceTrust(name, slots));
  return titledPanel(
    "Reliability of the sources",
    el("p", { class: "quiet" }, HINT),
    el("ul", { class: "trusted" }, ...rows),
    ...(fused.copying ?? []).map(copyingLine),
  );
}

const AGREEMENT_HINT =
  "Claims were held out and predicted from the others. Agreement is below what is stated, since " +
  "a held-out claim may be wrong too; the two should rise together.";
const DIAGRAM = 240;

/** How far the claims of each slot bear out what is stated. @param {Fused} fused */
function agreementPanel({ slots = {} }) {
  const figures = Object.entries(slots)
    .filter(([, { held_out: heldOut }]) => heldOut?.bins.length)
    .map(([name, { held_out: heldOut }]) =>
      el(
        "figure",
        {},
        agreementDiagram(heldOut.bins, DIAGRAM),
        el("figcaption", { class: "quiet" }, `${name}: ${count(heldOut.claims)} claims`),
      ),
    );
  if (!figures.length) return null;
  const hint = el("p", { class: "quiet" }, AGREEMENT_HINT);
  return titledPanel("How far to believe this table", hint, ...figures);
}

/** @param {string} name @param {Trust[]} slots */
const sourceTrust = (name, slots) => el("li", {}, el("h3", {}, name), ...slots.map(slotTrust));

/** @param {Trust} trust */
function slotTrust(trust) {
  const figure = el(
    "span",
    { class: "number" },
    `${trust.reliability.toFixed(3)} ${intervalText(trust)}`,
  );
  return el(
    "div",
    { class: "trust-row", "data-slot": trust.slot },
    el("span", { class: "quiet" }, trust.slot || "all slots"),
    figure,
    intervalBar(trust),
    el("p", { class: "quiet" }, claimsText(trust)),
  );
}

/** @param {Trust} trust */
function intervalText({ given, low, high }) {
  if (given) return "set by you";
  return low === undefined || high === undefined ? "" : `(${low.toFixed(3)} to ${high.toFixed(3)})`;
}

/** The interval as a line across the bar. @param {Trust} trust */
function intervalBar({ given, reliability, low, high }) {
  const reliabilityBar = bar(reliability);
  if (given || low === undefined || high === undefined) return reliabilityBar;
  const line = el("span", { class: "bar-spread" });
  line.style.left = `${low * 100}%`;
  line.style.width = `${(high - low) * 100}%`;
  reliabilityBar.append(line);
  reliabilityBar.classList.add("spread");
  return reliabilityBar;
}

/** @param {Trust} trust */
function claimsText(trust) {
  const { claims, right, rough = 0, rates = {}, given } = trust;
  const wrong = trust.wrong ?? claims - right;
  const expected = [
    `${right.toFixed(1)} correct`,
    rough > 0.05 && `${rough.toFixed(1)} correct but less specific`,
    `${wrong.toFixed(1)} wrong`,
  ].filter(Boolean);
  const claimsPart = claims
    ? `${plural(claims, "claim")}: ${expected.join(", ")}`
    : "no other source mentions it";
  return [claimsPart, !given && ratesText(rates)].filter(Boolean).join("; ");
}

/**
 * Describe the rates of an open slot, or how often each value of a closed slot is recognised.
 * @param {any} rates
 */
function ratesText(rates) {
  if (typeof rates.exact === "number")
    return RATE_LABELS.filter(([name]) => rates[name] > 0.005)
      .map(([name, word]) => `${word} ${rates[name].toFixed(2)}`)
      .join(", ");
  return Object.entries(rates)
    .slice(0, MAX_LABELS)
    .map(([label, row]) => `${label} recognised ${row[label].toFixed(2)}`)
    .join(", ");
}

/** @param {any} copying */
function copyingLine(copying) {
  const evidence =
    `${copying.shared} shared errors, ${copying.expected.toFixed(1)} expected ` +
    `(p ${probability(copying.significance)})`;
  return el(
    "p",
    { class: "notice" },
    `${copying.copier} may copy ${copying.original} (${copying.slot || "type"}): ${evidence}`,
  );
}
