/** What went wrong, in one line, and what can be done about it. */

import { button, el, labelled } from "../dom.js";
import { keepToken } from "../token.js";

/** @param {any} error @param {() => void} again @returns {HTMLElement} */
export function trouble(error, again) {
  if (error?.status === 401) return tokenWanted(error.message, again);
  return el(
    "section",
    { class: "panel trouble", role: "alert" },
    el("h1", {}, "That did not work"),
    el("p", {}, error?.message ?? String(error)),
    button("Try again", again),
  );
}

/** @param {string} message @param {() => void} again */
function tokenWanted(message, again) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "password", autocomplete: "off", required: true })
  );
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    keepToken(field.value);
    again();
  };
  return el(
    "form",
    { class: "panel trouble", on: { submit: send } },
    el("h1", {}, "The service asks for a token"),
    el("p", { role: "alert" }, message),
    labelled("Token", field),
    el("button", { type: "submit" }, "Go on"),
  );
}

/** Said where a view has nothing to show. @param {string} title @param {...(Node|string)} words */
export function nothing(title, ...words) {
  return el("section", { class: "panel nothing" }, el("h1", {}, title), el("p", {}, ...words));
}
