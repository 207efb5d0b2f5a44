/** The menu of runs in the header; the choice is kept for the next visit. */

import { runs } from "./api.js";
import { el, replaceContent, select } from "./dom.js";
import { plural, shortTime } from "./format.js";
import { VIEW_OF } from "./parts/uploads.js";
import { currentRoute, navigate } from "./router.js";

const LAST_RUN_KEY = "partita.run";
const menuLabel = el("label", { class: "field" });
/** @type {import("./types.js").Run[]} */
let runList = [];

/** The element for the header. */
export const runMenu = () => menuLabel;

/** Load the list of runs again and redraw the menu. */
export async function refreshRuns() {
  runList = await runs();
  drawMenu(currentRoute().run);
  return runList;
}

/** The domain of a run, or the kind of its tables. @param {string} name */
export const domainOf = (name) => runList.find((run) => run.name === name)?.domain ?? "";

/** The runs that may be compared with a run. @param {string} name */
export const runsLike = (name) => runList.filter((run) => run.name !== name && run.domain === domainOf(name));

/** Whether a run has several texts, whose entities may be the same. @param {string} name */
export const hasSeveral = (name) => (runList.find((run) => run.name === name)?.messages ?? 0) > 1 && !VIEW_OF[domainOf(name)];

/** @param {string} name */
const exists = (name) => runList.some((run) => run.name === name);

/**
 * Return the run of a route, else that of the last visit, else the newest; "" if there are none.
 * @param {import("./router.js").Route} route
 */
export async function resolveRun(route) {
  if (!runList.length || (route.run && !exists(route.run))) runList = await runs();
  const last = localStorage.getItem(LAST_RUN_KEY) ?? "";
  const run = route.run || (exists(last) ? last : (runList[runList.length - 1]?.name ?? ""));
  if (exists(run)) localStorage.setItem(LAST_RUN_KEY, run);
  drawMenu(run);
  return run;
}

const MADE_UP = /^[\w-]+-[0-9a-f]{8}$/; // a name that nobody chose: domain, model, hash

/** A run in words: where it comes from, and what it holds. @param {import("./types.js").Run} run */
export function runText({ name, parent, domain, messages, started }) {
  const holds = VIEW_OF[domain] ? domain : `${domain}, ${plural(messages, "text")}`;
  const chosen = (/** @type {string} */ run) => (MADE_UP.test(run) ? "" : run);
  if (parent) return `${[chosen(parent), "trained"].filter(Boolean).join(", ")} (${name}): ${holds}`;
  return chosen(name) ? `${name}: ${holds}` : `${holds}, ${shortTime(started)}`;
}

/** @param {string} run */
function drawMenu(run) {
  const options = runList.map((item) => /** @type {[string, string]} */ ([item.name, runText(item)]));
  const menu = select(options, run, chooseRun, { id: "run", disabled: !runList.length });
  replaceContent(menuLabel, el("span", { class: "field-name" }, "Run"), menu);
}

/** @param {string} run */
function chooseRun(run) {
  const { view } = currentRoute();
  const target = VIEW_OF[domainOf(run)] ?? (["records", "fuse", "add"].includes(view) ? "read" : view);
  navigate(target, { run, message: "", set: "" });
}
