/** The run that everything is about: chosen in the header, kept for the next visit. */

import { runs } from "./calls.js";
import { el, refill, select } from "./dom.js";
import { go, here } from "./place.js";

const NAME = "partita.run";
const box = el("label", { class: "field" });
/** @type {import("./types.js").Run[]} */
let known = [];

/** The header's place for the chooser. */
export const chooser = () => box;

/** Ask anew which runs there are, and offer them. */
export async function renew() {
  known = await runs();
  draw(here().run);
  return known;
}

/** @param {string} name */
const isKnown = (name) => known.some((one) => one.name === name);

/**
 * The run of a place, else the one of the last visit, else the newest; "" if there is none.
 * @param {import("./place.js").Place} place
 */
export async function runOf(place) {
  if (!known.length || (place.run && !isKnown(place.run))) known = await runs();
  const last = localStorage.getItem(NAME) ?? "";
  const run = place.run || (isKnown(last) ? last : (known[known.length - 1]?.name ?? ""));
  if (isKnown(run)) localStorage.setItem(NAME, run);
  draw(run);
  return run;
}

/** @param {string} run */
function draw(run) {
  const options = known.map(({ name }) => /** @type {[string, string]} */ ([name, name]));
  const list = select(options, run, choose, { id: "run", disabled: !known.length });
  refill(box, el("span", { class: "field-name" }, "Run"), list);
}

/** @param {string} run */
function choose(run) {
  go(here().view, { run, message: "", set: "" });
}
