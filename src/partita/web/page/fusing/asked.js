/** What is fused: the sources that a person has chosen, kept while the page is open. */

/** @typedef {{name: string, content: string}} Source */

/**
 * @typedef {object} Asked
 * @property {Set<string>} runs of the store
 * @property {Source[]} files
 * @property {string} pasted
 * @property {Map<string, string>} given reliabilities as they were typed
 * @property {string[]} heard the sources of the last answer
 * @property {string} without
 * @property {import("../types.js").Fused|null} told the last answer
 */

/** @type {Asked} */
export const asked = {
  runs: new Set(),
  files: [],
  pasted: "",
  given: new Map(),
  heard: [],
  without: "",
  told: null,
};

export const EXAMPLE = `object,source,city,built
Kinston depot,archive,Kinston,1951
Kinston depot,press,Kinston,1951
Kinston depot,forum,Fairview,1915
Fairview depot,archive,Fairview,1940
Fairview depot,press,Fairview,1940
Fairview depot,forum,Toledo,1940
Raleigh depot,press,Raleigh,1962
Raleigh depot,forum,Durham,1926
`;

/** Other sources: what was said of the ones before means nothing any more. */
export function changed() {
  asked.given = new Map([...asked.given].filter(([name]) => asked.runs.has(name)));
  asked.heard = [];
  asked.told = null;
  asked.without = "";
}

/** The sources whose reliability can be said: those that spoke, and the runs, which are sources. */
export const sourceNames = () =>
  [...new Set([...asked.runs, ...asked.heard, ...asked.given.keys()])].sort();

/** Whether there is anything to fuse. */
export const something = () =>
  asked.runs.size + asked.files.length > 0 || asked.pasted.trim() !== "";

/** The question as the service takes it. */
export function question() {
  const known = [...asked.given].filter(([, text]) => text.trim() !== "");
  return {
    runs: [...asked.runs],
    sources: [...asked.files, ...pasted()],
    reliabilities: Object.fromEntries(known.map(([name, text]) => [name, Number(text)])),
    without: asked.without || null,
  };
}

/** What was pasted is a file, too. @returns {Source[]} */
function pasted() {
  const content = asked.pasted;
  if (!content.trim()) return [];
  return [{ name: content.trimStart().startsWith("{") ? "pasted.jsonl" : "pasted.csv", content }];
}

/**
 * Add a file as text; what is no text is refused, since nothing of it may be lost.
 * @param {File} file
 */
export async function add(file) {
  const bytes = await file.arrayBuffer();
  let content = "";
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is no text in UTF-8.`);
  }
  asked.files = [...asked.files.filter((one) => one.name !== file.name), { name: file.name, content }];
  changed();
}
