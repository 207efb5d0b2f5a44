/** The Add data view: texts and tables become runs of the store, which can be deleted here. */

import * as api from "../api.js";
import { announce, button, el, labelled, replaceContent, select } from "../dom.js";
import { count, plural } from "../format.js";
import { errorPanel } from "../parts/panels.js";
import { VIEW_OF, kindOf, readFile } from "../parts/uploads.js";
import { hrefFor, navigate } from "../router.js";
import { refreshRuns, runText } from "../run_menu.js";
import { SAMPLES } from "../samples.js";

/** @typedef {import("../parts/uploads.js").Upload} Upload */
/** @typedef {{domain: string, largest: number, store: string, request: AbortController}} AddView */

/** @type {[string, string][]} */
const KINDS = [
  ["text", "text"],
  ["records", "table of records"],
  ["scores", "pair scores"],
  ["clusters", "clusters"],
  ["claims", "claims of sources"],
];

/** @param {HTMLElement} root */
export async function show(root) {
  const { domains, about, store, largest } = await api.domains();
  /** @type {AddView} */
  const view = { domain: "general", largest, store, request: new AbortController() };
  const status = el("div", { class: "adding", "aria-live": "polite" });
  const stored = el("section", { class: "panel", "aria-label": "Stored runs" });
  const add = (/** @type {Upload[]} */ uploads) => addAll(view, uploads, status);
  replaceContent(root, form(view, domains, about, status, add), status, stored);
  await drawStored(stored, store);
  return { close: () => view.request.abort() };
}

/**
 * @param {AddView} view
 * @param {string[]} domains
 * @param {Record<string, string>} about
 * @param {HTMLElement} status
 * @param {(uploads: Upload[]) => void} add
 */
function form(view, domains, about, status, add) {
  const field = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { rows: "6", spellcheck: "false", id: "pasted" })
  );
  const covers = el("p", { class: "quiet" }, about[view.domain] ?? "");
  const domainMenu = select(
    domains.map((name) => [name, name]),
    view.domain,
    (name) => {
      view.domain = name;
      covers.textContent = about[name] ?? "";
    },
    { id: "domain" },
  );
  const choose = (/** @type {FileList|File[]} */ files) => chooseFiles(view, [...files], status, add);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!field.value.trim())
      return replaceContent(status, el("p", { class: "notice" }, "Choose a file or paste a text first."));
    return add([{ name: "pasted", content: field.value, kind: kindOf("pasted", field.value) }]);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  const samples = Object.entries(SAMPLES)
    .filter(([, { domain }]) => !domain || domains.includes(domain))
    .map(([name, { text, kind, domain }]) =>
      button(name, () => {
        domainMenu.value = view.domain = domain || view.domain;
        add([{ name, content: text, kind }]);
      }),
    );
  return el(
    "form",
    { class: "panel", on: { submit } },
    el("h1", {}, "Add data"),
    dropZone(choose),
    labelled("Or paste a text or a table", field),
    el(
      "div",
      { class: "tools" },
      el("button", { type: "submit", class: "main-button" }, "Add"),
      el(
        "details",
        {},
        el("summary", {}, "Texts of a special domain"),
        labelled("Domain", domainMenu),
        covers,
      ),
    ),
    el("p", { class: "quiet kept" }, keptText(view)),
    el("div", { class: "samples" }, el("span", { class: "quiet" }, "Or try an example:"), ...samples),
  );
}

/** What is taken, and what is kept where. @param {AddView} view */
const keptText = ({ largest, store }) =>
  `Texts, CSV and JSON Lines of up to ${Math.floor(largest / 1e6)} MB each. What you add is kept in ` +
  `${store} on the machine that runs Partita, until you delete it below. Nothing is sent elsewhere.`;

/** @param {(files: FileList) => void} choose */
function dropZone(choose) {
  const input = /** @type {HTMLInputElement} */ (
    el("input", { type: "file", id: "files", multiple: true })
  );
  input.addEventListener("change", () => input.files && choose(input.files));
  const zone = el(
    "div",
    { class: "drop-zone" },
    labelled("Drop texts or tables here, or choose files", input),
  );
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer) choose(event.dataTransfer.files);
  });
  return zone;
}

/**
 * Read files and say what they seem to be; the kind can be changed before they are added.
 * @param {AddView} view
 * @param {File[]} files
 * @param {HTMLElement} status
 * @param {(uploads: Upload[]) => void} add
 */
