/** The Records view: clusters of records by pair scores, reviewed by questions. */

import * as api from "../api.js";
import { clusterGraph } from "../charts/graph.js";
import { responsive } from "../charts/svg.js";
import { announce, append, bar, button, el, labelled, replaceContent, saveFile } from "../dom.js";
import { bits, count, plural, probability } from "../format.js";
import { divisions, recordColours } from "../parts/divisions.js";
import { errorPanel, titledPanel } from "../parts/panels.js";
import { hrefFor } from "../router.js";
import { SAMPLES } from "../samples.js";

/** @typedef {import("../types.js").ReviewSets} ReviewSets */
/** @typedef {import("../types.js").ReviewSet} ReviewSet */
/** @typedef {import("../types.js").Question} Question */
/** @typedef {[string, string, boolean]} Label */
/**
 * @typedef {object} Review what is reviewed; it stays while other views are open
 * @property {string} run of the store, if the tables are from there
 * @property {{name: string, content: string}[]} records tables to link
 * @property {{name: string, content: string}|null} scores the file of scores
 * @property {{name: string, content: string}|null} clusters the file of clusters, if any
 * @property {Label[]} labels
 * @property {Set<string>} unsure questions that were left open
 * @property {ReviewSets|null} answer
 * @property {number} chosen the index of the set shown
 * @property {number} shown how many sets the list shows
 * @property {number} division the index of the division shown; 0 is the clusters as they are
 */

const PAGE_SIZE = 15;

/** @type {Review} */
const review = {
  ...{ run: "", records: [], scores: null, clusters: null, labels: [], unsure: new Set() },
  ...{ answer: null, chosen: 0, division: 0, shown: PAGE_SIZE },
};

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, { run, domain }) {
  const body = el("div", { class: "column" });
  const draw = () => drawReview(body, judge, undo);
  const load = () => loadAnswer(body, draw);
  const undo = () => {
    review.labels.pop();
    localStorage.setItem(labelKey(), JSON.stringify(review.labels));
    load();
  };
  const judge = (/** @type {boolean|null} */ same) => judgeQuestion(same, load, draw);
  const onKey = (/** @type {KeyboardEvent} */ event) => onShortcut(event, judge);
  document.addEventListener("keydown", onKey);
  replaceContent(root, form(load), body);
  if (["records", "scores", "clusters"].includes(domain) && review.run !== run) {
    const found = await api.tables(run);
    const [first] = found;
    openFiles({ scores: null, clusters: null, records: [], run, [domain]: domain === "records" ? found : first }, load);
  } else if (review.answer) draw();
  return { close: () => document.removeEventListener("keydown", onKey) };
}

/** Review other files. @param {Partial<Review>} files @param {() => void} load */
function openFiles(files, load) {
  Object.assign(review, files, { chosen: 0, division: 0, shown: PAGE_SIZE, unsure: new Set() });
  review.labels = storedLabels();
  load();
}

/** @param {() => void} load */
function form(load) {
  const open = (/** @type {Partial<Review>} */ files) => openFiles({ ...files, records: [], run: "" }, load);
  const example = { name: "people.csv", content: SAMPLES["Pair scores"].text };
  return el(
    "section",
    { class: "panel" },
    el("h1", {}, "Review clusters of records"),
    el(
      "p",
      { class: "quiet" },
      "Choose records or pair scores that you ",
      el("a", { href: hrefFor("add") }, "added"),
      " in the menu above, or open files of scores (as Splink writes them), of clusters, or both; these are not stored.",
    ),
    el(
      "div",
      { class: "tools" },
      fileField("Scores", "scores", (scores) => open({ scores })),
      fileField("Clusters", "clusters", (clusters) => open({ clusters })),
      button("Use an example", () => open({ scores: example, clusters: null })),
    ),
  );
}

/**
 * @param {string} name
 * @param {string} id
 * @param {(file: {name: string, content: string}) => void} open
 */
function fileField(name, id, open) {
  const onFile = async (/** @type {any} */ event) => {
    const [file] = event.target.files;
    if (file) open({ name: file.name, content: await file.text() });
  };
  const accept = ".csv,.jsonl,.tsv";
  return labelled(name, el("input", { type: "file", id, accept, on: { change: onFile } }));
}

const labelKey = () =>
  `partita.labels\n${review.run}\n${review.scores?.name}\n${review.scores?.content.length}`;

