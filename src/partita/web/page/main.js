/** The page: the header, and one view at a time, chosen by the address. */

import { takeTokenFromAddress } from "./api.js";
import { announce, append, el, replaceContent } from "./dom.js";
import { errorPanel } from "./parts/panels.js";
import { currentRoute, hrefFor } from "./router.js";
import { resolveRun, runMenu } from "./run_menu.js";
import * as entities from "./views/entities.js";
import * as fuse from "./views/fuse.js";
import * as key from "./views/key.js";
import * as next from "./views/next.js";
import * as read from "./views/read.js";
import * as records from "./views/records.js";
import * as tryView from "./views/try.js";
import * as why from "./views/why.js";

/** @typedef {import("./router.js").Route} Route */
/** @typedef {{update?: (route: Route) => boolean, close?: () => void}} OpenView */

/** @typedef {{show: (root: HTMLElement, route: any) => Promise<OpenView>}} View */

/** @type {[string, string, View][]} */
const VIEWS = [
  ["read", "Read", read],
  ["why", "Why", why],
  ["key", "Key", key],
  ["next", "Next", next],
  ["entities", "Entities", entities],
  ["records", "Records", records],
  ["fuse", "Fuse", fuse],
  ["try", "Try", tryView],
];

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {{view: string, run: string, open: OpenView}} */
let current = { view: "", run: "", open: {} };
let latest = 0;

/** Show the view of the current address; outdated answers are dropped. */
async function showRoute() {
  const ticket = (latest += 1);
  const route = currentRoute();
  const [view, title, module] = VIEWS.find(([name]) => name === route.view) ?? VIEWS[0];
  drawNavigation(view, route.run);
  try {
    route.run = await resolveRun(route);
    if (ticket !== latest) return;
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

/** @param {string} view @param {string} run */
function drawNavigation(view, run) {
  const links = VIEWS.map(([name, title]) => {
    const current = name === view ? "page" : undefined;
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
