/** A thing of which sources speak: its values with bars, who said what, and the way to the text. */

import { el } from "../dom.js";
import { figure, plural, probability, slotValue } from "../numbers.js";
import { bar } from "../parts/bar.js";
import { address } from "../place.js";

/** @typedef {import("./told.js").Thing} Thing */
/** @typedef {import("./told.js").Slot} Slot */
/** @typedef {import("./told.js").Held} Held */
/** @typedef {import("./told.js").Account} Account */
/** @typedef {import("./told.js").Spot} Spot */

const SURE = 0.99995;
const LITTLE = 0.00005;
const SHOWN = 5; // values of a slot

/**
 * @param {Thing} thing
 * @param {any[]} changed what would be otherwise without a source
 * @param {{runs: Record<string, string>, without: string}} about
 */
export function thingCard(thing, changed, { runs, without }) {
  const otherwise = (/** @type {string} */ slot) =>
    changed.filter((one) => (one.slot ?? "") === slot).map((one) => change(one, without));
  const slots = thing.slots.flatMap((one) => slotRow(one, otherwise(one.name)));
  return el(
    "article",
    { class: changed.length ? "entity thing changed" : "entity thing" },
    el(
      "header",
      {},
      el("h3", {}, thing.name),
      thing.sort ? el("span", { class: "sort" }, thing.sort) : null,
    ),
    oneThing(thing),
    ...otherwise(""),
    el("dl", { class: "facts slots" }, ...slots),
    saidBy(thing, runs),
  );
}

/** @param {Thing} thing */
function oneThing({ figure: told, accounts }) {
  if (!told || told.probability > SURE) return null;
  const words = accounts.length > 1 ? "exactly these are one" : "stands alone";
  return el(
    "p",
    { class: "figure-line" },
    el("span", { class: "quiet" }, words),
    el("span", { class: "number" }, figure(told)),
    bar(told.probability),
  );
}

/** @param {Slot} slot @param {HTMLElement[]} otherwise */
function slotRow(slot, otherwise) {
  const shown = slot.values.slice(0, SHOWN).map(value);
  const more = slot.values.length - shown.length;
  return [
    el("dt", {}, slot.name),
    el(
      "dd",
      {},
      ...shown,
      more > 0 ? el("span", { class: "quiet" }, `${more} more`) : null,
      slot.unknown > LITTLE ? unknown(slot.unknown) : null,
      slot.conflict > LITTLE ? conflict(slot.conflict) : null,
      ...otherwise,
    ),
  ];
}

/** @param {Held} one */
function value(one) {
  const by = one.sources.length ? ` (${one.sources.join(", ")})` : "";
  const words = el("span", { class: "value-text" }, slotValue(one.value));
  words.append(el("span", { class: "quiet" }, by));
  const number = el("span", { class: "number" }, figure(one));
  return el("span", { class: "value" }, words, number, bar(one.probability));
}

/** @param {number} p */
function unknown(p) {
  const words = el("span", { class: "value-text" }, "unknown");
  const number = el("span", { class: "number" }, probability(p));
  return el("span", { class: "value unknown" }, words, number, bar(p, "hatched"));
}

/** @param {number} kappa */
const conflict = (kappa) =>
  el("span", { class: "kappa" }, `sources conflict: κ = ${probability(kappa)}`);

/** @param {any} one @param {string} without */
function change(one, without) {
  const [was, is] = [
    [one.before, one.before_probability],
    [one.after, one.after_probability],
  ].map(([said, p]) => (said ? `${slotValue(said)} ${probability(p)}` : "nothing"));
  return el("p", { class: "noted otherwise" }, `Without ${without}: ${is}, not ${was}`);
}

/** @param {Thing} thing @param {Record<string, string>} runs */
function saidBy({ accounts }, runs) {
  const rows = accounts.map((one) => accountRow(one, runs));
  const title = el("summary", {}, `Who said what: ${plural(rows.length, "account")}`);
  return el("details", { class: "said" }, title, el("ul", {}, ...rows));
}

/** @param {Account} account @param {Record<string, string>} runs */
function accountRow({ source, said, spots }, runs) {
  const words = said.map(([slot, told]) => `${slot} ${slotValue(told)}`).join(", ");
  const places = spots.map((one) => spot(one, runs));
  return el(
    "li",
    {},
    el("span", {}, el("strong", {}, source), ` says ${words || "that it is there"}`),
    el("span", { class: "spots" }, ...places),
  );
}

/** Of a run the expression, which leads to its place in the text. */
function spot(/** @type {Spot} */ one, /** @type {Record<string, string>} */ runs) {
  const run = Object.hasOwn(runs, one.file) ? runs[one.file] : "";
  if (!run || !one.template)
    return el("span", { class: "quiet" }, `${one.file}, line ${one.line}`);
  const href = address("read", { run, message: one.message, set: "", template: one.template });
  const words = `“${one.text || one.template}” in ${one.message}`;
  return el("a", { href }, words);
}