/** The labels of an earlier visit. @returns {Label[]} */
function storedLabels() {
  try {
    return JSON.parse(localStorage.getItem(labelKey()) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {HTMLElement} body @param {() => void} draw */
async function loadAnswer(body, draw) {
  body.setAttribute("aria-busy", "true");
  const { scores, clusters, records, labels } = review;
  try {
    const judged = scores || records.length ? labels : [];
    review.answer = await api.cluster({ scores, clusters, records, labels: judged });
    review.chosen = Math.min(review.chosen, Math.max(0, review.answer.sets.length - 1));
    draw();
  } catch (error) {
    replaceContent(
      body,
      errorPanel("The records could not be clustered", error, () => loadAnswer(body, draw)),
    );
  }
  body.removeAttribute("aria-busy");
}

/** The set shown. */
const shownSet = () => review.answer?.sets[review.chosen];

/** A record of the set shown: its values if they are known, else its id. @param {any} id */
const recordText = (id) => shownSet()?.records.find(({ record }) => record === id)?.shown || String(id);

/** @param {Question} question */
const questionKey = ({ left, right }) => JSON.stringify([String(left), String(right)]);

/** The next question of the set shown that is open. */
const openQuestion = () =>
  shownSet()?.questions.find((question) => !review.unsure.has(questionKey(question)));

/**
 * @param {HTMLElement} body
 * @param {(same: boolean|null) => void} judge
 * @param {() => void} undo removes the last label
 */
function drawReview(body, judge, undo) {
  const set = shownSet();
  if (!review.answer || !set) {
    const none = "No two records may be the same.";
    replaceContent(body, el("p", { class: "notice" }, review.answer ? none : ""));
    return;
  }
  const redraw = () => drawReview(body, judge, undo);
  replaceContent(
    body,
    summaryPanel(review.answer, undo),
    el(
      "div",
      { class: "review" },
      setList(review.answer, redraw),
      review.scores || review.records.length
        ? el("div", { class: "column" }, questionPanel(judge), graphPanel(set), divisionPanel(set, redraw))
        : memberPanel(set),
    ),
  );
}

/** @param {ReviewSets} answer @param {() => void} undo */
function summaryPanel(answer, undo) {
  const labels = plural(review.labels.length, "label");
  return el(
    "section",
    { class: "panel", "aria-label": "Summary" },
    el("p", { class: "cluster-summary" }, summaryText(answer)),
    (review.scores || review.records.length > 0) &&
      el(
        "p",
        { class: "links" },
        el("span", { class: "label-count" }, `${labels}; labelled pairs are kept as they are, and calibrate the others.`),
        button("Download the clusters", () => saveFile("clusters.csv", clusterRows(answer)), { class: "link-button" }),
        ...(review.labels.length ? labelButtons(undo) : []),
      ),
  );
}

/** @param {() => void} undo */
const labelButtons = (undo) => [
  button("Download the labels", downloadLabels, { class: "link-button" }),
  button("Remove the last label", undo, { class: "link-button" }),
];

/** @param {ReviewSets} answer */
function summaryText({ summary, total }) {
  const share = (/** @type {any} */ { value, low, high }) =>
    `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
  const size =
    `${plural(summary.records, "record")} in ${plural(summary.clusters, "cluster")}, ` +
    `${count(total)} with several records`;
  const expected =
    summary.precision &&
    `expected precision ${share(summary.precision)}, recall of the compared pairs ${share(summary.recall)}`;
  const differing =
    summary.differing_sets !== undefined &&
    `${plural(summary.differing_sets, "set")} where ${review.clusters?.name} disagrees`;
  return `${[size, expected, differing].filter(Boolean).join("; ")}.`;
}

/** All clusters as partita cluster writes them. @param {ReviewSets} answer */
const clusterRows = ({ clusters = [] }) => [["record", "cluster", "membership", "exact"], ...clusters];

const downloadLabels = () =>
  saveFile("labels.csv", [
    ["left", "right", "same"],
    ...review.labels.map(([left, right, same]) => [left, right, same ? 1 : 0]),
  ]);

/** @param {ReviewSets} answer @param {() => void} redraw */
function setList({ sets }, redraw) {
  const highest = Math.max(...sets.map((set) => set.bits), 1e-9);
  const last = Math.max(review.shown, review.chosen + 1);
  const rows = sets.slice(0, last).map((set, n) => {
    const names = set.records.slice(0, 4).map(({ record, shown }) => shown || record);
    const open = () => {
      Object.assign(review, { chosen: n, division: 0 });
      redraw();
    };
    const attributes = { class: "set-button", "aria-pressed": String(n === review.chosen) };
    const row = append(button("", open, attributes), el("span", {}, names.join(" · ") + (set.records.length > 4 ? " · …" : "")));
    const { exact } = set.records[0];
    const [figure, length] = review.scores || review.records.length
      ? [bits(set.bits), set.bits / highest]
      : exact === undefined
        ? [plural(set.records.length, "record"), 0]
        : [`right ${probability(exact)}`, exact];
    const text = set.differs ? `${figure}, differs` : figure;
    const figures = el("span", { class: "number" }, text);
    return el("li", {}, row, el("span", { class: "figure-line" }, figures, bar(length)));
  });
  const more = () => {
    review.shown = last + PAGE_SIZE;
    redraw();
  };
  return titledPanel(
    "Most uncertain first",
    el("ol", { class: "next-rows" }, ...rows),
    last < sets.length && button(`Show more (${count(sets.length - last)})`, more),
  );
}

/** @param {(same: boolean|null) => void} judge */
function questionPanel(judge) {
  const question = openQuestion();
  const section = el("section", { class: "panel question", "aria-label": "Question" });
  if (!question) {
    replaceContent(section, el("p", {}, "Nothing more to ask about these records."));
    return section;
  }
  const { left, right, probability: p } = question;
  const [first, second] = [left, right].map(recordText);
  replaceContent(
    section,
    el("h2", {}, `Are “${first}” and “${second}” the same?`),
    el("p", { class: "quiet" }, `Probability ${probability(p)}; an answer is worth ${bits(question.bits)}.`),
    el(
      "div",
      { class: "tools" },
      button("Same (S)", () => judge(true), { class: "main-button", "aria-keyshortcuts": "s" }),
      button("Different (D)", () => judge(false), { "aria-keyshortcuts": "d" }),
      button("Unsure (U)", () => judge(null), { "aria-keyshortcuts": "u" }),
    ),
  );
  return section;
}

/** @param {KeyboardEvent} event @param {(same: boolean|null) => void} judge */
function onShortcut(event, judge) {
  const typing = /** @type {Element} */ (event.target).matches("input, textarea, select");
  const answers = new Map([["s", true], ["d", false], ["u", null]]);
  const key = event.key.toLowerCase();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !answers.has(key)) return;
  event.preventDefault();
  judge(/** @type {boolean|null} */ (answers.get(key)));
}

/**
 * @param {boolean|null} same null is unsure
 * @param {() => void} load
 * @param {() => void} draw
 */
function judgeQuestion(same, load, draw) {
  const question = openQuestion();
  if (!question) return;
  if (same === null) {
    review.unsure.add(questionKey(question));
    if (!openQuestion() && review.answer && review.chosen < review.answer.sets.length - 1)
      review.chosen += 1;
    announce("Left open");
    draw();
    return;
  }
  review.labels.push([String(question.left), String(question.right), same]);
  localStorage.setItem(labelKey(), JSON.stringify(review.labels));
  review.division = 0;
  announce(same ? "Same" : "Different");
  load();
}

/** The records of a cluster without scores. @param {ReviewSet} set */
function memberPanel({ records }) {
  const rows = records.map(({ record, membership }) =>
    el(
      "li",
      { class: "trust-row" },
      el("span", {}, String(record)),
      membership === undefined ? null : el("span", { class: "number" }, probability(membership)),
      membership === undefined ? null : bar(membership),
    ),
  );
  const hint = "Open the scores too: then each pair has a probability, and you can answer questions.";
  const bars = "On each bar: how probably the record belongs to the others.";
  return titledPanel(
    plural(records.length, "record"),
    records[0].membership !== undefined && el("p", { class: "quiet" }, bars),
    el("ul", { class: "next-rows" }, ...rows),
    el("p", { class: "quiet" }, hint),
  );
}

/** @param {ReviewSet} set */
function graphPanel(set) {
  const shown = divisions(set, recordText, review.clusters?.name)[review.division];
  const colours = recordColours(shown.clusterOf);
  const hint = "One colour is one cluster. On each line: the score → the probability overall.";
  return titledPanel(
    "Scores and probabilities",
    el("p", { class: "quiet" }, hint),
    responsive((width) => clusterGraph(set, recordText, colours, width)),
  );
}

/** @param {ReviewSet} set @param {() => void} redraw */
function divisionPanel(set, redraw) {
  const rows = divisions(set, recordText, review.clusters?.name).map(({ text }, n) => {
    const choose = () => {
      review.division = n;
      redraw();
      /** @type {HTMLElement|null} */ (document.querySelector("[name=change]:checked"))?.focus();
    };
    const checked = n === review.division;
    const input = el("input", { type: "radio", name: "change", checked, on: { change: choose } });
    return el("label", { class: "check" }, input, el("span", {}, text));
  });
  return el(
    "fieldset",
    { class: "panel alternatives-of" },
    el("legend", { class: "visually-hidden" }, "Alternatives"),
    el("h2", {}, "Alternatives"),
    ...rows,
  );
}
