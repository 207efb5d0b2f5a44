/** The client of the service under `api/`: one function per call. The token is kept per tab. */

import { withAnswers } from "./parts/cells.js";

export class ServiceError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const encode = encodeURIComponent;

/** @param {Record<string, any>} parameters */
function queryString(parameters) {
  const present = Object.entries(parameters).filter(
    ([, value]) => value !== "" && value !== undefined,
  );
  const text = new URLSearchParams(
    present.map(([name, value]) => [name, String(value)]),
  ).toString();
  return text ? `?${text}` : "";
}

/**
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @param {string} [method]
 * @returns {Promise<any>}
 */
async function call(path, body, signal, method) {
  const options = { ...requestOptions(body), signal, ...(method && { method }) };
  const response = await fetch(`api/${path}`, options).catch(() => {
    throw new ServiceError(
      0,
      "The service is not responding; check that partita serve is running.",
    );
  });
  return readResponse(response);
}

/** GET, or POST if there is a body. @param {any} body @returns {RequestInit} */
function requestOptions(body) {
  const headers = new Headers({ Accept: "application/json" });
  if (storedToken()) headers.set("Authorization", `Bearer ${storedToken()}`);
  if (body === undefined) return { headers, cache: "no-store" };
  headers.set("Content-Type", "application/json");
  return { headers, cache: "no-store", method: "POST", body: JSON.stringify(body) };
}

/** @param {Response} response */
async function readResponse(response) {
  const content = await response.json().catch(() => null);
  if (response.status === 401) clearToken();
  if (response.ok && content !== null) return content;
  throw new ServiceError(
    response.status,
    content?.detail ?? `The service answered with status ${response.status}.`,
  );
}

/** @typedef {import("./types.js").Message} Message */
/** @typedef {import("./types.js").MessageRow} MessageRow */
/** @typedef {import("./types.js").Key} Key */
/** @typedef {import("./types.js").Entity} Entity */
/** @typedef {{offset?: number, limit?: number}} Part */
/** @typedef {Part & {search?: string, order?: string, sort?: string}} Page */

/** @returns {Promise<any>} */
export const openapi = () => call("openapi.json");

/** @returns {Promise<import("./types.js").Run[]>} */
export const runs = () => call("runs");

/** @returns {Promise<{domains: string[], about: Record<string, string>, store: string, largest: number, knowledge_base: string}>} */
export const domains = () => call("domains");

/** @param {string} run @returns {Promise<any>} */
export const knowledge = (run) => call(`knowledge${queryString({ run })}`);

/** @param {Record<string, any>} page @returns {Promise<{total: number, entities: any[]}>} */
export const knowledgeEntities = (page) => call(`knowledge/entities${queryString(page)}`);

/** @param {string} entity @param {string} run @returns {Promise<any>} */
export const knowledgeEntity = (entity, run) => call(`knowledge/entities/${encode(entity)}${queryString({ run })}`);

/** @param {string} run @returns {Promise<{sorts?: string[], untrainable: string}>} */
export const run = (run) => call(`runs/${encode(run)}`);

/**
 * @param {string} run
 * @param {Page} page
 * @returns {Promise<{total: number, messages: MessageRow[]}>}
 */
export const messages = (run, page) => call(`runs/${encode(run)}/messages${queryString(page)}`);

/**
 * Add a text to a run, which is made if it is new.
 * @param {string} run
 * @param {string} id
 * @param {string} text
 * @param {string} domain
 * @param {AbortSignal} signal
 */
export const addMessage = (run, id, text, domain, signal) =>
  call(`runs/${encode(run)}/messages`, { id, text, domain }, signal);

/** Store tables as a new run. @param {string} run @param {string} kind @param {{name: string, content: string}[]} members @param {AbortSignal} signal */
export const addTables = (run, kind, members, signal) =>
  call(`runs/${encode(run)}/tables`, { kind, tables: members.map(({ name, content }) => ({ name, content })) }, signal);

/** @param {string} run */
export const deleteRun = (run) => call(`runs/${encode(run)}`, undefined, undefined, "DELETE");

