/** Files of a person: their content, and what they seem to be. */

/** @typedef {{name: string, content: string, kind: string}} Upload */

/** The view that shows a kind of data. @type {Record<string, string>} */
export const VIEW_OF = { text: "read", records: "records", scores: "records", clusters: "records", claims: "fuse" };

/**
 * Read a file, which must be UTF-8 text and not too large.
 * @param {File} file
 * @param {number} largest bytes
 * @returns {Promise<Upload>}
 */
export async function readFile(file, largest) {
  if (file.size > largest)
    throw new Error(
      `${file.name} has ${(file.size / 1e6).toFixed(1)} MB; this page takes up to ` +
        `${Math.floor(largest / 1e6)} MB. Larger files are for the commands partita run, link, cluster and fuse.`,
    );
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return { name: file.name, content, kind: kindOf(file.name, content) };
  } catch {
    throw new Error(`${file.name} is not UTF-8 text. Save it as UTF-8, or as CSV if it is a spreadsheet.`);
  }
}

/** What a file seems to be, by the names of its columns. @param {string} name @param {string} content */
export function kindOf(name, content) {
  const head = content.trimStart().split(/\r?\n/, 1)[0];
  const json = /^\{.*\}$/.test(head);
  if (!json && !/\.(csv|tsv)$/i.test(name) && !/^[\w .-]+([,;\t][\w .-]+)+$/.test(head)) return "text";
  if (!json && !/\.(csv|tsv|jsonl)$/i.test(name) && content.trim().split("\n").length < 2) return "text";
  const columns = new Set((json ? head.match(/"(\w+)":/g) ?? [] : head.split(/[,;\t]/)).map(bareName));
  const has = (/** @type {string[]} */ ...names) => names.every((column) => columns.has(column));
  if (has("object", "source")) return "claims";
  if (has("record", "cluster") || has("id", "cluster")) return "clusters";
  const ends = has("left", "right") || has("id_1", "id_2") || has("unique_id_l", "unique_id_r");
  return ends ? "scores" : "records";
}

/** @param {string} column */
const bareName = (column) => column.replace(/[":]/g, "").trim().toLowerCase();
