/** What is known of a template, beside the place where it is pointed at or focused. */

import { el, refill } from "../dom.js";
import { probability, slotValue } from "../numbers.js";

/** @typedef {import("../types.js").ResultSet} ResultSet */
/** @typedef {import("../types.js").Template} Template */

const card = el("div", { class: "card", id: "card", role: "tooltip", hidden: true });
const MARGIN = 8;

/**
 * Show cards for the marks inside a text.
 * @param {HTMLElement} text @param {(id: string) => Node[]} describe
 * @returns {() => void} to call when the text goes
 */
export function cards(text, describe) {
  document.body.append(card);
  const over = (/** @type {Event} */ event) => {
    const at = /** @type {Element} */ (event.target).closest("[data-template]");
    at ? open(at, describe) : close();
  };
  text.addEventListener("pointerover", over);
  text.addEventListener("focusin", over);
  text.addEventListener("pointerleave", close);
  text.addEventListener("focusout", close);
  document.addEventListener("keydown", escape);
  return () => {
    document.removeEventListener("keydown", escape);
    close();
  };
}

/** @param {KeyboardEvent} event */
function escape(event) {
  if (event.key === "Escape") close();
}

function close() {
  card.hidden = true;
}

/** @param {Element} at @param {(id: string) => Node[]} describe */
function open(at, describe) {
  refill(card, ...describe(at.getAttribute("data-template") ?? ""));
  card.hidden = false;
  at.querySelector(".tag")?.setAttribute("aria-describedby", "card");
  if (at.matches(".tag")) at.setAttribute("aria-describedby", "card");
  put(at.getClientRects()[0]);
}

/**
 * Below the mark if there is room, else above it; never outside of the window.
 * @param {DOMRect} at
 */
function put(at) {
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = Math.min(at.left, document.documentElement.clientWidth - width - MARGIN);
  const below = at.bottom + MARGIN;
  const fits = below + height <= innerHeight;
  card.style.left = `${Math.max(MARGIN, left)}px`;
  card.style.top = `${fits ? below : Math.max(MARGIN, at.top - height - MARGIN)}px`;
}

/**
 * Slots, form, antecedents and rule of a template, and with whom it may be the same.
 * @param {Template} template @param {ResultSet} [set] the set that it is in
 * @returns {Node[]}
 */
export function description(template, set) {
  const head = el(
    "p",
    { class: "card-head" },
    el("b", {}, template.id),
    ` ${template.text ?? ""}`,
    template.sort ? el("span", { class: "sort" }, template.sort) : null,
  );
  return [
    head,
    facts(slotsOf(template), "slots"),
    facts(formOf(template), "form"),
    ...mates(template, set),
  ];
}

/** @param {Template} template @returns {[string, string][]} */
const slotsOf = (template) =>
  Object.entries(template.slots ?? {}).map(([name, value]) => [name, slotValue(value)]);

/** @param {Template} template @returns {[string, string][]} */
function formOf(template) {
  const antecedents = (template.antecedents ?? [])
    .map((one) => (one.preferred ? `${one.id} (preferred)` : one.id))
    .join(", ");
  const { form, region, rule } = template;
  const said = Object.entries({ form, "may refer to": antecedents, region, rule });
  return said.flatMap(([name, value]) => (value ? [[name, value]] : []));
}

/** @param {[string, string][]} said @param {string} kind */
function facts(said, kind) {
  const rows = said.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  return el("dl", { class: `facts ${kind}`, hidden: !rows.length }, ...rows);
}

/**
 * The templates that it most probably corefers with.
 * @param {Template} template
 * @param {ResultSet} [set]
 */
function mates(template, set) {
  if (!set) return [el("p", { class: "quiet" }, "Alone: nothing else may be the same.")];
  const found = set.pairs
    .filter((one) => one.left === template.id || one.right === template.id)
    .filter((one) => one.marginal > 0)
    .sort((a, b) => b.marginal - a.marginal)
    .slice(0, 4)
    .map((one) => {
      const other = one.left === template.id ? one.right : one.left;
      return `${other} ${probability(one.marginal)}`;
    });
  return found.length ? [facts([["same as", found.join(", ")]], "mates")] : [];
}
