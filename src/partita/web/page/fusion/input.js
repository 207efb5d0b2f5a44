/** The chosen sources, kept while the page is open. */

import { SAMPLES } from "../samples.js";

/** @typedef {{name: string, content: string}} Source */

/**
 * @typedef {object} FusionInput
 * @property {Set<string>} runs of the store
 * @property {Source[]} files
 * @property {string} stored the run whose tables are the files
 * @property {string} pasted
 * @property {Map<string, string>} reliabilities as typed
 * @property {string[]} namedSources the sources of the last answer
 * @property {string} without
 * @property {import("../types.js").Fused|null} fused the last answer
 */

/** @type {FusionInput} */
export const selection = {
  runs: new Set(),
  files: [],
  stored: "",
  pasted: "",
  reliabilities: new Map(),
  namedSources: [],
  without: "",
  fused: null,
};

export const EXAMPLE = SAMPLES["Sources that disagree"].text;

/** Clear the last answer and what belongs to it, after the sources have changed. */
export function resetAnswer() {
  selection.reliabilities = new Map(
    [...selection.reliabilities].filter(([name]) => selection.runs.has(name)),
  );
  selection.namedSources = [];
  selection.fused = null;
  selection.without = "";
}

/** The sources whose reliability can be set: runs, and sources named in the last answer. */
export const sourceNames = () =>
  [
    ...new Set([...selection.runs, ...selection.namedSources, ...selection.reliabilities.keys()]),
  ].sort();

/** Whether there is a source to fuse. */
export const hasSources = () =>
  selection.runs.size + selection.files.length > 0 || selection.pasted.trim() !== "";

/** The body of the request. */
export function requestBody() {
  const entered = [...selection.reliabilities].filter(([, text]) => text.trim() !== "");
  return {
    runs: [...selection.runs],
    sources: [...selection.files, ...pasted()],
    reliabilities: Object.fromEntries(entered.map(([name, text]) => [name, Number(text)])),
    without: selection.without || null,
  };
}

/** Pasted text as a file. @returns {Source[]} */
function pasted() {
  const content = selection.pasted;
  if (!content.trim()) return [];
  return [{ name: content.trimStart().startsWith("{") ? "pasted.jsonl" : "pasted.csv", content }];
}

/**
 * Add a file; it must be UTF-8 text.
 * @param {File} file
 */
export async function addFile(file) {
  const bytes = await file.arrayBuffer();
  let content = "";
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is not UTF-8 text.`);
  }
  selection.files = [
    ...selection.files.filter((existing) => existing.name !== file.name),
    { name: file.name, content },
  ];
  resetAnswer();
}