/** The tables of a run. @param {string} run @returns {Promise<{name: string, content: string}[]>} */
export async function tables(run) {
  const { messages: rows } = await messages(run, {});
  const found = await Promise.all(rows.map((row) => call(`runs/${encode(run)}/messages/${encode(row.message)}`)));
  return found.map(({ message: name, text }) => ({ name, content: text }));
}

/** @param {string} run @param {string} message @returns {Promise<Message>} */
export const message = (run, message) =>
  call(`runs/${encode(run)}/messages/${encode(message)}`).then(withAnswers);

/** @param {string} run @param {string} set */
const setPath = (run, set) => `runs/${encode(run)}/sets/${encode(set)}`;

/**
 * @param {string} run
 * @param {string} set
 * @param {string} left
 * @param {string} right
 * @returns {Promise<import("./types.js").Explanation>}
 */
export const why = (run, set, left, right) =>
  call(`${setPath(run, set)}/why${queryString({ left, right })}`);

/** @param {string} run @param {string} set @returns {Promise<Key[]>} */
export const keys = (run, set) => call(`${setPath(run, set)}/keys`);

/**
 * @param {string} run
 * @param {string} set
 * @param {any} key
 * @returns {Promise<{key: number, conflicts: Key[]}>}
 */
export const saveKey = (run, set, key) => call(`${setPath(run, set)}/keys`, key);

/** @param {string} run @param {string} set @returns {Promise<import("./types.js").Agreement>} */
export const agreement = (run, set) => call(`${setPath(run, set)}/agreement`);

/** @param {string} run @param {string} set @param {string} author */
export const withdrawKey = (run, set, author) =>
  call(`${setPath(run, set)}/keys${queryString({ author })}`, undefined, undefined, "DELETE");

/** @param {string} run @param {number} limit @returns {Promise<import("./types.js").NextSet[]>} */
export const next = (run, limit) => call(`runs/${encode(run)}/next${queryString({ limit })}`);

/** @param {string} run @returns {Promise<import("./types.js").Trained>} */
export const train = (run) => call(`runs/${encode(run)}/train`, {});

/**
 * @param {string} run
 * @param {Page} page
 * @returns {Promise<{total: number, entities: Entity[]}>}
 */
export const entities = (run, page) => call(`runs/${encode(run)}/entities${queryString(page)}`);

/** @typedef {{message: string, together: string, apart: Record<string, string>[][]}} Difference */

/** @param {string} run @param {string} other @param {Part} part @returns {Promise<{mentions: number, total: number, differences: Difference[]}>} */
export const compare = (run, other, part) => call(`runs/${encode(run)}/compare${queryString({ other, ...part })}`);

/** @param {any} request @returns {Promise<import("./types.js").ReviewSets>} */
export const cluster = (request) => call("cluster", request);

/** Save a file of a run; a plain link could not send the token. */
export async function download(/** @type {string} */ run, /** @type {string} */ file) {
  const response = await fetch(`api/runs/${encode(run)}/${file}`, requestOptions(undefined));
  if (!response.ok) return readResponse(response);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${run}-${file.split("/").pop()}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @param {any} request @returns {Promise<import("./types.js").Fused>} */
export const fuse = (request) => call("fuse", request);

const TOKEN_KEY = "partita.token";

/** Store `token=` of the address and remove it there, so that it is neither shown nor shared. */
export function takeTokenFromAddress() {
  const match = location.hash.match(/(?:^#|[?&])token=([^&]*)/);
  if (!match) return;
  sessionStorage.setItem(TOKEN_KEY, decodeURIComponent(match[1]));
  const rest = location.hash.replace(/token=[^&]*&?/, "").replace(/[?&#]$/, "");
  history.replaceState(null, "", rest || location.pathname);
}

/** @returns {string} */
export const storedToken = () => sessionStorage.getItem(TOKEN_KEY) ?? "";

/** @param {string} value */
export const storeToken = (value) => sessionStorage.setItem(TOKEN_KEY, value);

export const clearToken = () => sessionStorage.removeItem(TOKEN_KEY);
