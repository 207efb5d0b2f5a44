/** How far each source is trusted, how well that is known, and why. */

import { el } from "../dom.js";
import { plural, probability } from "../numbers.js";
import { bar } from "../parts/bar.js";
import { trust } from "./told.js";

/** @typedef {import("./told.js").Trust} Trust */
/** @typedef {import("../types.js").Fused} Fused */

const KNOWS = [
  ["exact", "knows"],
  ["general", "knows roughly"],
  ["guess", "guesses"],
];
const LABELS = 4;
const HINT =
  "How probable it is that what a source says is true; the line spans 95 % of what that may be.";

/** @param {Fused} told */
export function trustPanel(told) {
  const rows = [...trust(told)].map(([name, slots]) => sourceRow(name, slots));
  const title = el("h2", {}, "Trust");
  return el(
    "section",
    { class: "panel trust", "aria-label": "Trust" },
    title,
    el("p", { class: "quiet" }, HINT),
    el("ul", { class: "trusted" }, ...rows),
    ...told.copying.map(copy),
  );
}

/** @param {string} name @param {Trust[]} slots */
const sourceRow = (name, slots) => el("li", {}, el("h3", {}, name), ...slots.map(slotRow));

/** @param {Trust} one */
function slotRow(one) {
  const figure = el("span", { class: "number" }, `${one.reliability.toFixed(3)} ${spread(one)}`);
  return el(
    "div",
    { class: "trust-row", "data-slot": one.slot },
    el("span", { class: "quiet" }, one.slot || "all slots"),
    figure,
    spreadBar(one),
    el("p", { class: "quiet" }, why(one)),
  );
}

/** @param {Trust} one */
function spread({ given, low, high }) {
  if (given) return "given";
  return low === undefined || high === undefined ? "" : `(${low.toFixed(3)} to ${high.toFixed(3)})`;
}

/** The interval as a line across the bar. @param {Trust} one */
function spreadBar({ given, reliability, low, high }) {
  const made = bar(reliability);
  if (given || low === undefined || high === undefined) return made;
  const line = el("span", { class: "bar-spread" });
  line.style.left = `${low * 100}%`;
  line.style.width = `${(high - low) * 100}%`;
  made.append(line);
  made.classList.add("spread");
  return made;
}

/** @param {Trust} one */
function why({ claims, right, rough = 0, wrong = claims - right, rates = {}, given }) {
  const expected = [
    `${right.toFixed(1)} right`,
    rough > 0.05 && `${rough.toFixed(1)} right but rough`,
    `${wrong.toFixed(1)} wrong`,
  ].filter(Boolean);
  const said = claims ? `${plural(claims, "claim")}: ${expected.join(", ")}` : "nobody else speaks of it";
  return [said, !given && knows(rates)].filter(Boolean).join("; ");
}

/** Rates of open slots, or of few values how often each is recognised. @param {any} rates */
function knows(rates) {
  if (typeof rates.exact === "number")
    return KNOWS.filter(([name]) => rates[name] > 0.005)
      .map(([name, word]) => `${word} ${rates[name].toFixed(2)}`)
      .join(", ");
  return Object.entries(rates)
    .slice(0, LABELS)
    .map(([label, row]) => `says ${label} of ${label} ${row[label].toFixed(2)}`)
    .join(", ");
}

/** @param {any} one */
function copy(one) {
  const told = `${one.shared} wrong values in common, ${one.expected.toFixed(1)} expected`;
  const chance = `p ${probability(one.significance)}`;
  return el(
    "p",
    { class: "noted" },
    `${one.copier} may copy ${one.original} (${one.slot || "sort"}): ${told} (${chance})`,
  );
}
