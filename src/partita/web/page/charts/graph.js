/** The records of a set as a graph: a node each, a line for every pair, thicker the more probable. */

import { shape, svgDrawing, textShape, truncate } from "./svg.js";

const HEIGHT = 340;
const MAX_NODES = 30;
const LEAST = 0.02; // probability from which a line is drawn

/**
 * @param {import("../types.js").ReviewSet} set
 * @param {(record: any) => string} textOf
 * @param {Map<any, string>} colourOf
 * @param {number} width
 */
export function clusterGraph(set, textOf, colourOf, width) {
  const records = set.records.slice(0, MAX_NODES).map(({ record }) => record);
  const chart = svgDrawing(width, HEIGHT, graphLabel(set), "graph");
  const place = new Map(records.map((record, n) => [record, position(n, records.length, width)]));
  for (const pair of set.pairs) chart.append(...pairLine(pair, place));
  for (const record of records)
    chart.append(...node(textOf(record), place.get(record) ?? [0, 0], colourOf.get(record) ?? ""));
  return chart;
}

/** @param {import("../types.js").ReviewSet} set */
function graphLabel({ records, pairs }) {
  const clusters = new Set(records.map(({ cluster }) => cluster)).size;
  return `${records.length} records in ${clusters} clusters, ${pairs.length} compared pairs`;
}

/** @param {number} n @param {number} count @param {number} width @returns {[number, number]} */
function position(n, count, width) {
  const angle = (2 * Math.PI * n) / count - Math.PI / 2;
  return [width / 2 + Math.cos(angle) * (width / 2 - 70), HEIGHT / 2 + Math.sin(angle) * 130];
}

/**
 * @param {import("../types.js").ScoredPair} pair
 * @param {Map<any, [number, number]>} place
 */
function pairLine({ left, right, score, probability }, place) {
  const [from, to] = [place.get(left), place.get(right)];
  if (!from || !to || probability < LEAST) return [];
  const title = `${left} = ${right}: score ${score.toFixed(2)}, overall ${probability.toFixed(2)}`;
  const line = shape(
    "line",
    { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "edge", "stroke-width": 1 + 6 * probability },
    title,
  );
  const middle = { x: from[0] * 0.6 + to[0] * 0.4, y: from[1] * 0.6 + to[1] * 0.4 - 4 };
  const text = textShape(
    "text",
    { ...middle, class: "value-label", "text-anchor": "middle" },
    `${score.toFixed(2)} → ${probability.toFixed(2)}`,
  );
  return [line, text];
}

/** @param {any} record @param {[number, number]} at @param {string} colour */
function node(record, [cx, cy], colour) {
  const name = truncate(String(record), 16);
  const width = 18 + 7.5 * name.length;
  return [
    shape(
      "rect",
      { x: cx - width / 2, y: cy - 14, width, height: 28, rx: 14, class: `node ${colour}` },
      String(record),
    ),
    textShape("text", { x: cx, y: cy + 4, "text-anchor": "middle" }, name),
  ];
}

const MOST_NEIGHBOURS = 12;

/**
 * An entity of a collection in the middle of those that it is related to.
 * @param {any} entity
 * @param {number} width
 */
export function neighbourGraph({ entity, name, relations }, width) {
  const chart = svgDrawing(width, HEIGHT, `${name} and ${relations.length} relations`, "graph");
  const others = new Map();
  for (const one of relations)
    if (one.source === entity) others.set(one.target, [one.target_name, one.relation]);
    else others.set(one.source, [one.source_name, one.relation]);
  const shown = [...others.values()].slice(0, MOST_NEIGHBOURS);
  const [cx, cy] = [width / 2, HEIGHT / 2];
  shown.forEach(([other, relation], n) => {
    const [x, y] = position(n, shown.length, width);
    chart.append(shape("line", { x1: cx, y1: cy, x2: x, y2: y, class: "edge", "stroke-width": 2 }, relation));
    chart.append(
      textShape("text", { x: (cx + x) / 2, y: (cy + y) / 2, class: "value-label", "text-anchor": "middle" }, truncate(relation, 16)),
      ...node(other, [x, y], `cell-${(n + 1) % 12}`),
    );
  });
  chart.append(...node(name, [cx, cy], "cell-0"));
  return chart;
}
