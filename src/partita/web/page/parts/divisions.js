/** The ways to divide a set of records into clusters: as somebody has them, as computed, changed. */

import { probability } from "../format.js";

/** @typedef {import("../types.js").ReviewSet} ReviewSet */

const COLOURS = 12;

/**
 * The ways to divide a set that can be shown, each with the cluster of every record.
 * @param {ReviewSet} set
 * @param {(record: any) => string} textOf
 * @param {string} [file] of the clusters that somebody has
 * @returns {{text: string, clusterOf: Map<any, any>}[]}
 */
export function divisions(set, textOf, file) {
  const computed = new Map(set.records.map(({ record, cluster }) => [record, cluster]));
  const exact = `exactly this cluster ${probability(set.records[0].exact ?? 0)}`;
  const first = { text: `${file ? `As in ${file} and as computed` : "As it is"}: ${exact}`, clusterOf: computed };
  const changed = set.alternatives.map((change) => ({
    text: changeText(change, textOf),
    clusterOf: changedClusters(computed, change),
  }));
  if (!set.differs) return [first, ...changed];
  const given = new Map(set.records.map((row) => [row.record, row.given ?? `not in ${file}`]));
  return [
    { text: `As in ${file}`, clusterOf: given },
    { text: `As computed: ${exact}`, clusterOf: computed },
    ...changed,
  ];
}

/** @param {Map<any, any>} clusterOf @param {import("../types.js").ClusterChange} change */
function changedClusters(clusterOf, change) {
  const changed = new Map(clusterOf);
  if (change.change === "merge")
    for (const [record, cluster] of clusterOf)
      if (cluster === change.with) changed.set(record, change.cluster);
  if (change.change === "split")
    for (const record of change.records) changed.set(record, `split ${change.records[0]}`);
  return changed;
}

/** The colour of each record. @param {Map<any, any>} clusterOf */
export function recordColours(clusterOf) {
  const order = [...new Set(clusterOf.values())];
  return new Map(
    [...clusterOf].map(([record, cluster]) => [record, `cell-${order.indexOf(cluster) % COLOURS}`]),
  );
}

/** @param {import("../types.js").ClusterChange} change @param {(record: any) => string} textOf */
function changeText({ cluster, change, with: other, records, probability: p }, textOf) {
  const what =
    change === "merge"
      ? `Merge ${textOf(cluster)} with ${textOf(other)}`
      : `Split off ${records.map(textOf).join("; ")}`;
  return `${what}: ${probability(p)}`;
}
