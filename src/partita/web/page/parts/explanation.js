/** The explanation of a pair: a waterfall of its features, and one of the other templates. */

import { responsive } from "../charts/svg.js";
import { waterfall } from "../charts/waterfall.js";
import { bar, button, el, replaceContent, table } from "../dom.js";
import { probability, signed } from "../format.js";

/** @typedef {import("../types.js").Explanation} Explanation */
/** @typedef {import("../types.js").PairAlone} PairAlone */
/** @typedef {import("../types.js").RestOfSet} RestOfSet */

const SHOWN_FEATURES = 12;

// values that say nothing about a pair: the weight of such a feature belongs to the starting point
const SAYS_NOTHING = /: (no|none|nothing|unknown|any|neither|no pronoun|not both\b.*)$/;
const CHANGED_LITTLE = 0.05;

/** @param {Explanation} explanation @returns {Node[]} */
export function explanationNodes(explanation) {
  const { pair, rest, expressions, notes } = explanation;
  return [
    heading(explanation),
    el("p", { class: "sentence" }, sentence(explanation)),
    probabilityLines(explanation),
    ...notes.map((note) => el("p", { class: "quiet" }, note)),
    ...(pair ? featureSection(pair, explanation) : []),
    ...(rest ? influenceSection(rest, expressions) : []),
  ];
}

/** @param {number} p */
const percent = (p) => (p > 0 && p < 0.005 ? "under 1 %" : `${Math.round(p * 100)} %`);

/** The explanation in one sentence. @param {Explanation} explanation */
export function sentence({ right, probability: p, marginal, rest, decision }) {
  if (decision) return decision.sentence;
  if (!rest) return `Overall ${percent(marginal)} that the two are the same.`;
  const figures = `Alone ${percent(p)}, overall ${percent(marginal)}`;
  if (Math.abs(p - marginal) < CHANGED_LITTLE)
    return `${figures}: the other mentions change little.`;
  const falls = marginal < p;
  const names = rest.influences
    .filter(({ before, after }) => after < before === falls)
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
    .flatMap(({ templates }) => templates)
    .slice(0, 2);
  if (!names.length) return `${figures}.`;
  if (falls) return `${figures}: ${right} fits ${names.join(" and ")} better.`;
  return `${figures}: ${names.join(" and ")} ${names.length > 1 ? "connect" : "connects"} the two.`;
}

/** Replace S and T by the expressions. @param {string} text @param {Explanation} explanation */
function withExpressions(text, { left, right, expressions }) {
  const name = (/** @type {string} */ id) => `“${expressions[id] ?? id}”`;
  return text.replace(/\bS\b/g, () => name(left)).replace(/\bT\b/g, () => name(right));
}

/** @param {Explanation} explanation */
function heading({ left, right, expressions }) {
  const name = (/** @type {string} */ id) => (id in expressions ? ` “${expressions[id]}”` : "");
  return el("h2", {}, `${left}${name(left)} = ${right}${name(right)}`);
}

/** @param {Explanation} explanation */
function probabilityLines({ probability: p, marginal, rest }) {
  const lines = [
    ...(rest ? [probabilityLine("the pair alone", p)] : []),
    probabilityLine("given the whole set", marginal),
  ];
  return el("div", { class: "from-to" }, ...lines);
}

/** @param {string} text @param {number} p */
function probabilityLine(text, p) {
  const number = el("span", { class: "number" }, probability(p));
  return el("p", { class: "figure-line" }, el("span", {}, text), number, bar(p));
}

/** @param {PairAlone} pair @param {Explanation} explanation */
function featureSection(pair, explanation) {
  const all = contributions(pair, Infinity, explanation);
  const box = el("div", {}, ...featureNodes(pair, SHOWN_FEATURES, explanation));
  const more = button(`Show all ${all.length} rows`, () => {
    replaceContent(box, ...featureNodes(pair, all.length, explanation));
    more.hidden = true;
  });
  more.hidden = all.length <= SHOWN_FEATURES + 1;
  return [el("h3", {}, "Contribution of each feature, in log-odds"), box, more];
}

/** The chart and the table, with the same rows. */
function featureNodes(
  /** @type {PairAlone} */ pair,
  /** @type {number} */ limit,
  /** @type {Explanation} */ explanation,
) {
  const rows = contributions(pair, limit, explanation);
  return [featureChart(pair, rows), featureTable(rows)];
}

