/** Elements from plain data: text is always text, and nothing from outside becomes markup. */

/** @typedef {Node|string|number|null|undefined|false} Child */

const LINK = /^(#|api\/)/;

/**
 * An element with attributes, listeners under `on` and children; strings become text nodes.
 * @param {string} tag
 * @param {Record<string, any>} [given]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) set(made, name, value);
  return fill(made, ...children);
}

/** @param {Element} made @param {string} name @param {any} value */
function set(made, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
  } else if (name.startsWith("on") || name === "style") {
    throw new Error(`${name} is no attribute for data`);
  } else if (name === "href" && !LINK.test(value)) {
    throw new Error("a link leads to a view or to the service");
  } else {
    made.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Add children; what is nothing is left out.
 * @template {Element} T
 * @param {T} parent
 * @param {...Child} children
 * @returns {T}
 */
export function fill(parent, ...children) {
  parent.append(...there(children));
  return parent;
}

/**
 * Put these in place of what was there.
 * @template {Element} T
 * @param {T} parent
 * @param {...Child} children
 * @returns {T}
 */
export function refill(parent, ...children) {
  parent.replaceChildren(...there(children));
  return parent;
}

/** What is there, as nodes and text. @param {Child[]} children @returns {(Node|string)[]} */
const there = (children) =>
  children.flatMap((one) => (one || one === 0 ? [one instanceof Node ? one : String(one)] : []));

/** @param {string} text @param {() => void} act @param {Record<string, any>} [given] */
export function button(text, act, given = {}) {
  return el("button", { type: "button", ...given, on: { click: act } }, text);
}

/** A control with its label in front. @param {string} text @param {HTMLElement} control */
export function labelled(text, control) {
  return el("label", { class: "field" }, el("span", { class: "field-name" }, text), control);
}

/**
 * A select with one option for each [value, text].
 * @param {[string, string][]} options @param {string} chosen @param {(value: string) => void} act
 * @param {Record<string, any>} [given]
 */
export function select(options, chosen, act, given = {}) {
  const made = /** @type {HTMLSelectElement} */ (
    el("select", { ...given, on: { change: () => act(made.value) } })
  );
  for (const [value, text] of options) {
    fill(made, el("option", { value, selected: value === chosen }, text));
  }
  return made;
}

/** Text for a screen reader alone. @param {string} text */
export const unseen = (text) => el("span", { class: "unseen" }, text);

/** Say something in the page's live region. @param {string} text */
export function say(text) {
  const region = document.getElementById("said");
  if (region) region.textContent = text;
}
