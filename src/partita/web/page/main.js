/** The page: the header, and one view at a time, chosen by the address. */

import { domains, takeTokenFromAddress } from "./api.js";
import { announce, append, el, replaceContent } from "./dom.js";
import { errorPanel } from "./parts/panels.js";
import { VIEW_OF } from "./parts/uploads.js";
import { currentRoute, hrefFor, navigate } from "./router.js";
import { domainOf, hasSeveral, resolveRun, runMenu } from "./run_menu.js";
import * as add from "./views/add.js";
import * as collection from "./views/collection.js";
import * as entities from "./views/entities.js";
import * as fuse from "./views/fuse.js";
import * as key from "./views/key.js";
import * as next from "./views/next.js";
import * as read from "./views/read.js";
import * as records from "./views/records.js";
import * as why from "./views/why.js";

/** @typedef {import("./router.js").Route} Route */
/** @typedef {{update?: (route: Route) => boolean, close?: () => void}} OpenView */

/** @typedef {{show: (root: HTMLElement, route: any) => Promise<OpenView>}} View */

/** @type {[string, string, View][]} */
const VIEWS = [
  ["add", "Add", add],
  ["read", "Read", read],
  ["collection", "Collection", collection],
  ["entities", "Entities", entities],
  ["records", "Records", records],
  ["fuse", "Sources", fuse],
  ["next", "Label", next],
  ["why", "Why", why],
  ["key", "Label", key],
];
const NEEDS_TEXT = ["read", "entities", "next", "why", "key"];
const PART_OF = { why: "read", key: "next" }; // views that others lead to

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {{view: string, run: string, open: OpenView}} */
let current = { view: "", run: "", open: {} };
let latest = 0;

/** Show the view of the current address; outdated answers are dropped. */
async function showRoute() {
  const ticket = (latest += 1);
  const route = currentRoute();
  let [view, title, module] = VIEWS.find(([name]) => name === route.view) ?? VIEWS[1];
  drawNavigation(view, route.run);
  try {
    route.run = await resolveRun(route);
    route.domain = domainOf(route.run);
    if (ticket !== latest) return;
    if (!route.run && view === "read" && route.view !== "collection") [view, title, module] = VIEWS[0];
    if (NEEDS_TEXT.includes(view) && VIEW_OF[route.domain]) return navigate(VIEW_OF[route.domain]);
    drawNavigation(view, route.run);
    if (current.view === view && current.run === route.run && current.open.update?.(route)) return;
    await openView(ticket, view, title, module, route);
  } catch (error) {
    if (ticket === latest)
      replaceContent(main, errorPanel(`The view ${title} could not be loaded`, error, showRoute));
  }
  main.removeAttribute("aria-busy");
}

/**
 * Close the current view and open another.
 * @param {number} ticket
 * @param {string} view
 * @param {string} title
 * @param {View} module
 * @param {import("./router.js").Route} route
 */
async function openView(ticket, view, title, module, route) {
  current.open.close?.();
  current = { view: "", run: "", open: {} };
  main.setAttribute("aria-busy", "true");
  document.title = `${title} · Partita`;
  const root = el("div", { class: `view view-${view}` });
  const opened = await module.show(root, route);
  if (ticket !== latest) return opened.close?.();
  current = { view, run: route.run, open: opened };
  replaceContent(main, root);
  announce(title);
}

/** Whether the service shows a knowledge base. @type {Promise<boolean>|undefined} */
let known;

/** @param {string} view @param {string} run */
async function drawNavigation(view, run) {
  known ??= domains().then(({ knowledge_base }) => Boolean(knowledge_base));
  const collected = (await known.catch(() => ((known = undefined), false))) || hasSeveral(run);
  const shown = PART_OF[/** @type {keyof PART_OF} */ (view)] ?? view;
  const links = VIEWS.filter(([name]) => !(name in PART_OF) && (collected || name !== "collection")).map(([name, title]) => {
    const current = name === shown ? "page" : undefined;
    return el("li", {}, el("a", { href: hrefFor(name, { run }), "aria-current": current }, title));
  });
  replaceContent(/** @type {HTMLElement} */ (document.getElementById("views")), ...links);
}

/** Move the focus without changing the address. @param {Event} event */
function skipToMain(event) {
  event.preventDefault();
  main.focus();
}

takeTokenFromAddress();
document.querySelector(".skip")?.addEventListener("click", skipToMain);
append(/** @type {HTMLElement} */ (document.getElementById("run-menu")), runMenu());
addEventListener("hashchange", showRoute);
showRoute();
