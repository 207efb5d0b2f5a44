/** The service under `api/`: one function a call, all errors with one clear line. */

import { forget, token } from "./token.js";

export class ServiceError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const part = encodeURIComponent;

/** @param {Record<string, any>} given */
function query(given) {
  const said = Object.entries(given).filter(([, value]) => value !== "" && value !== undefined);
  const text = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : "";
}

/** @param {string} path @param {any} [body] @returns {Promise<any>} */
async function call(path, body) {
  const answer = await fetch(`api/${path}`, request(body)).catch(() => {
    throw new ServiceError(0, "The service does not answer; is partita serve still running?");
  });
  return answered(answer);
}

/** A question, or with a body an order. @param {any} body @returns {RequestInit} */
function request(body) {
  const headers = new Headers({ Accept: "application/json" });
  if (token()) headers.set("Authorization", `Bearer ${token()}`);
  if (body === undefined) return { headers, cache: "no-store" };
  headers.set("Content-Type", "application/json");
  return { headers, cache: "no-store", method: "POST", body: JSON.stringify(body) };
}

/** @param {Response} answer */
async function answered(answer) {
  const told = await answer.json().catch(() => null);
  if (answer.status === 401) forget();
  if (answer.ok && told !== null) return told;
  throw new ServiceError(answer.status, told?.error ?? `The service answers ${answer.status}.`);
}

/** @typedef {import("./types.js").Message} Message */
/** @typedef {import("./types.js").MessageRow} MessageRow */
/** @typedef {import("./types.js").Key} Key */
/** @typedef {import("./types.js").Entity} Entity */
/** @typedef {{offset?: number, limit?: number}} Part */
/** @typedef {Part & {search?: string, order?: string, sort?: string}} Page */

/** @returns {Promise<import("./types.js").Run[]>} */
export const runs = () => call("runs");

/** @returns {Promise<{domains: string[], models: string[]}>} */
export const domains = () => call("domains");

/** @param {string} run @returns {Promise<{sorts?: string[]}>} */
export const run = (run) => call(`runs/${part(run)}`);

/**
 * @param {string} run
 * @param {Page} page
 * @returns {Promise<{total: number, messages: MessageRow[]}>}
 */
export const messages = (run, page) => call(`runs/${part(run)}/messages${query(page)}`);

/** @param {string} run @param {string} message @returns {Promise<Message>} */
export const message = (run, message) => call(`runs/${part(run)}/messages/${part(message)}`);

/** @param {string} run @param {string} set */
const setAt = (run, set) => `runs/${part(run)}/sets/${part(set)}`;

/**
 * @param {string} run
 * @param {string} set
 * @param {string} left
 * @param {string} right
 * @returns {Promise<import("./types.js").Explanation>}
 */
export const why = (run, set, left, right) =>
  call(`${setAt(run, set)}/why${query({ left, right })}`);

/** @param {string} run @param {string} set @returns {Promise<Key[]>} */
export const keys = (run, set) => call(`${setAt(run, set)}/keys`);

/**
 * @param {string} run
 * @param {string} set
 * @param {any} key
 * @returns {Promise<{key: number, conflicts: Key[]}>}
 */
export const saveKey = (run, set, key) => call(`${setAt(run, set)}/keys`, key);

/** @param {string} run @param {number} limit @returns {Promise<import("./types.js").NextSet[]>} */
export const next = (run, limit) => call(`runs/${part(run)}/next${query({ limit })}`);

/** @param {string} run @returns {Promise<{job: string}>} */
export const train = (run) => call(`runs/${part(run)}/train`, {});

/** @param {string} job @returns {Promise<import("./types.js").Job>} */
export const job = (job) => call(`jobs/${part(job)}`);

/** @param {string} run @returns {Promise<import("./types.js").Taught>} */
export const curve = (run) => call(`runs/${part(run)}/curve`);

/**
 * @param {string} run
 * @param {Page} page
 * @returns {Promise<{total: number, entities: Entity[]}>}
 */
export const entities = (run, page) => call(`runs/${part(run)}/entities${query(page)}`);

/** @param {string} text @param {string} domain @param {string} model @returns {Promise<Message>} */
export const resolve = (text, domain, model) => call("resolve", { text, domain, model });

/** @param {any} asked @returns {Promise<import("./types.js").Fused>} */
export const fuse = (asked) => call("fuse", asked);
