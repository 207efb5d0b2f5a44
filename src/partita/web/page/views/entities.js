/** Entities: all of a run, searched, each with its slot values and the way back to the text. */

import * as api from "../calls.js";
import { button, el, fill, labelled, refill, say, select } from "../dom.js";
import { count, plural } from "../numbers.js";
import { entityCard } from "../parts/entity.js";
import { nothing, trouble } from "../parts/trouble.js";
import { address, note } from "../place.js";

/** @typedef {import("../types.js").Entity} Entity */
/** @typedef {{search: string, sort: string, found: Entity[], total: number, run: string}} View */

const PAGE = 60;
const PAUSE = 200;

/** @param {HTMLElement} root @param {import("../place.js").Place} place */
export async function show(root, place) {
  if (!place.run) {
    refill(root, nothing("No entities", "There is no run yet."));
    return {};
  }
  const { sorts = [] } = await api.run(place.run);
  /** @type {View} */
  const view = {
    run: place.run,
    search: place.search ?? "",
    sort: place.sort ?? "",
    found: [],
    total: 0,
  };
  const grid = el("div", { class: "entity-grid" });
  const foot = el("p", { class: "quiet list-foot" });
  const load = (/** @type {number} */ offset) => loaded(view, grid, foot, offset, load);
  refill(
    root,
    el("h1", {}, "Entities"),
    controls(view, sorts, () => load(0)),
    grid,
    foot,
  );
  await load(0);
  return {};
}

/** @param {View} view @param {string[]} sorts @param {() => Promise<void>} load */
function controls(view, sorts, load) {
  let waiting = 0;
  const changed = () => load().then(() => say(plural(view.total, "entity", "entities")));
  const typed = (/** @type {any} */ event) => {
    view.search = event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(changed, PAUSE);
  };
  const sorted = (/** @type {string} */ sort) => {
    view.sort = sort;
    changed();
  };
  const options = /** @type {[string, string][]} */ ([
    ["", "All sorts"],
    ...sorts.filter(Boolean).map((one) => [one, one]),
  ]);
  const search = el("input", {
    type: "search",
    autocomplete: "off",
    value: view.search,
    on: { input: typed },
  });
  return el(
    "div",
    { class: "tools" },
    labelled("Search", search),
    labelled("Sort", select(options, view.sort, sorted)),
  );
}

/**
 * @param {View} view
 * @param {HTMLElement} grid
 * @param {HTMLElement} foot
 * @param {number} offset
 * @param {(offset: number) => Promise<void>} load
 */
async function loaded(view, grid, foot, offset, load) {
  const { run, search, sort } = view;
  try {
    const told = await api.entities(run, { search, sort, offset, limit: PAGE });
    if (search !== view.search || sort !== view.sort) return;
    view.total = told.total;
    view.found = offset ? [...view.found, ...told.entities] : told.entities;
    note({ run, search, sort });
    refill(grid, ...view.found.map((one) => shown(run, one)));
    refill(foot, `${count(view.found.length)} of ${plural(view.total, "entity", "entities")}`);
    if (view.found.length < view.total)
      fill(
        foot,
        button("Show more", () => load(view.found.length)),
      );
  } catch (error) {
    refill(
      grid,
      trouble(error, () => load(offset)),
    );
  }
}

/** @param {string} run @param {Entity} entity */
function shown(run, entity) {
  const given = {
    run,
    message: entity.message,
    set: entity.set,
    template: entity.anchor || entity.templates[0],
  };
  const link = el("a", { href: address("read", given) }, `In the text of ${entity.message}`);
  return entityCard(entity, { level: "h2", foot: [el("p", { class: "links" }, link)] });
}
