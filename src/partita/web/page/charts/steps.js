/** An explanation as the steps of two waterfalls: features in log-odds, then templates. */

import { probability, signed } from "../numbers.js";

/** @typedef {import("../types.js").Contribution} Contribution */
/** @typedef {import("../types.js").PairAlone} PairAlone */
/** @typedef {import("../types.js").RestOfSet} RestOfSet */
/** @typedef {import("./waterfall.js").Step} Step */

/** @param {number} x */
const logistic = (x) => 1 / (1 + Math.exp(-x));

/** The features that push at all. @param {PairAlone} pair */
export const pushing = (pair) => pair.contributions.filter((one) => one.weight !== 0);

/**
 * The heaviest features, the others together, and the sum.
 * @param {PairAlone} pair
 * @param {number} most
 * @returns {Step[]}
 */
export function featureSteps(pair, most) {
  let sum = 0;
  const steps = together(pushing(pair), most).map(({ feature, weight, documentation }) => {
    const before = sum;
    sum += weight;
    const title = `${documentation}\nso far ${probability(logistic(sum))}`;
    return { label: feature.replaceAll("_", " "), before, after: sum, told: signed(weight), title };
  });
  return [...steps, total("the pair alone", pair.log_odds, signed(pair.log_odds))];
}

/** @param {Contribution[]} all @param {number} most */
function together(all, most) {
  if (all.length <= most + 1) return all;
  const light = all.slice(most);
  const weight = light.reduce((sum, one) => sum + one.weight, 0);
  const rest = { feature: `${light.length} lighter features`, weight, documentation: "" };
  return [...all.slice(0, most), rest];
}

/**
 * What the pair was alone, what each other template did to it, and what it came to.
 * @param {RestOfSet} rest
 * @param {Record<string, string>} expressions
 * @returns {Step[]}
 */
export function influenceSteps(rest, expressions) {
  const steps = rest.influences.map(({ templates, before, after }) => {
    const [first] = templates;
    const one = `${first} ${expressions[first] ?? ""}`;
    const label = templates.length > 1 ? `${templates.length} others: ${templates.join(" ")}` : one;
    return { label, before, after, told: signed(after - before, 4) };
  });
  const end = (/** @type {string} */ label, /** @type {number} */ p) =>
    total(label, p, probability(p));
  return [
    end("the pair alone", rest.probability),
    ...steps,
    end("given everything else", rest.marginal),
  ];
}

/** @param {string} label @param {number} after @param {string} told @returns {Step} */
const total = (label, after, told) => ({ label, before: 0, after, told, total: true });
