/** Where a person is: the view and what it shows, in the address: `#/read?run=demo&message=m`. */

/** @typedef {{view: string, run: string, message: string, set: string}} Fixed */
/** @typedef {Fixed & Record<string, string>} Place */

const KEPT = ["run", "message", "set"];

/** @returns {Place} */
export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const told = Object.fromEntries(new URLSearchParams(query));
  return { run: "", message: "", set: "", ...told, view: path || "read" };
}

/**
 * The address of a view; run, message and set stay what they are unless something is said.
 * @param {string} view
 * @param {Record<string, any>} [given]
 */
export function address(view, given = {}) {
  const now = here();
  const kept = Object.fromEntries(KEPT.map((name) => [name, now[name]]));
  const told = Object.entries({ ...kept, ...given }).filter(([, value]) => value || value === 0);
  const query = new URLSearchParams(told.map(([name, value]) => [name, String(value)]));
  return query.size ? `#/${view}?${query}` : `#/${view}`;
}

/** @param {string} view @param {Record<string, any>} [given] */
export function go(view, given = {}) {
  location.hash = address(view, given);
}

/** Say in the address what is shown, without going anywhere. @param {Record<string, any>} given */
export function note(given) {
  history.replaceState(null, "", address(here().view, given));
}
