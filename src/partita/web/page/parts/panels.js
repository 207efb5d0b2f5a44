/** Panels for errors and for views that have nothing to show. */

import { download, storeToken } from "../api.js";
import { button, el, labelled } from "../dom.js";

/**
 * @param {string} title what failed
 * @param {any} error
 * @param {() => void} retry
 * @returns {HTMLElement}
 */
export function errorPanel(title, error, retry) {
  if (error?.status === 401) return tokenForm(error.message, retry);
  return el(
    "section",
    { class: "panel error-panel", role: "alert" },
    el("h1", {}, title),
    el("p", {}, error?.message ?? String(error)),
    button("Try again", retry),
  );
}

/** @param {string} message @param {() => void} retry */
function tokenForm(message, retry) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "password", autocomplete: "off", required: true })
  );
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    storeToken(field.value);
    retry();
  };
  return el(
    "form",
    { class: "panel error-panel", on: { submit: send } },
    el("h1", {}, "A token is required"),
    el("p", { role: "alert" }, message),
    labelled("Token", field),
    el("button", { type: "submit" }, "Continue"),
  );
}

/** Return a function that makes the link to a file of a run. @param {string} run */
export const downloadLink = (run) => (/** @type {string} */ text, /** @type {string} */ file) =>
  button(text, () => download(run, file), { class: "link-button", title: `Download ${file}` });

/** A panel with a title. @param {string} title @param {...import("../dom.js").Child} content */
export const titledPanel = (title, ...content) =>
  el("section", { class: "panel", "aria-label": title }, el("h2", {}, title), ...content);

/**
 * A panel for a view that has nothing to show.
 * @param {string} title
 * @param {...(Node|string)} text
 */
export function emptyPanel(title, ...text) {
  return el("section", { class: "panel empty-panel" }, el("h1", {}, title), el("p", {}, ...text));
}
