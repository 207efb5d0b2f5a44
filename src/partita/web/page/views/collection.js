/** The Collection view: the entities of many documents in one table, and a page for each. */

import * as api from "../api.js";
import { neighbourGraph } from "../charts/graph.js";
import { responsive } from "../charts/svg.js";
import { announce, append, button, el, replaceContent, saveFile, sortedTable, tableTools } from "../dom.js";
import { confidenceWord, count, plural, probability } from "../format.js";
import { errorPanel, titledPanel } from "../parts/panels.js";
import { hrefFor, replaceRoute } from "../router.js";

const PAGE_SIZE = 40;
const LARGEST_PAGE = 1000; // that the service gives at once
const MOST_QUESTIONS = 5; // of a kind, about an entity
const HOPELESS = 0.1; // the probability below which nobody is asked whether two are the same
const LABELS_KEY = "partita.collection.labels";
/** @type {[string, string][]} */
const COLUMNS = [
  ["Name", "name"],
  ["Type", "type"],
  ["Documents", "documents"],
  ["Mentions", "mentions"],
  ["Confidence", ""],
  ["Other names", ""],
];

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, route) {
  const { knowledge_base } = await api.domains();
  const run = knowledge_base ? "" : route.run; // without a knowledge base, the texts of the run
  const fill = async () => {
    if (route.entity) replaceContent(root, ...entityPage(await api.knowledgeEntity(route.entity, run)));
    else await showTable(root, { ...route, run });
  };
  replaceContent(root, el("h1", {}, "Collection"), el("p", { class: "quiet" }, "Comparing the entities of all texts…"));
  fill().catch((error) => replaceContent(root, errorPanel("The collection could not be loaded", error, () => show(root, route))));
  return {};
}

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
async function showTable(root, { run, search = "", sort = "", order = "documents" }) {
  const { name, documents, entities, types } = await api.knowledge(run);
  const view = { search, sort, order, offset: 0 };
  const [box, footer] = [el("div", { class: "table-box" }), el("p", { class: "quiet list-foot" })];
  const load = async () => {
    const page = await api.knowledgeEntities({ ...view, run, limit: PAGE_SIZE });
    replaceRoute({ search: view.search, sort: view.sort, order: view.order });
    replaceContent(box, entityTable(page.entities, view, reload));
    const last = view.offset + page.entities.length;
    replaceContent(footer, `${count(view.offset + 1)} to ${count(last)} of ${plural(page.total, "entity", "entities")}`);
    if (view.offset) append(footer, button("Back", () => move(-PAGE_SIZE)));
    if (last < page.total) append(footer, button("Next", () => move(PAGE_SIZE)));
    announce(plural(page.total, "entity", "entities"));
  };
  const move = (/** @type {number} */ by) => {
    view.offset += by;
    load();
  };
  const reload = () => {
    view.offset = 0;
    load();
  };
  const save = () => downloadEntities({ ...view, run });
  const saving = button("CSV", save, { class: "link-button", title: "Download the entities" });
  replaceContent(
    root,
    el("h1", {}, name),
    el("p", { class: "quiet" }, `${plural(entities, "entity", "entities")} in ${plural(documents, "document")}`),
    tableTools(view, types, reload, el("span", { class: "links exports" }, el("span", { class: "quiet" }, "Download"), saving)),
    box,
    footer,
  );
  await load();
}

/** Save all entities that a search finds. @param {Record<string, any>} view */
async function downloadEntities(view) {
  const heads = ["entity", "name", "type", "documents", "mentions", "certainty", "aliases"];
  const rows = [heads];
  for (let total = 1, offset = 0; offset < total; offset += LARGEST_PAGE) {
    const page = await api.knowledgeEntities({ ...view, offset, limit: LARGEST_PAGE });
    total = page.total;
    rows.push(...page.entities.map((row) => heads.map((head) => withoutFormula([row[head]].flat().join("; ")))));
  }
  saveFile("entities.csv", rows);
}

/** A text that a spreadsheet does not run. @param {string} text */
const withoutFormula = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** @param {any[]} rows @param {{order: string}} view @param {() => void} reload */
function entityTable(rows, view, reload) {
  const body = rows.map((row) =>
    el(
      "tr",
      { class: "entity-row" },
      el("th", { scope: "row" }, el("a", { href: hrefFor("collection", { entity: row.entity }) }, row.name)),
      el("td", {}, row.type),
      el("td", { class: "number" }, count(row.documents)),
      el("td", { class: "number" }, count(row.mentions)),
      row.records > 1 ? el("td", {}, likely(row.certainty)) : el("td", { class: "quiet" }, "in one text"),
      el("td", {}, row.aliases.slice(0, 4).join(" · ")),
    ),
  );
  return sortedTable(COLUMNS, view, reload, body);
}

/** @param {number} p */
const likely = (p) =>
  el("span", { class: "confidence", title: `probability ${probability(p)}`, tabindex: "0" }, confidenceWord(p));

