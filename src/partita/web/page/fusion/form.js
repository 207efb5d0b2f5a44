/** The form for sources: runs of the store, files, pasted text, and known reliabilities. */

import { announce, button, el, labelled, replaceContent } from "../dom.js";
import { plural } from "../format.js";
import { VIEW_OF } from "../parts/uploads.js";
import { EXAMPLE, addFile, resetAnswer, selection, sourceNames } from "./input.js";

const HINT =
  "CSV or JSON Lines: claims with the columns object, source and a column for each attribute (or " +
  "attribute and value), or results of partita run. A file with the columns name and parent says " +
  "what contains what.";

/**
 * @param {import("../types.js").Run[]} runs
 * @param {() => void} onSubmit
 * @returns {{node: HTMLElement, refresh: () => void}} `refresh` redraws the reliabilities
 */
export function createForm(runs, onSubmit) {
  const reliabilityFields = el("div", { class: "rates" });
  const refresh = () => replaceContent(reliabilityFields, ...reliabilityInputs());
  const onChange = () => {
    resetAnswer();
    refresh();
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    onSubmit();
  };
  const field = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { rows: "7", spellcheck: "false", id: "claims" })
  );
  field.addEventListener("change", () => {
    selection.pasted = field.value;
    onChange();
  });
  const example = button("Use an example", () => {
    selection.runs.clear();
    selection.files = [];
    selection.pasted = EXAMPLE;
    onChange();
    draw();
    onSubmit();
  });
  const start = el("button", { type: "submit", class: "main-button" }, "Fuse");
  const tools = el("div", { class: "tools" }, start, example);
  const runList = el("div", { class: "runs-box" });
  const files = fileField(refresh);
  const draw = () => {
    replaceContent(runList, runChoices(runs, onChange));
    files.draw();
    field.value = selection.pasted;
  };
  const node = el(
    "form",
    { class: "panel fuse-form", "aria-label": "Sources", on: { submit } },
    el("h1", {}, "Fuse sources"),
    runList,
    files.node,
    labelled("Or paste CSV or JSONL", field),
    el("p", { class: "quiet" }, HINT),
    tools,
    reliabilityFields,
  );
  draw();
  refresh();
  return { node, refresh };
}

/** @param {import("../types.js").Run[]} runs @param {() => void} onChange */
function runChoices(runs, onChange) {
  const texts = runs.filter(({ domain }) => !VIEW_OF[domain]);
  const rows = texts.map(({ name }) => runChoice(name, onChange));
  const empty = el("p", { class: "quiet" }, "There are no texts yet.");
  const title = el("legend", { class: "field-name" }, "What texts say");
  return el("fieldset", { class: "checks" }, title, ...(rows.length ? rows : [empty]));
}

/** @param {string} name @param {() => void} onChange */
function runChoice(name, onChange) {
  const checkbox = /** @type {HTMLInputElement} */ (
    el("input", { type: "checkbox", value: name, checked: selection.runs.has(name) })
  );
  checkbox.addEventListener("change", () => {
    if (checkbox.checked) selection.runs.add(name);
    else selection.runs.delete(name);
    onChange();
  });
  return el("label", { class: "check" }, checkbox, el("span", {}, name));
}

/** @param {() => void} refresh */
function fileField(refresh) {
  const list = el("ul", { class: "files" });
  const status = el("p", { class: "bad", role: "alert", hidden: true });
  const fileInput = /** @type {HTMLInputElement} */ (
    el("input", { type: "file", id: "files", multiple: true, accept: ".csv,.tsv,.txt,.jsonl" })
  );
  const draw = () => {
    replaceContent(list, ...selection.files.map((file) => fileRow(file.name, draw)));
    refresh();
  };
  fileInput.addEventListener("change", async () => {
    const problem = await addFiles([...(fileInput.files ?? [])]);
    fileInput.value = "";
    status.hidden = !problem;
    replaceContent(status, problem);
    draw();
  });
  return {
    node: el("div", { class: "file-box" }, labelled("Files", fileInput), list, status),
    draw,
  };
}

/** Add files; return the problem of the last one that could not be read. @param {File[]} files */
async function addFiles(files) {
  let problem = "";
  for (const file of files) await addFile(file).catch((error) => (problem = error.message));
  announce(`${plural(selection.files.length, "file")} added`);
  return problem;
}

/** @param {string} name @param {() => void} draw */
function fileRow(name, draw) {
  const remove = () => {
    selection.files = selection.files.filter((file) => file.name !== name);
    resetAnswer();
    draw();
  };
  return el(
    "li",
    {},
    el("span", {}, name),
    button("Remove", remove, { "aria-label": `Remove ${name}` }),
  );
}

/** A field for each known source; an empty one is estimated. */
function reliabilityInputs() {
  const names = sourceNames();
  if (!names.length) return [];
  const title = el("legend", { class: "field-name" }, "Known reliabilities (0 to 1)");
  return [el("fieldset", { class: "checks" }, title, ...names.map(reliabilityInput))];
}

/** @param {string} name */
function reliabilityInput(name) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", { type: "number", min: "0", max: "1", step: "any", placeholder: "estimated" })
  );
  field.value = selection.reliabilities.get(name) ?? "";
  field.setAttribute("aria-label", `Reliability of ${name}`);
  field.addEventListener("change", () => {
    if (field.value.trim()) selection.reliabilities.set(name, field.value);
    else selection.reliabilities.delete(name);
  });
  return el("div", { class: "rate" }, el("span", { "aria-hidden": "true" }, name), field);
}
