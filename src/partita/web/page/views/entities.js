/** The Entities view: a table of all entities of a run, searchable and sortable, with exports. */

import * as api from "../api.js";
import { announce, append, button, clearButton, el, replaceContent, sortedTable, tableTools } from "../dom.js";
import { count, plural, probability, slotValue } from "../format.js";
import { otherRuns, showDifferences } from "../parts/comparison.js";
import { confidence, entityDetails, entityName, expressions, likelyFacts } from "../parts/entity.js";
import { downloadLink, emptyPanel, errorPanel } from "../parts/panels.js";
import { hrefFor, replaceRoute } from "../router.js";

/** @typedef {import("../types.js").Entity} Entity */
/**
 * @typedef {object} EntitiesView
 * @property {string} run
 * @property {string} search
 * @property {string} sort the entity type
 * @property {string} order
 * @property {string} other a run to compare with, or ""
 * @property {Entity[]} entities
 * @property {number} total
 */

const PAGE_SIZE = 40;
/** Columns, and the order that their heading chooses. @type {[string, string][]} */
const COLUMNS = [
  ["Name", "name"],
  ["Type", "type"],
  ["Mentions", "mentions"],
  ["Confidence", ""],
  ["Facts", ""],
  ["Text", "text"],
];

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, route) {
  if (!route.run) {
    replaceContent(root, emptyPanel("No entities", "There are no texts yet."));
    return {};
  }
  const { sorts = [] } = await api.run(route.run);
  const { run, search = "", sort = "", order = "mentions", other = "" } = route;
  /** @type {EntitiesView} */
  const view = { run, search, sort, order, other, entities: [], total: 0 };
  const table = el("div", { class: "table-box" });
  const footer = el("p", { class: "quiet list-foot" });
  const load = (/** @type {number} */ offset) => loadPage(view, table, footer, offset, load);
  replaceContent(
    root,
    el("h1", {}, "Entities"),
    controls(view, sorts, () => load(0)),
    table,
    footer,
  );
  await load(0);
  return {};
}

/** @param {EntitiesView} view @param {string[]} sorts @param {() => Promise<void>} load */
function controls(view, sorts, load) {
  const reload = () => load().then(() => announce(plural(view.total, view.other ? "difference" : "entity", view.other ? undefined : "entities")));
  const save = downloadLink(view.run);
  const compare = (/** @type {string} */ other) => {
    view.other = other;
    reload();
  };
  return tableTools(
    view,
    sorts,
    reload,
    otherRuns(view.run, view.other, compare),
    el("span", { class: "links exports" }, el("span", { class: "quiet" }, "Download"), save("CSV", "export/entities.csv")),
  );
}

/**
 * @param {EntitiesView} view
 * @param {HTMLElement} box
 * @param {HTMLElement} footer
 * @param {number} offset
 * @param {(offset: number) => Promise<void>} load
 */
async function loadPage(view, box, footer, offset, load) {
  const { run, search, sort, order, other } = view;
  replaceRoute({ run, search, sort, order: order === "mentions" ? "" : order, other });
  try {
    if (other) return await showDifferences(view, box, footer);
    const page = await api.entities(run, { search, sort, order, offset, limit: PAGE_SIZE });
    if (search !== view.search || sort !== view.sort || order !== view.order || view.other) return;
    view.total = page.total;
    view.entities = offset ? [...view.entities, ...page.entities] : page.entities;
    replaceContent(box, entityTable(view, () => load(0)));
    replaceContent(
      footer,
      `${count(view.entities.length)} of ${plural(view.total, "entity", "entities")}`,
    );
    if (!view.total && (search || sort)) append(footer, clearButton(box.parentElement));
    const more = () => load(view.entities.length);
    if (view.entities.length < view.total) append(footer, button("Show more", more));
  } catch (error) {
    replaceContent(
      box,
      errorPanel("The entities could not be loaded", error, () => load(offset)),
    );
  }
}

/** @param {EntitiesView} view @param {() => void} reload */
function entityTable(view, reload) {
  const rows = view.entities.map((entity) => entityRow(view.run, entity));
  return sortedTable(COLUMNS, view, reload, rows);
}

/** @param {string} run @param {Entity} entity */
function entityRow(run, entity) {
  const parameters = {
    run,
    message: entity.message,
    set: entity.set,
    template: entity.anchor || entity.templates[0],
  };
  const shown = expressions(entity);
  const facts = likelyFacts(entity).map(([name, { value, probability: p }]) =>
    el("span", { class: "fact", title: `probability ${probability(p)}` }, `${name}: ${slotValue(value)}`),
  );
  return el(
    "tr",
    { class: "entity-row" },
    el(
      "th",
      { scope: "row" },
      entityName(entity),
      shown && shown !== entityName(entity) ? el("span", { class: "quiet members" }, shown) : null,
      entityDetails(entity),
    ),
    el("td", {}, entity.sort),
    el("td", { class: "number" }, count(entity.templates.length)),
    el("td", {}, confidence(entity)),
    el("td", {}, ...facts),
    el("td", {}, el("a", { href: hrefFor("read", parameters) }, String(entity.message))),
  );
}