async function chooseFiles(view, files, status, add) {
  const [uploads, problems] = [/** @type {Upload[]} */ ([]), /** @type {string[]} */ ([])];
  for (const file of files)
    await readFile(file, view.largest).then(
      (upload) => uploads.push(upload),
      (error) => problems.push(error.message),
    );
  const rows = uploads.map((upload) =>
    el("li", {}, labelled(upload.name, select(KINDS, upload.kind, (kind) => (upload.kind = kind)))),
  );
  const start = button(`Add ${plural(uploads.length, "file")}`, () => add(uploads), { class: "main-button" });
  replaceContent(
    status,
    el(
      "section",
      { class: "panel", "aria-label": "Chosen files" },
      ...problems.map((problem) => el("p", { class: "bad", role: "alert" }, problem)),
      uploads.length ? el("p", {}, "What each file seems to be; change it if that is wrong.") : null,
      el("ul", { class: "files" }, ...rows),
      uploads.length ? start : null,
    ),
  );
  start.focus();
}

/** Add everything as runs, then show the first. @param {AddView} view @param {Upload[]} uploads @param {HTMLElement} status */
async function addAll(view, uploads, status) {
  view.request.abort();
  const request = (view.request = new AbortController());
  const progress = progressPanel(request, status, uploads.length);
  let [done, current] = [0, ""];
  try {
    const taken = new Set((await api.runs()).map(({ name }) => name));
    const runs = grouped(uploads, taken);
    for (const { run, kind, members } of runs) {
      current = run;
      if (kind !== "text") await api.addTables(run, kind, members, request.signal);
      else
        for (const { name, content } of members) {
          await api.addMessage(run, name, content, view.domain, request.signal);
          progress.step((done += 1));
        }
    }
    await refreshRuns();
    announce("Added");
    navigate(VIEW_OF[runs[0].kind], { run: runs[0].run, message: "", set: "" });
  } catch (error) {
    if (current && !done) await api.deleteRun(current).catch(() => {}); // nothing is in it
    if (!request.signal.aborted)
      replaceContent(
        status,
        errorPanel("The data could not be added", error, () => addAll(view, uploads, status)),
      );
  }
  progress.stop();
}

/**
 * Texts that are added together are one run; so are tables of records.
 * @param {Upload[]} uploads
 * @param {Set<string>} taken names of runs
 */
function grouped(uploads, taken) {
  const together = ["text", "records"];
  const runs = Map.groupBy(uploads, (upload) => (together.includes(upload.kind) ? upload.kind : upload));
  return [...runs.values()].map((members) => {
    const [{ name, kind }] = members;
    return { run: freeName(name, taken), kind, members };
  });
}

/** A name that no run has. @param {string} file @param {Set<string>} taken */
function freeName(file, taken) {
  const plain = file.replace(/\.\w+$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "data";
  let [name, n] = [plain, 1];
  while (taken.has(name)) name = `${plain}-${(n += 1)}`;
  taken.add(name);
  return name;
}

/** @param {AbortController} request @param {HTMLElement} status @param {number} total */
function progressPanel(request, status, total) {
  const started = performance.now();
  const line = el("p", { class: "quiet" }, "Working…");
  const bar = el("progress", { "aria-label": "Progress", max: total });
  let done = 0;
  const tick = () => {
    const seconds = plural(Math.round((performance.now() - started) / 1000), "second");
    line.textContent = total > 1 ? `${count(done)} of ${plural(total, "file")}, ${seconds}` : `Working… ${seconds}`;
  };
  const timer = setInterval(tick, 1000);
  const cancel = button("Cancel", () => {
    clearInterval(timer);
    request.abort();
    replaceContent(status, el("p", { class: "quiet" }, "Cancelled. What was finished is kept."));
    announce("Cancelled");
  });
  replaceContent(status, el("div", { class: "panel working" }, line, bar, cancel));
  return {
    step: (/** @type {number} */ n) => {
      bar.setAttribute("value", String((done = n)));
      tick();
    },
    stop: () => clearInterval(timer),
  };
}

/** The runs of the store, each with a button that deletes it. @param {HTMLElement} panel @param {string} store */
async function drawStored(panel, store) {
  const runs = await refreshRuns();
  const rows = runs.map((run) => {
    const href = hrefFor(VIEW_OF[run.domain] ?? "read", { run: run.name, message: "", set: "" });
    const remove = button("Delete", () => replaceContent(tools, sure, keep), {
      class: "link-button",
      "aria-label": `Delete ${run.name}`,
    });
    const keep = button("Keep", () => replaceContent(tools, remove), { class: "link-button" });
    const sure = button(`Delete ${run.name} for good`, async () => {
      await api.deleteRun(run.name);
      await drawStored(panel, store);
      announce(`${run.name} deleted`);
    });
    const tools = el("span", { class: "links" }, remove);
    return el("li", {}, el("a", { href }, runText(run)), " ", tools);
  });
  const empty = el("p", { class: "quiet" }, "Nothing yet: add a file, or try an example.");
  replaceContent(
    panel,
    el("h2", {}, `Kept in ${store}`),
    rows.length ? el("ul", { class: "stored-runs" }, ...rows.reverse()) : empty,
  );
}