/** @param {any} entity */
function entityPage(entity) {
  const { name, type, names, values, mentions, relations, contradictions, similar, description } = entity;
  const size = `${plural(mentions.length, "mention")} in ${plural(entity.documents, "document")}`;
  const [inside, outside] = [true, false].map((one) =>
    similar.filter((/** @type {any} */ pair) => (pair.left_entity === pair.right_entity) === one),
  );
  const possible = outside.filter((/** @type {any} */ pair) => pair.probability >= HOPELESS);
  const statements = [...Map.groupBy(relations, relationKey).values()];
  const byDocument = [...Map.groupBy(mentions, (/** @type {any} */ one) => one.document)];
  return [
    el("p", { class: "links" }, el("a", { href: hrefFor("collection", { entity: "" }) }, "All entities")),
    el(
      "section",
      { class: "panel" },
      el("h1", {}, name),
      el("p", {}, `${type ? `${type}, ` : ""}${size}, `, likely(entity.certainty)),
      description ? el("p", { class: "quiet" }, description) : null,
      el("p", {}, "Names: ", names.map((/** @type {any} */ one) => `${one.name} (${one.records})`).join(", ")),
    ),
    panel(
      "Facts",
      values.map((/** @type {any} */ one) =>
        el("li", {}, `${one.slot.toLowerCase()}: ${one.value}, ${plural(one.documents, "source")}, `, likely(one.probability)),
      ),
    ),
    panel(
      "Contradictions",
      contradictions.map((/** @type {any} */ one) =>
        el("li", {}, `${one.slot.toLowerCase()}: ${one.values.join(" or ")} (${one.documents.join(", ")})`),
      ),
    ),
    panel("May be the same", possible.slice(0, MOST_QUESTIONS).map(question)),
    panel("May not belong here", inside.slice(0, MOST_QUESTIONS).map(question)),
    relations.length ? titledPanel("Relations", responsive((width) => neighbourGraph(entity, width))) : null,
    panel("", statements.map(relationItem)),
    panel(
      "Mentions",
      byDocument.map(([document, some]) =>
        el("li", {}, el("b", {}, document), ": ", some.map((one) => `“${one.text}” (sentence ${one.sentence + 1})`).join(", ")),
      ),
    ),
  ].filter((node) => node !== null);
}

/** @param {string} title @param {HTMLElement[]} items */
const panel = (title, items) =>
  items.length
    ? el("section", { class: "panel" }, title ? el("h2", {}, title) : null, el("ul", { class: "fact-list" }, ...items))
    : null;

/** @param {any} relation */
const relationKey = ({ source, relation, target }) => JSON.stringify([source, relation, target]);

/** The same statement of one text, or of several. @param {any[]} same */
function relationItem(same) {
  const [{ source, source_name, target, target_name, relation }] = same;
  const documents = [...new Set(same.map(({ document }) => document))].filter(Boolean);
  return el(
    "li",
    {},
    el("a", { href: hrefFor("collection", { entity: source }) }, source_name),
    ` ${relation || "–"} `,
    el("a", { href: hrefFor("collection", { entity: target }) }, target_name),
    documents.length ? ` (${documents.join(", ")})` : "",
  );
}

/** A pair of names in two texts, which a person may judge. @param {any} pair */
function question(pair) {
  const status = el("span", { class: "quiet", role: "status" });
  const judge = (/** @type {number} */ same) => {
    const kept = labels().filter(([left, right]) => left !== pair.left || right !== pair.right);
    localStorage.setItem(LABELS_KEY, JSON.stringify([...kept, [pair.left, pair.right, same]]));
    replaceContent(status, `${plural(labels().length, "label")}. `, button("Download the labels", downloadLabels, { class: "link-button" }));
  };
  const reasons = [`probability ${probability(pair.probability)}`];
  if (pair.for) reasons.push(`for: ${pair.for}`);
  if (pair.against) reasons.push(`against: ${pair.against}`);
  return el(
    "li",
    { class: "question" },
    nameIn(pair.left_entity, pair.left_name, pair.left),
    " and ",
    nameIn(pair.right_entity, pair.right_name, pair.right),
    el("span", { class: "quiet" }, `: ${reasons.join("; ")}`),
    el("span", { class: "tools" }, button("Same", () => judge(1)), button("Different", () => judge(0)), status),
  );
}

/** @param {string} entity @param {string} name @param {string} record a text and an entity of it */
const nameIn = (entity, name, record) =>
  el("span", {}, el("a", { href: hrefFor("collection", { entity }) }, name), ` (${record.replace(/:[^:]*$/, "")})`);

/** @returns {[string, string, number][]} */
const labels = () => JSON.parse(localStorage.getItem(LABELS_KEY) ?? "[]");

/** A file for partita build --labels. */
const downloadLabels = () => saveFile("labels.csv", [["left", "right", "same"], ...labels()]);
