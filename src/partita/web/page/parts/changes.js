/** What is different between two configurations of one set. */

/** @typedef {string[][]} Cells */

/** @param {string[]} a @param {string[]} b */
const shared = (a, b) => a.filter((id) => b.includes(id)).length;

/**
 * For each cell of one configuration the cell of the other that is most like it, each used once.
 * @param {Cells} before @param {Cells} after @returns {Map<string[], string[]>}
 */
function matched(before, after) {
  const likely = before.flatMap((a) => after.map((b) => ({ a, b, size: shared(a, b) })));
  const found = new Map();
  const taken = new Set();
  for (const { a, b, size } of likely.sort((x, y) => y.size - x.size)) {
    if (!size || found.has(a) || taken.has(b)) continue;
    found.set(a, b);
    taken.add(b);
  }
  return found;
}

/**
 * The templates that stand in another cell than before.
 * @param {Cells} before @param {Cells} after @returns {string[]}
 */
export function moved(before, after) {
  const found = matched(before, after);
  return before.flatMap((cell) => cell.filter((id) => !(found.get(cell) ?? []).includes(id)));
}

/** @param {Cells} cells @param {string} id */
const mates = (cells, id) =>
  (cells.find((cell) => cell.includes(id)) ?? []).filter((one) => one !== id);

/** @param {string[]} ids */
function together(ids) {
  return ids.length < 2
    ? ids.join("")
    : `${ids.slice(0, -1).join(", ")} and ${ids[ids.length - 1]}`;
}

/**
 * In words: "T7 leaves T1 and T2, joins T4".
 * @param {Cells} before @param {Cells} after @returns {string[]}
 */
export function changes(before, after) {
  return moved(before, after).map((id) => {
    const [left, joined] = [mates(before, id), mates(after, id)];
    const gone = left.filter((one) => !joined.includes(one));
    const come = joined.filter((one) => !left.includes(one));
    const said = [
      gone.length && `leaves ${together(gone)}`,
      come.length && `joins ${together(come)}`,
    ];
    return `${id} ${said.filter(Boolean).join(", ")}${joined.length ? "" : " and stands alone"}`;
  });
}

/** Whether two configurations are the same. @param {Cells} a @param {Cells} b */
export function same(a, b) {
  const plain = (/** @type {Cells} */ cells) =>
    JSON.stringify(cells.map((cell) => [...cell].sort()).sort((x, y) => (x[0] < y[0] ? -1 : 1)));
  return plain(a) === plain(b);
}
