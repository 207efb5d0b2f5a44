/** The explanation of a pair: two waterfalls, first the pair alone, then the rest of its set. */

import { featureSteps, influenceSteps, pushing } from "../charts/steps.js";
import { fitted } from "../charts/svg.js";
import { waterfall } from "../charts/waterfall.js";
import { button, el, refill } from "../dom.js";
import { probability, signed } from "../numbers.js";
import { bar } from "./bar.js";

/** @typedef {import("../types.js").Explanation} Explanation */
/** @typedef {import("../types.js").PairAlone} PairAlone */
/** @typedef {import("../types.js").RestOfSet} RestOfSet */

const FEW = 12;

/** @param {Explanation} explanation @returns {Node[]} */
export function told(explanation) {
  const { pair, rest, expressions, notes } = explanation;
  return [
    heading(explanation),
    fromTo(explanation),
    ...notes.map((one) => el("p", { class: "noted" }, one)),
    ...(pair ? alone(pair) : []),
    ...(rest ? others(rest, expressions) : []),
  ];
}

/** @param {Explanation} explanation */
function heading({ left, right, expressions }) {
  const name = (/** @type {string} */ id) => (id in expressions ? ` “${expressions[id]}”` : "");
  return el("h2", {}, `${left}${name(left)} = ${right}${name(right)}`);
}

/** @param {Explanation} explanation */
function fromTo({ probability: p, marginal }) {
  const lines = [line("the pair alone", p), line("given everything else", marginal)];
  return el("div", { class: "from-to" }, ...lines);
}

/** @param {string} text @param {number} p */
function line(text, p) {
  const number = el("span", { class: "number" }, probability(p));
  return el("p", { class: "figure-line" }, el("span", {}, text), number, bar(p));
}

/** @param {PairAlone} pair */
function alone(pair) {
  const many = pushing(pair).length;
  const box = el("div", {}, features(pair, FEW));
  const more = button(`All ${many} features`, () => {
    refill(box, features(pair, many));
    more.hidden = true;
  });
  more.hidden = many <= FEW + 1;
  return [el("h3", {}, "What each feature pushes, in log-odds"), box, more, table(pair)];
}

/** @param {PairAlone} pair @param {number} most */
function features(pair, most) {
  const steps = featureSteps(pair, most);
  const sum = `${signed(pair.log_odds)}, probability ${probability(pair.probability)}`;
  const label = `${steps.length - 1} pushes that add up to ${sum}`;
  const format = (/** @type {number} */ value) => (value ? signed(value, 1) : "0");
  return fitted((width) => waterfall(steps, width, label, { format }));
}

/** The same as a table, with what each characteristic observes. @param {PairAlone} pair */
function table(pair) {
  const names = ["Feature", "Weight", "What it observes"];
  const head = el("tr", {}, ...names.map((one) => el("th", { scope: "col" }, one)));
  const rows = pair.contributions.map(({ feature, weight, documentation }) => {
    const number = el("td", { class: "number" }, signed(weight, 4));
    return el("tr", {}, el("td", {}, feature), number, el("td", {}, documentation));
  });
  const made = el("table", { class: "plain" }, el("thead", {}, head), el("tbody", {}, ...rows));
  const title = el("summary", {}, "As a table, with what each feature observes");
  return el("details", {}, title, el("div", { class: "wide" }, made));
}

/** @param {RestOfSet} rest @param {Record<string, string>} expressions */
function others(rest, expressions) {
  if (!rest.influences.length) return [];
  const ends = `From ${probability(rest.probability)} to ${probability(rest.marginal)}`;
  const label = `${ends} by ${rest.influences.length} steps`;
  const steps = influenceSteps(rest, expressions);
  const drawn = fitted((width) => waterfall(steps, width, label, { low: 0, high: 1 }));
  return [el("h3", {}, "What the other templates did, in probability"), drawn];
}
