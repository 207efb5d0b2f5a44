/** The explanation of a pair: a waterfall of its features, and one of the other templates. */

import { responsive } from "../charts/svg.js";
import { waterfall } from "../charts/waterfall.js";
import { bar, button, el, replaceContent } from "../dom.js";
import { probability, signed } from "../format.js";

/** @typedef {import("../types.js").Explanation} Explanation */
/** @typedef {import("../types.js").PairAlone} PairAlone */
/** @typedef {import("../types.js").RestOfSet} RestOfSet */

const SHOWN_FEATURES = 12;

/** @param {Explanation} explanation @returns {Node[]} */
export function explanationNodes(explanation) {
  const { pair, rest, expressions, notes } = explanation;
  return [
    heading(explanation),
    probabilityLines(explanation),
    ...notes.map((note) => el("p", { class: "notice" }, note)),
    ...(pair ? featureSection(pair) : []),
    ...(rest ? influenceSection(rest, expressions) : []),
  ];
}

/** @param {Explanation} explanation */
function heading({ left, right, expressions }) {
  const name = (/** @type {string} */ id) => (id in expressions ? ` “${expressions[id]}”` : "");
  return el("h2", {}, `${left}${name(left)} = ${right}${name(right)}`);
}

/** @param {Explanation} explanation */
function probabilityLines({ probability: p, marginal }) {
  const lines = [
    probabilityLine("the pair alone", p),
    probabilityLine("given the whole set", marginal),
  ];
  return el("div", { class: "from-to" }, ...lines);
}

/** @param {string} text @param {number} p */
function probabilityLine(text, p) {
  const number = el("span", { class: "number" }, probability(p));
  return el("p", { class: "figure-line" }, el("span", {}, text), number, bar(p));
}

/** @param {PairAlone} pair */
function featureSection(pair) {
  const featureCount = activeFeatures(pair).length;
  const box = el("div", {}, featureChart(pair, SHOWN_FEATURES));
  const more = button(`Show all ${featureCount} features`, () => {
    replaceContent(box, featureChart(pair, featureCount));
    more.hidden = true;
  });
  more.hidden = featureCount <= SHOWN_FEATURES + 1;
  return [el("h3", {}, "Contribution of each feature, in log-odds"), box, more, featureTable(pair)];
}

/** @param {PairAlone} pair @param {number} limit */
function featureChart(pair, limit) {
  const steps = featureSteps(pair, limit);
  const total = `${signed(pair.log_odds)}, probability ${probability(pair.probability)}`;
  const label = `${steps.length - 1} contributions, total ${total}`;
  const format = (/** @type {number} */ value) => (value ? signed(value, 1) : "0");
  return responsive((width) => waterfall(steps, width, label, { format }));
}

/** The features as a table with their descriptions. @param {PairAlone} pair */
function featureTable(pair) {
  const names = ["Feature", "Weight", "Description"];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
  const rows = pair.contributions.map(({ feature, weight, documentation }) => {
    const number = el("td", { class: "number" }, signed(weight, 4));
    return el("tr", {}, el("td", {}, feature), number, el("td", {}, documentation));
  });
  const table = el("table", { class: "plain" }, el("thead", {}, head), el("tbody", {}, ...rows));
  const title = el("summary", {}, "Table with descriptions of the features");
  return el("details", {}, title, el("div", { class: "wide" }, table));
}

/** @param {RestOfSet} rest @param {Record<string, string>} expressions */
function influenceSection(rest, expressions) {
  if (!rest.influences.length) return [];
  const ends = `From ${probability(rest.probability)} to ${probability(rest.marginal)}`;
  const label = `${ends} in ${rest.influences.length} steps`;
  const steps = influenceSteps(rest, expressions);
  const chart = responsive((width) => waterfall(steps, width, label, { low: 0, high: 1 }));
  return [el("h3", {}, "Influence of the other templates, in probability"), chart];
}

/** @typedef {import("../types.js").Contribution} Contribution */
/** @typedef {import("../charts/waterfall.js").Step} Step */

/** @param {number} x */
const logistic = (x) => 1 / (1 + Math.exp(-x));

/** The features with a weight other than 0. @param {PairAlone} pair */
export const activeFeatures = (pair) =>
  pair.contributions.filter((feature) => feature.weight !== 0);

/**
 * Return steps for the heaviest features, the others together, and the total.
 * @param {PairAlone} pair
 * @param {number} limit
 * @returns {Step[]}
 */
export function featureSteps(pair, limit) {
  let sum = 0;
  const steps = groupLight(activeFeatures(pair), limit).map(
    ({ feature, weight, documentation }) => {
      const before = sum;
      sum += weight;
      const title = `${documentation}\nprobability so far ${probability(logistic(sum))}`;
      return {
        label: feature.replaceAll("_", " "),
        before,
        after: sum,
        value: signed(weight),
        title,
      };
    },
  );
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