/** @param {PairAlone} pair @param {Contribution[]} rows */
function featureChart(pair, rows) {
  const steps = featureSteps(pair, rows);
  const total = `${signed(pair.log_odds)}, probability ${probability(pair.probability)}`;
  const label = `${rows.length} contributions, total ${total}`;
  const format = (/** @type {number} */ value) => (value ? signed(value, 1) : "0");
  return responsive((width) => waterfall(steps, width, label, { format }));
}

/** The features as a table with their descriptions. @param {Contribution[]} rows */
function featureTable(rows) {
  const names = ["Feature", "Weight", "Description"];
  const body = rows.map(({ feature, weight, documentation }) => {
    const number = el("td", { class: "number" }, signed(weight, 4));
    return el("tr", {}, el("td", {}, feature.replaceAll("_", " ")), number, el("td", {}, documentation));
  });
  const title = el("summary", {}, "Table with descriptions of the features");
  return el("details", {}, title, el("div", { class: "wide" }, table("plain", names, body)));
}

/** @param {RestOfSet} rest @param {Record<string, string>} expressions */
function influenceSection(rest, expressions) {
  if (!rest.influences.length) return [];
  const ends = `From ${probability(rest.probability)} to ${probability(rest.marginal)}`;
  const label = `${ends} in ${rest.influences.length} steps`;
  const steps = influenceSteps(rest, expressions);
  const chart = responsive((width) => waterfall(steps, width, label, { low: 0, high: 1 }));
  return [el("h3", {}, "Influence of the other mentions, in probability"), chart];
}

/** @typedef {import("../types.js").Contribution} Contribution */
/** @typedef {import("../charts/waterfall.js").Step} Step */

/** @param {number} x */
const logistic = (x) => 1 / (1 + Math.exp(-x));

/**
 * Return the rows of chart and table: the starting point, the heaviest features, the others.
 * @param {PairAlone} pair
 * @param {number} limit
 * @param {Explanation} explanation
 * @returns {Contribution[]}
 */
export function contributions(pair, limit, explanation) {
  const silent = pair.contributions.filter(({ feature }) => SAYS_NOTHING.test(feature));
  const spoken = pair.contributions
    .filter(({ feature, weight }) => weight !== 0 && !SAYS_NOTHING.test(feature))
    .map((row) => ({ ...row, documentation: withExpressions(row.documentation, explanation) }))
    .map((row) => ({ ...row, feature: withExpressions(row.feature, explanation) }));
  const start = {
    feature: "starting point",
    weight: silent.reduce((sum, { weight }) => sum + weight, 0),
    documentation: `Any two mentions, and ${silent.length} features that say nothing here.`,
  };
  return [...(silent.length ? [start] : []), ...groupLight(spoken, limit)];
}

/**
 * Return a step for each row, and the total.
 * @param {PairAlone} pair
 * @param {Contribution[]} rows
 * @returns {Step[]}
 */
export function featureSteps(pair, rows) {
  let sum = 0;
  const steps = rows.map(({ feature, weight, documentation }) => {
    const before = sum;
    sum += weight;
    const title = `${documentation}\nprobability so far ${probability(logistic(sum))}`;
    return { label: feature.replaceAll("_", " "), before, after: sum, value: signed(weight), title };
  });
  return [...steps, totalStep("the pair alone", pair.log_odds, signed(pair.log_odds))];
}

/** @param {Contribution[]} features @param {number} limit */
function groupLight(features, limit) {
  if (features.length <= limit + 1) return features;
  const light = features.slice(limit);
  const weight = light.reduce((sum, feature) => sum + feature.weight, 0);
  const rest = { feature: `${light.length} smaller features`, weight, documentation: "" };
  return [...features.slice(0, limit), rest];
}

/**
 * Return steps from the pair alone through each other template to the marginal.
 * @param {RestOfSet} rest
 * @param {Record<string, string>} expressions
 * @returns {Step[]}
 */
export function influenceSteps(rest, expressions) {
  const steps = rest.influences.map(({ templates, before, after }) => {
    const [first] = templates;
    const name = `${first} ${expressions[first] ?? ""}`;
    const label =
      templates.length > 1 ? `${templates.length} others: ${templates.join(" ")}` : name;
    return { label, before, after, value: signed(after - before, 4) };
  });
  const totalOf = (/** @type {string} */ label, /** @type {number} */ p) =>
    totalStep(label, p, probability(p));
  return [
    totalOf("the pair alone", rest.probability),
    ...steps,
    totalOf("given the whole set", rest.marginal),
  ];
}

/** @param {string} label @param {number} after @param {string} value @returns {Step} */
const totalStep = (label, after, value) => ({ label, before: 0, after, value: value, total: true });
