/** Build elements from data: strings become text nodes, never markup. */

/** @typedef {Node|string|number|null|undefined|false} Child */

const ALLOWED_LINK = /^(#|api\/|docs$)/;

/**
 * Create an element with attributes, listeners (under `on`) and children.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  return append(element, ...children);
}

/** @param {Element} element @param {string} name @param {any} value */
function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value))
      element.addEventListener(event, listener);
  } else if (name.startsWith("on") || name === "style") {
    throw new Error(`attribute ${name} is not allowed`);
  } else if (name === "href" && !ALLOWED_LINK.test(value)) {
    throw new Error("links must lead to a view or to the service");
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Append children; null, undefined, false and "" are skipped.
 * @template {Element} T
 * @param {T} parent
 * @param {...Child} children
 * @returns {T}
 */
export function append(parent, ...children) {
  parent.append(...present(children));
  return parent;
}

/**
 * Replace all children.
 * @template {Element} T
 * @param {T} parent
 * @param {...Child} children
 * @returns {T}
 */
export function replaceContent(parent, ...children) {
  parent.replaceChildren(...present(children));
  return parent;
}

/**
 * Return the children to show, as nodes and text.
 * @param {Child[]} children
 * @returns {(Node|string)[]}
 */
const present = (children) =>
  children.flatMap((child) =>
    child || child === 0 ? [child instanceof Node ? child : String(child)] : [],
  );

/** @param {string} text @param {() => void} onClick @param {Record<string, any>} [attributes] */
export function button(text, onClick, attributes = {}) {
  return el("button", { type: "button", ...attributes, on: { click: onClick } }, text);
}

/** A control with its label in front. @param {string} text @param {HTMLElement} control */
export function labelled(text, control) {
  return el("label", { class: "field" }, el("span", { class: "field-name" }, text), control);
}

/**
 * A select with one option for each [value, text].
 * @param {[string, string][]} options
 * @param {string} chosen
 * @param {(value: string) => void} onChange
 * @param {Record<string, any>} [attributes]
 */
export function select(options, chosen, onChange, attributes = {}) {
  const menu = /** @type {HTMLSelectElement} */ (
    el("select", { ...attributes, on: { change: () => onChange(menu.value) } })
  );
  for (const [value, text] of options) {
    append(menu, el("option", { value, selected: value === chosen }, text));
  }
  return menu;
}

const SEARCH_DELAY = 200;

/** A field that searches when nothing was typed for a moment. @param {string} value @param {(text: string) => void} search */
export function searchField(value, search) {
  let timer = 0;
  const onInput = (/** @type {any} */ event) => {
    clearTimeout(timer);
    timer = setTimeout(() => search(event.target.value), SEARCH_DELAY);
  };
  const attributes = { type: "search", autocomplete: "off", value };
  return labelled("Search", el("input", { ...attributes, on: { input: onInput } }));
}

/**
 * The tools above a table: a search and a type, kept in its view, and others.
 * @param {{search: string, sort: string}} view
 * @param {string[]} types
 * @param {() => void} reload
 * @param {...Child} others
 */
export function tableTools(view, types, reload, ...others) {
  const change = (/** @type {object} */ changes) => {
    Object.assign(view, changes);
    reload();
  };
  const options = ["", ...types.filter(Boolean)].map((type) => /** @type {[string, string]} */ ([type, type || "All types"]));
  const menu = select(options, view.sort, (sort) => change({ sort }));
  return el("div", { class: "tools" }, searchField(view.search, (search) => change({ search })), labelled("Type", menu), ...others);
}

/** A button that empties the search and the choice of a type. @param {Element|null} box with both */
export const clearButton = (box) =>
  button("Clear the search", () => {
    for (const field of box?.querySelectorAll("input[type=search], select") ?? []) {
      if (field.matches("select") && !field.querySelector("option[value='']")) continue;
      /** @type {HTMLInputElement} */ (field).value = "";
      field.dispatchEvent(new Event(field.matches("select") ? "change" : "input"));
    }
  });

/**
 * A table with its headings, in the order of its columns.
 * @param {string} className
 * @param {(string|HTMLElement)[]} heads
 * @param {HTMLElement[]} rows
 * @param {Child} [caption]
 */
export function table(className, heads, rows, caption) {
  const cells = heads.map((one) => (one instanceof Node ? one : el("th", { scope: "col" }, one)));
  const body = el("tbody", {}, ...rows);
  return el("table", { class: className }, caption, el("thead", {}, el("tr", {}, ...cells)), body);
}

/**
 * A table whose headings choose the order of a view; columns without an order have a plain one.
 * @param {[string, string][]} columns
 * @param {{order: string}} view
 * @param {() => void} reload
 * @param {HTMLElement[]} rows
 */
export function sortedTable(columns, view, reload, rows) {
  const heads = columns.map(([title, order]) => {
    const sort = () => {
      view.order = order;
      reload();
    };
    const direction = ["mentions", "documents"].includes(order) ? "descending" : "ascending";
    const attributes = { scope: "col", "aria-sort": order !== "" && order === view.order && direction };
    return el("th", attributes, order ? button(title, sort, { class: "link-button" }) : title);
  });
  return table("entity-table", heads, rows);
}

/** Save rows as a CSV file. @param {string} name @param {any[][]} rows */
export function saveFile(name, rows) {
  const cell = (/** @type {any} */ value) => `"${String(value).replaceAll('"', '""')}"`;
  const text = rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
}

/** Text for a screen reader alone. @param {string} text */
export const screenReaderOnly = (text) => el("span", { class: "visually-hidden" }, text);

/** Announce something to screen readers. @param {string} text */
export function announce(text) {
  const region = document.getElementById("live-region");
  if (region) region.textContent = text;
}

/**
 * A share from 0 to 1 as a bar; the number is shown beside it.
 * @param {number} share
 * @param {string} [modifier]
 */
export function bar(share, modifier = "") {
  const fill = el("span", { class: "bar-fill" });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { class: `bar ${modifier}`, "aria-hidden": "true" }, fill);
}
