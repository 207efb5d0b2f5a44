/** The keys of other people for the same set: shown beside one's own, never in its place. */

import { button, el, refill } from "../dom.js";
import { time } from "../numbers.js";
import { shownCells } from "../parts/cells.js";
import { changes, same } from "../parts/changes.js";

/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("../types.js").Key} Key */
/** @typedef {(key: Key) => void} Act */
/** @typedef {{take: Act, add: Act, keep: Act}} Acts */

/** In the order in which they were saved. @param {Key} a @param {Key} b */
export const byNumber = (a, b) => a.key - b.key;

/** The newest key of each author. @param {Key[]} keys @returns {Key[]} */
export function newest(keys) {
  const found = new Map([...keys].sort(byNumber).map((one) => [one.author, one]));
  return [...found.values()].sort(byNumber);
}

/**
 * @param {HTMLElement} node
 * @param {Key[]} others
 * @param {Cells} mine
 * @param {Set<number>} fresh those that came while one's own was written
 * @param {Acts} acts
 * @param {(cells: Cells) => Map<string, string>} paint
 */
export function drawOthers(node, others, mine, fresh, acts, paint) {
  node.hidden = !others.length;
  const rows = others.map((one) => {
    const agrees = same(one.cells, mine);
    const conflict = fresh.has(one.key) && !agrees;
    const tools = agrees ? [] : toolsOf(one, conflict, acts);
    const said = agrees ? "the same as yours" : against(mine, one.cells);
    const cells = shownCells(one.cells, paint(one.cells));
    return row(one, conflict, said, cells, tools);
  });
  refill(node, el("h2", {}, "Keys of others"), ...rows);
}

/** @param {Cells} mine @param {Cells} theirs */
const against = (mine, theirs) => `against yours: ${changes(mine, theirs).join("; ")}`;

/** @param {Key} one @param {boolean} conflict @param {Acts} acts */
function toolsOf(one, conflict, acts) {
  const who = `the key of ${one.author}`;
  const made = [
    button("Take it over", () => acts.take(one), { "aria-label": `Take over ${who}` }),
    button("Add as alternative", () => acts.add(one), {
      "aria-label": `Add ${who} as an alternative`,
    }),
  ];
  const keep = { "aria-label": `Keep mine beside ${who}` };
  return conflict ? [...made, button("Keep mine", () => acts.keep(one), keep)] : made;
}

/**
 * @param {Key} one
 * @param {boolean} conflict
 * @param {string} said
 * @param {Node} cells
 * @param {Node[]} tools
 */
function row(one, conflict, said, cells, tools) {
  const warning = `${one.author} has keyed this set too, while you did: both keys are kept.`;
  return el(
    "article",
    { class: conflict ? "other conflict" : "other" },
    conflict && el("p", { class: "conflict-line", role: "alert" }, warning),
    el(
      "p",
      {},
      el("b", {}, one.author),
      el("span", { class: "quiet" }, ` ${time(one.time)}, ${said}`),
    ),
    cells,
    tools.length > 0 && el("p", { class: "links" }, ...tools),
  );
}
