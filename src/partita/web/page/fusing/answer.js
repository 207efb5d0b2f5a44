/** What came out: things with values, trust in the sources, what would change without one. */

import { button, el, fill, labelled, refill, select } from "../dom.js";
import { count, plural, probability } from "../numbers.js";
import { asked } from "./asked.js";
import { thingCard } from "./thing.js";
import { changes, things } from "./told.js";
import { trustPanel } from "./trust.js";

/** @typedef {import("../types.js").Fused} Fused */

const PAGE = 24;

/**
 * @param {HTMLElement} root
 * @param {Fused} told
 * @param {(without: string) => void} leave
 */
export function drawAnswer(root, told, leave) {
  const notes = told.notes.map((one) => el("p", { class: "noted" }, one));
  refill(root, head(told, leave), ...notes, contradictions(told), thingList(told), trustPanel(told));
}

/** @param {Fused} told @param {(without: string) => void} leave */
function head(told, leave) {
  const found = things(told);
  const options = asked.heard.map((one) => /** @type {[string, string]} */ ([one, one]));
  const chooser = select([["", "nobody"], ...options], asked.without, leave, { id: "without" });
  const many = [
    plural(found.length, told.entities ? "thing" : "object"),
    plural(asked.heard.length, "source"),
    told.compared && `${count(told.compared.pairs)} of ${count(told.compared.of)} pairs compared`,
  ];
  return el(
    "section",
    { class: "panel fused-head", "aria-label": "Belief" },
    el("h2", {}, many.filter(Boolean).join(", ")),
    labelled("What if somebody were left out?", chooser),
    told.without ? otherwise(told.without) : null,
  );
}

/** @param {{source: string, changes: any[]}} without */
function otherwise({ source, changes: found }) {
  const what = found.length ? plural(found.length, "belief") : "nothing";
  const verb = found.length > 1 ? "change" : "changes";
  return el("p", { class: "summary-line", role: "status" }, `Without ${source}, ${what} ${verb}.`);
}

/** Sets about which sources disagree who is who. @param {Fused} told */
function contradictions({ sets = [] }) {
  const found = sets.filter((one) => one.contradicted?.length);
  if (!found.length) return null;
  const rows = found.flatMap((one) => [
    el("li", {}, `Set of ${one.set}: κ = ${probability(one.conflict ?? 0)}`),
    ...(one.contradicted ?? []).map(({ left, right, conflict }) =>
      el("li", { class: "quiet" }, `${left} and ${right}: ${probability(conflict)}`),
    ),
  ]);
  const title = "Sources disagree who is who";
  return el(
    "section",
    { class: "panel", "aria-label": title },
    el("h2", {}, title),
    el("ul", {}, ...rows),
  );
}

/** @param {Fused} told */
function thingList(told) {
  const found = things(told);
  const changed = changes(told);
  const about = { runs: told.runs, without: told.without?.source ?? "" };
  const grid = el("div", { class: "entity-grid things" });
  const foot = el("p", { class: "quiet list-foot" });
  const more = () => {
    const next = found.slice(grid.childElementCount, grid.childElementCount + PAGE);
    fill(grid, ...next.map((one) => thingCard(one, changed.get(one.id) ?? [], about)));
    const shown = grid.childElementCount;
    refill(foot, `${count(shown)} of ${count(found.length)}`);
    if (shown < found.length) fill(foot, button("Show more", more));
  };
  more();
  return el("section", { class: "entities-of", "aria-label": "Values" }, grid, foot);
}
