/** The Entities view: all entities of a run, searchable, with links to the text. */

import * as api from "../api.js";
import { announce, append, button, el, labelled, replaceContent, select } from "../dom.js";
import { count, plural } from "../format.js";
import { entityCard } from "../parts/entity.js";
import { emptyPanel, errorPanel } from "../parts/panels.js";
import { hrefFor, replaceRoute } from "../router.js";

/** @typedef {import("../types.js").Entity} Entity */
/**
 * @typedef {object} EntitiesView
 * @property {string} run
 * @property {string} search
 * @property {string} sort the entity type
 * @property {Entity[]} entities
 * @property {number} total
 */

const PAGE_SIZE = 60;
const SEARCH_DELAY = 200;

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, route) {
  if (!route.run) {
    replaceContent(root, emptyPanel("No entities", "There are no runs yet."));
    return {};
  }
  const { sorts = [] } = await api.run(route.run);
  /** @type {EntitiesView} */
  const view = {
    run: route.run,
    search: route.search ?? "",
    sort: route.sort ?? "",
    entities: [],
    total: 0,
  };
  const grid = el("div", { class: "entity-grid" });
  const footer = el("p", { class: "quiet list-foot" });
  const load = (/** @type {number} */ offset) => loadPage(view, grid, footer, offset, load);
  replaceContent(
    root,
    el("h1", {}, "Entities"),
    controls(view, sorts, () => load(0)),
    grid,
    footer,
  );
  await load(0);
  return {};
}

/** @param {EntitiesView} view @param {string[]} sorts @param {() => Promise<void>} load */
function controls(view, sorts, load) {
  let timer = 0;
  const reload = () => load().then(() => announce(plural(view.total, "entity", "entities")));
  const onSearch = (/** @type {any} */ event) => {
    view.search = event.target.value;
    clearTimeout(timer);
    timer = setTimeout(reload, SEARCH_DELAY);
  };
  const onSort = (/** @type {string} */ sort) => {
    view.sort = sort;
    reload();
  };
  const options = /** @type {[string, string][]} */ ([
    ["", "All types"],
    ...sorts.filter(Boolean).map((sort) => [sort, sort]),
  ]);
  const search = el("input", {
    type: "search",
    autocomplete: "off",
    value: view.search,
    on: { input: onSearch },
  });
  return el(
    "div",
    { class: "tools" },
    labelled("Search", search),
    labelled("Type", select(options, view.sort, onSort)),
  );
}

/**
 * @param {EntitiesView} view
 * @param {HTMLElement} grid
 * @param {HTMLElement} footer
 * @param {number} offset
 * @param {(offset: number) => Promise<void>} load
 */
async function loadPage(view, grid, footer, offset, load) {
  const { run, search, sort } = view;
  try {
    const page = await api.entities(run, { search, sort, offset, limit: PAGE_SIZE });
    if (search !== view.search || sort !== view.sort) return;
    view.total = page.total;
    view.entities = offset ? [...view.entities, ...page.entities] : page.entities;
    replaceRoute({ run, search, sort });
    replaceContent(grid, ...view.entities.map((entity) => linkedCard(run, entity)));
    replaceContent(
      footer,
      `${count(view.entities.length)} of ${plural(view.total, "entity", "entities")}`,
    );
    if (!view.total && (search || sort)) append(footer, clearButton(view, grid, load));
    if (view.entities.length < view.total)
      append(
        footer,
        button("Show more", () => load(view.entities.length)),
      );
  } catch (error) {
    replaceContent(
      grid,
      errorPanel("The entities could not be loaded", error, () => load(offset)),
    );
  }
}

/**
 * Clear the search and the type.
 * @param {EntitiesView} view
 * @param {HTMLElement} grid
 * @param {(offset: number) => Promise<void>} load
 */
function clearButton(view, grid, load) {
  return button("Clear the search", () => {
    view.search = view.sort = "";
    const fields = grid.parentElement?.querySelectorAll("input, select") ?? [];
    for (const field of fields) /** @type {HTMLInputElement} */ (field).value = "";
    load(0);
  });
}

/** @param {string} run @param {Entity} entity */
function linkedCard(run, entity) {
  const parameters = {
    run,
    message: entity.message,
    set: entity.set,
    template: entity.anchor || entity.templates[0],
  };
  const link = el("a", { href: hrefFor("read", parameters) }, `Show in ${entity.message}`);
  return entityCard(entity, { level: "h2", footer: [el("p", { class: "links" }, link)] });
}
