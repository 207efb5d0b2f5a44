/** The address of the page: a view and its parameters, `#/read?run=demo&message=m`. */

/** @typedef {{view: string, run: string, message: string, set: string}} RouteParts */
/** @typedef {RouteParts & Record<string, string>} Route */

const KEPT_PARAMETERS = ["run", "message", "set"];

/** @returns {Route} */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parameters = Object.fromEntries(new URLSearchParams(query));
  return { run: "", message: "", set: "", ...parameters, view: path || "read" };
}

/**
 * Return the address of a view; run, message and set are kept unless they change.
 * @param {string} view
 * @param {Record<string, any>} [changes]
 */
export function hrefFor(view, changes = {}) {
  const route = currentRoute();
  const kept = Object.fromEntries(KEPT_PARAMETERS.map((name) => [name, route[name]]));
  const parameters = Object.entries({ ...kept, ...changes }).filter(
    ([, value]) => value || value === 0,
  );
  const query = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)]));
  return query.size ? `#/${view}?${query}` : `#/${view}`;
}

/** @param {string} view @param {Record<string, any>} [changes] */
export function navigate(view, changes = {}) {
  location.hash = hrefFor(view, changes);
}

/** Update the address without navigating. @param {Record<string, any>} changes */
export function replaceRoute(changes) {
  history.replaceState(null, "", hrefFor(currentRoute().view, changes));
}
