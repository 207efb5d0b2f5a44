/** The most probable configurations of a set: a group of radio buttons with bars. */

import { shape, svgDrawing } from "../charts/svg.js";
import { append, bar, el, replaceContent, screenReaderOnly } from "../dom.js";
import { bits, count, figure, plural, probability } from "../format.js";
import { cellRow, cellText, cellsShown, changeTexts, isText, movedTemplates } from "./cells.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {Map<string, string>} ColourOf */
/** @typedef {(rank: number, colour: (rank: number) => ColourOf) => void} ShowRank */
/** @typedef {{node: HTMLElement, show: ShowRank}} ConfigurationList */

const MAX_ROWS = 100;
const STRIP_WIDTH = 1000;
const STRIP_HEIGHT = 14;

/**
 * @param {ResultSet} set
 * @param {(rank: number) => void} choose
 * @param {Node[]} [links]
 * @returns {ConfigurationList}
 */
export function configurationList(set, choose, links = []) {
  const rows = set.configurations
    .slice(0, MAX_ROWS)
    .map((_, rank) => configurationRow(set, rank, choose));
  const stripBox = el("div", { class: "strip-box" });
  const changeLine = el("p", { class: "changes", "aria-live": "polite" });
  const list = el("div", { class: "configurations" }, ...rows.map((row) => row.node));
  const node = el("fieldset", { class: "set", "data-set": set.set }, legend(set), stripBox, list);
  append(node, remainderRow(set), ...partialLine(set), changeLine, methodLine(set));
  if (links.length) append(node, el("p", { class: "links" }, ...links));
  /** @type {ShowRank} */
  const show = (rank, colour) => {
    replaceContent(stripBox, distributionStrip(set, rank));
    rows.forEach((row, n) => row.show(n === rank, colour(n)));
    replaceContent(changeLine, changeText(set, rank));
  };
  return { node, show };
}

/** @param {ResultSet} set */
function legend(set) {
  const templates = plural(set.templates.length, "template");
  const summary = ` ${templates}, ${count(set.count ?? "?")} configurations, ${set.model} model`;
  const name = el("span", { class: "set-name" }, set.set);
  return el("legend", {}, name, el("span", { class: "quiet" }, summary));
}

/**
 * One configuration: its cells, its probability and a bar.
 * @param {ResultSet} set
 * @param {number} rank
 * @param {(rank: number) => void} choose
 */
function configurationRow(set, rank, choose) {
  const configuration = set.configurations[rank];
  const attributes = { type: "radio", name: `set-${set.set}`, value: rank };
  const input = el("input", { ...attributes, on: { change: () => choose(rank) } });
  const cells = el("span", { class: "row-cells", "aria-hidden": "true" });
  const number = el("span", { class: "number" }, figure(configuration));
  const mass = el("span", { class: "mass" }, number, bar(configuration.probability));
  const spokenText = screenReaderOnly(`: ${cellText(configuration.cells)}, probability `);
  const node = el("label", { class: "configuration", title: expressionText(set, configuration) }, input);
  append(node, el("span", { class: "rank" }, rank + 1), cells, spokenText, mass);
  const moved = movedTemplates(set.answer, configuration.cells);
  const show = (/** @type {boolean} */ current, /** @type {ColourOf} */ colourOf) => {
    /** @type {HTMLInputElement} */ (input).checked = current;
    node.classList.toggle("current", current);
    replaceContent(cells, cellRow(rowCells(set, configuration.cells, moved), colourOf, moved));
  };
  return { node, show };
}

/** The cells in words. @param {ResultSet} set @param {{cells: string[][]}} configuration */
function expressionText(set, { cells }) {
  const text = new Map(set.templates.map((template) => [template.id, template.text]));
  const words = (/** @type {string} */ id) => text.get(id) || id;
  return cellsShown(set, cells)
    .map((cell) => cell.map(words).join(" = "))
    .join("\n");
}

/** The cells of a row; of a text those that differ from its entities.
 * @param {ResultSet} set @param {string[][]} cells @param {string[]} moved
 */
const rowCells = (set, cells, moved) =>
  isText(set) && moved.length
    ? cells.filter((cell) => cell.some((id) => moved.includes(id)))
    : cellsShown(set, cells);

/** The number and probability of the configurations that are not listed. @param {ResultSet} set */
function remainderRow(set) {
  const hidden = set.configurations.length - MAX_ROWS;
  const more = hidden > 0 ? `${count(hidden)} more in the export; ` : "";
  const complete = String(set.remainder.count) === "0";
  const row = el("p", { class: "remainder" }, el("span", {}, more + remainderText(set)));
  return complete ? row : append(row, bar(set.remainder.probability, "hatched"));
}

/** How much of a large set is settled. @param {ResultSet} set */
function partialLine(set) {
  if (!set.partial) return [];
  const settled = set.partial.cells.filter((cell) => cell.settled);
  const templates = settled.reduce((sum, cell) => sum + cell.templates.length, 0);
  const share = `${count(templates)} of ${plural(set.templates.length, "template")}`;
  const text = `${share} are in cells with a probability of at least 0.5`;
  return [el("p", { class: "quiet" }, text)];
}

/** @param {ResultSet} set */
function methodLine(set) {
  const conflict = set.conflict === null ? "" : `, conflict κ ${set.conflict.toFixed(4)}`;
  const text = `entropy ${bits(set.entropy_bits)}${conflict}; ${set.reason}`;
  return el("p", { class: "quiet method" }, text);
}

/** @param {ResultSet} set @param {number} rank */
function changeText(set, rank) {
  if (rank < 0) return "The entities agree best with all configurations; those listed are alternatives.";
  if (rank === set.answerRank) return "These are the entities; the other configurations are alternatives.";
  const changes = changeTexts(set.answer, set.configurations[rank].cells);
  return `An alternative. Compared with the entities: ${changes.join("; ")}.`;
}

/**
 * The distribution as a strip: a piece for each listed configuration, then the remainder.
 * @param {ResultSet} set @param {number} rank the configuration that is shown
 */
export function distributionStrip(set, rank) {
  const label = `${set.configurations.length} configurations listed; ${remainderText(set)}`;
  const strip = svgDrawing(STRIP_WIDTH, STRIP_HEIGHT, label, "strip");
  strip.setAttribute("preserveAspectRatio", "none");
  let x = 0;
  set.configurations.forEach((configuration, n) => {
    const className = n === rank ? "strip-piece current" : "strip-piece";
    strip.append(
      stripPiece(
        x,
        configuration.probability,
        className,
        `${n + 1}: ${probability(configuration.probability)}`,
      ),
    );
    x += configuration.probability * STRIP_WIDTH;
  });
  strip.append(stripPiece(x, set.remainder.probability, "strip-rest", remainderText(set)));
  return strip;
}

/** @param {number} x @param {number} share @param {string} className @param {string} title */
function stripPiece(x, share, className, title) {
  const width = Math.max(0, share * STRIP_WIDTH - 1.5);
  return shape("rect", { x, y: 0, width, height: STRIP_HEIGHT, class: className }, title);
}

/** @param {ResultSet} set */
export function remainderText(set) {
  const { count: rest, probability: p } = set.remainder;
  if (String(rest) === "0") return "all configurations listed";
  const noun = String(rest) === "1" ? "configuration" : "configurations";
  return `${count(rest)} more ${noun}, total probability ${probability(p)}`;
}
