/** The keys of other people for the same set. */

import { button, el, replaceContent } from "../dom.js";
import { time } from "../format.js";
import { changeTexts, labelledCells, sameCells } from "../parts/cells.js";

/** @typedef {import("../types.js").Cells} Cells */
/** @typedef {import("../types.js").Key} Key */
/** @typedef {(key: Key) => void} KeyAction */
/** @typedef {{take: KeyAction, add: KeyAction, keep: KeyAction}} KeyActions */

/** The order in which keys were saved. @param {Key} a @param {Key} b */
export const byKeyId = (a, b) => a.key - b.key;

/** The newest key of each author that is not withdrawn. @param {Key[]} keys @returns {Key[]} */
export function newestByAuthor(keys) {
  const counting = keys.filter((key) => !key.withdrawn).sort(byKeyId);
  const byAuthor = new Map(counting.map((key) => [key.author, key]));
  return [...byAuthor.values()].sort(byKeyId);
}

/**
 * @param {HTMLElement} node
 * @param {Key[]} keys
 * @param {Cells} ownCells
 * @param {Set<number>} newKeys ids of keys that arrived while this one was written
 * @param {KeyActions} actions
 * @param {(cells: Cells) => Map<string, string>} colourCells
 * @param {import("../types.js").Agreement|null} agreement
 */
export function drawOtherKeys(node, keys, ownCells, newKeys, actions, colourCells, agreement) {
  node.hidden = !keys.length;
  const rows = keys.map((key) => {
    const agrees = sameCells(key.cells, ownCells);
    const conflict = newKeys.has(key.key) && !agrees;
    const buttons = agrees ? [] : keyButtons(key, conflict, actions);
    const difference = agrees ? "same as yours" : differenceText(ownCells, key.cells);
    const cells = labelledCells(key.cells, colourCells(key.cells));
    return keyRow(key, conflict, difference, cells, buttons);
  });
  const agreed = agreement && agreement.authors > 1 && agreementLine(agreement);
  replaceContent(node, el("h2", {}, "Labels by other people"), agreed, ...rows);
}

/** What counts for training. @param {import("../types.js").Agreement} agreement */
function agreementLine({ authors, disputed, votes }) {
  const [first] = votes;
  const names = votes.map((vote) => vote.authors.join(", ")).filter(Boolean);
  if (disputed)
    return el(
      "p",
      { class: "notice agreement", role: "status" },
      `Disputed: ${names.join(" against ")}. None has most votes; each counts equally.`,
    );
  const text = `${first.authors.length} of ${authors} authors agree (${first.authors.join(", ")})`;
  return el("p", { class: "quiet agreement" }, `${text}: their label counts.`);
}

/** @param {Cells} ownCells @param {Cells} theirs */
const differenceText = (ownCells, theirs) =>
  `compared with yours: ${changeTexts(ownCells, theirs).join("; ")}`;

/** @param {Key} key @param {boolean} conflict @param {KeyActions} actions */
function keyButtons(key, conflict, actions) {
  const whose = `the label by ${key.author}`;
  const buttons = [
    button("Use this label", () => actions.take(key), { "aria-label": `Use ${whose}` }),
    button("Add as alternative", () => actions.add(key), {
      "aria-label": `Add ${whose} as an alternative`,
    }),
  ];
  const keep = { "aria-label": `Keep mine and ${whose}` };
  return conflict ? [...buttons, button("Keep mine", () => actions.keep(key), keep)] : buttons;
}

/**
 * @param {Key} key
 * @param {boolean} conflict
 * @param {string} difference
 * @param {Node} cells
 * @param {Node[]} buttons
 */
function keyRow(key, conflict, difference, cells, buttons) {
  const warning = `${key.author} also labelled this in the meantime. Both labels are kept.`;
  return el(
    "article",
    { class: conflict ? "other conflict" : "other" },
    conflict && el("p", { class: "conflict-line", role: "alert" }, warning),
    el(
      "p",
      {},
      el("b", {}, key.author),
      el("span", { class: "quiet" }, ` ${time(key.time)}, ${difference}`),
    ),
    cells,
    buttons.length > 0 && el("p", { class: "links" }, ...buttons),
  );
}
