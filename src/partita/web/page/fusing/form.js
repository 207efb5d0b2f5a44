/** Where sources are chosen: runs of the store, files, pasted lines, and how reliable each is. */

import { button, el, fill, labelled, refill, say } from "../dom.js";
import { plural } from "../numbers.js";
import { add, asked, changed, EXAMPLE, sourceNames } from "./asked.js";

const HINT =
  "CSV or JSONL: claims (object, source, value), records with a column for every slot, judgements, " +
  "results of partita run; beside claims a hierarchy of values (name, parent).";

/**
 * @param {import("../types.js").Run[]} runs
 * @param {() => void} go
 * @returns {{node: HTMLElement, renew: () => void}} `renew` shows the sources that have spoken
 */
export function form(runs, go) {
  const rates = el("div", { class: "rates" });
  const renew = () => refill(rates, ...reliabilities());
  const other = () => {
    changed();
    renew();
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    go();
  };
  const field = pasteField(other);
  const example = button("An example", () => {
    asked.runs.clear();
    asked.files = [];
    asked.pasted = EXAMPLE;
    other();
    node.dispatchEvent(new Event("example"));
    go();
  });
  const tools = el("div", { class: "tools" }, mainButton(), example);
  const box = el("div", { class: "runs-box" });
  const files = fileBox(renew);
  const draw = () => {
    refill(box, runBoxes(runs, other));
    files.draw();
    field.value = asked.pasted;
  };
  const node = el("form", { class: "panel fuse-form", "aria-label": "Sources", on: { submit } });
  node.addEventListener("example", draw);
  fill(node, el("h1", {}, "Fuse sources"), box, files.node, labelled("Or paste lines", field));
  fill(node, el("p", { class: "quiet" }, HINT), tools, rates);
  draw();
  renew();
  return { node, renew };
}

const mainButton = () => el("button", { type: "submit", class: "main-button" }, "Fuse");

/** @param {() => void} other */
function pasteField(other) {
  const typed = () => {
    asked.pasted = field.value;
    other();
  };
  const field = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { rows: "7", spellcheck: "false", id: "claims", on: { change: typed } })
  );
  return field;
}

/** @param {import("../types.js").Run[]} runs @param {() => void} other */
function runBoxes(runs, other) {
  const rows = runs.map(({ name }) => runBox(name, other));
  const none = el("p", { class: "quiet" }, "There is no run yet.");
  const title = el("legend", { class: "field-name" }, "Runs of the store");
  return el("fieldset", { class: "checks" }, title, ...(rows.length ? rows : [none]));
}

/** @param {string} name @param {() => void} other */
function runBox(name, other) {
  const box = /** @type {HTMLInputElement} */ (
    el("input", { type: "checkbox", value: name, checked: asked.runs.has(name) })
  );
  box.addEventListener("change", () => {
    if (box.checked) asked.runs.add(name);
    else asked.runs.delete(name);
    other();
  });
  return el("label", { class: "check" }, box, el("span", {}, name));
}

/** @param {() => void} renew */
function fileBox(renew) {
  const list = el("ul", { class: "files" });
  const status = el("p", { class: "bad", role: "alert", hidden: true });
  const input = /** @type {HTMLInputElement} */ (
    el("input", { type: "file", id: "files", multiple: true, accept: ".csv,.tsv,.txt,.jsonl" })
  );
  const draw = () => {
    refill(list, ...asked.files.map((one) => fileRow(one.name, draw)));
    renew();
  };
  input.addEventListener("change", async () => {
    const problem = await addAll([...(input.files ?? [])]);
    input.value = "";
    status.hidden = !problem;
    refill(status, problem);
    draw();
  });
  return { node: el("div", { class: "file-box" }, labelled("Files", input), list, status), draw };
}

/** What went wrong with the last that could not be read. @param {File[]} chosen */
async function addAll(chosen) {
  let problem = "";
  for (const file of chosen) await add(file).catch((error) => (problem = error.message));
  say(`${plural(asked.files.length, "file")} chosen`);
  return problem;
}

/** @param {string} name @param {() => void} draw */
function fileRow(name, draw) {
  const leave = () => {
    asked.files = asked.files.filter((one) => one.name !== name);
    changed();
    draw();
  };
  return el("li", {}, el("span", {}, name), button("Remove", leave, { "aria-label": `Remove ${name}` }));
}

/** A field for each source that is known; empty is learned. */
function reliabilities() {
  const names = sourceNames();
  if (!names.length) return [];
  const title = el("legend", { class: "field-name" }, "Reliability, where you know it (0 to 1)");
  return [el("fieldset", { class: "checks" }, title, ...names.map(reliability))];
}

/** @param {string} name */
function reliability(name) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "number", min: "0", max: "1", step: "any", placeholder: "learned" })
  );
  field.value = asked.given.get(name) ?? "";
  field.setAttribute("aria-label", `Reliability of ${name}`);
  field.addEventListener("change", () => {
    if (field.value.trim()) asked.given.set(name, field.value);
    else asked.given.delete(name);
  });
  return el("div", { class: "rate" }, el("span", { "aria-hidden": "true" }, name), field);
}
