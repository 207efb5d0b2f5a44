/** The page: the header, and one view at a time as the address says. */

import { address, here } from "./place.js";
import { chooser, runOf } from "./chooser.js";
import { el, fill, refill, say } from "./dom.js";
import { takeToken } from "./token.js";
import { trouble } from "./parts/trouble.js";
import * as entities from "./views/entities.js";
import * as fuse from "./views/fuse.js";
import * as key from "./views/key.js";
import * as next from "./views/next.js";
import * as read from "./views/read.js";
import * as attempt from "./views/try.js";
import * as why from "./views/why.js";

/** @typedef {{update?: (place: import("./place.js").Place) => boolean, close?: () => void}} Open */

/** @typedef {{show: (root: HTMLElement, place: any) => Promise<Open>}} View */

/** @type {[string, string, View][]} */
const VIEWS = [
  ["read", "Read", read],
  ["why", "Why", why],
  ["key", "Key", key],
  ["next", "Next", next],
  ["entities", "Entities", entities],
  ["fuse", "Fuse", fuse],
  ["try", "Try", attempt],
];

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {{view: string, run: string, open: Open}} */
let current = { view: "", run: "", open: {} };
let turn = 0;

/** Show what the address says; an answer that comes too late is dropped. */
async function show() {
  const mine = (turn += 1);
  const place = here();
  const [view, title, room] = VIEWS.find(([name]) => name === place.view) ?? VIEWS[0];
  navigation(view, place.run);
  try {
    place.run = await runOf(place);
    if (mine !== turn) return;
    navigation(view, place.run);
    if (current.view === view && current.run === place.run && current.open.update?.(place)) return;
    await enter(mine, view, title, room, place);
  } catch (error) {
    if (mine === turn) refill(main, trouble(error, show));
  }
  main.removeAttribute("aria-busy");
}

/**
 * Leave the view that is open and open another.
 * @param {number} mine
 * @param {string} view
 * @param {string} title
 * @param {View} room
 * @param {import("./place.js").Place} place
 */
async function enter(mine, view, title, room, place) {
  current.open.close?.();
  current = { view: "", run: "", open: {} };
  main.setAttribute("aria-busy", "true");
  document.title = `${title} · Partita`;
  const root = el("div", { class: `view view-${view}` });
  const open = await room.show(root, place);
  if (mine !== turn) return open.close?.();
  current = { view, run: place.run, open };
  refill(main, root);
  say(title);
}

/** @param {string} view @param {string} run */
function navigation(view, run) {
  const links = VIEWS.map(([name, title]) => {
    const now = name === view ? "page" : undefined;
    return el("li", {}, el("a", { href: address(name, { run }), "aria-current": now }, title));
  });
  refill(/** @type {HTMLElement} */ (document.getElementById("views")), ...links);
}

/** The skip link moves the focus and leaves the address alone. @param {Event} event */
function skip(event) {
  event.preventDefault();
  main.focus();
}

takeToken();
document.querySelector(".skip")?.addEventListener("click", skip);
fill(/** @type {HTMLElement} */ (document.getElementById("chooser")), chooser());
addEventListener("hashchange", show);
show();
