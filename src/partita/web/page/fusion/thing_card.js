/** A fused entity or object: its values with bars, the claims of the sources, links to the text. */

import { bar, el } from "../dom.js";
import { figure, probability, slotValue } from "../format.js";
import { groupLine, nameLine } from "../parts/entity.js";
import { hrefFor } from "../router.js";

/** @typedef {import("./result.js").Thing} Thing */
/** @typedef {import("./result.js").Slot} Slot */
/** @typedef {import("./result.js").Account} Account */

const CERTAIN = 0.99995;
const NEGLIGIBLE = 0.00005;
const MAX_VALUES = 5; // values of a slot

/**
 * @param {Thing} thing
 * @param {any[]} changed values that would change without a source
 * @param {{runs: Record<string, string>, without: string}} about
 */
export function thingCard(thing, changed, { runs, without }) {
  const changesOf = (/** @type {string} */ slot) =>
    changed
      .filter((change) => (change.slot ?? "") === slot)
      .map((change) => changeLine(change, without));
  const slots = thing.slots.flatMap((change) => slotRow(change, changesOf(change.name)));
  return el(
    "article",
    { class: changed.length ? "entity thing changed" : "entity thing" },
    nameLine(thing.name, thing.sort),
    thing.figure && thing.figure.probability <= CERTAIN && groupLine(thing.figure, thing.accounts.length > 1),
    ...changesOf(""),
    el("dl", { class: "facts slots" }, ...slots),
    accountList(thing, runs),
  );
}

/** @param {Slot} slot @param {HTMLElement[]} changesOf */
function slotRow(slot, changesOf) {
  const shown = slot.values.slice(0, MAX_VALUES).map(valueLine);
  const more = slot.values.length - shown.length;
  return [
    el("dt", {}, slot.name),
    el(
      "dd",
      {},
      ...shown,
      more > 0 ? el("span", { class: "quiet" }, `${more} more`) : null,
      slot.unknown > NEGLIGIBLE ? unknownLine(slot.unknown) : null,
      slot.conflict > NEGLIGIBLE ? conflictLine(slot.conflict) : null,
      ...changesOf,
    ),
  ];
}

/** @param {import("./result.js").FusedValue} value */
function valueLine(value) {
  const sources = value.sources.length ? ` (${value.sources.join(", ")})` : "";
  const text = el("span", { class: "value-text" }, slotValue(value.value));
  text.append(el("span", { class: "quiet" }, sources));
  const number = el("span", { class: "number" }, figure(value));
  return el("span", { class: "value" }, text, number, bar(value.probability));
}

/** @param {number} p */
function unknownLine(p) {
  const text = el("span", { class: "value-text" }, "unknown");
  const number = el("span", { class: "number" }, probability(p));
  return el("span", { class: "value unknown" }, text, number, bar(p, "hatched"));
}

/** @param {number} kappa */
const conflictLine = (kappa) =>
  el("span", { class: "kappa" }, `conflict: κ = ${probability(kappa)}`);

/** @param {any} change @param {string} without */
function changeLine(change, without) {
  const [before, after] = [
    [change.before, change.before_probability],
    [change.after, change.after_probability],
  ].map(([value, p]) => (value ? `${slotValue(value)} (${probability(p)})` : "no value"));
  return el("p", { class: "notice change" }, `Without ${without}: ${after} instead of ${before}`);
}

/** @param {Thing} thing @param {Record<string, string>} runs */
function accountList({ accounts }, runs) {
  const rows = accounts.map((account) => accountRow(account, runs));
  const title = el("summary", {}, `Claims by source (${rows.length})`);
  return el("details", { class: "claims" }, title, el("ul", {}, ...rows));
}

/** @param {Account} account @param {Record<string, string>} runs */
function accountRow({ source, claims, locations }, runs) {
  const claimed = claims.map(([slot, value]) => `${slot} ${slotValue(value)}`).join(", ");
  const places = locations.map((location) => sourceLocation(location, runs));
  return el(
    "li",
    {},
    el("span", {}, el("strong", {}, source), `: ${claimed || "mentioned without values"}`),
    el("span", { class: "locations" }, ...places),
  );
}

/** The place of a claim: a link to the expression in a run, or the line of a file. */
function sourceLocation(/** @type {import("./result.js").Location} */ location, /** @type {Record<string, string>} */ runs) {
  const run = Object.hasOwn(runs, location.file) ? runs[location.file] : "";
  if (!run || !location.template)
    return el("span", { class: "quiet" }, `${location.file}, line ${location.line}`);
  const href = hrefFor("read", {
    run,
    message: location.message,
    set: "",
    template: location.template,
  });
  const text = `“${location.text || location.template}” in ${location.message}`;
  return el("a", { href }, text);
}
