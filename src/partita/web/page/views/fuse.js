/** The Fuse view: combine several sources into values with probabilities. */

import * as api from "../api.js";
import { announce, el, replaceContent } from "../dom.js";
import { plural } from "../format.js";
import { createForm } from "../fusion/form.js";
import { hasSources, requestBody, selection } from "../fusion/input.js";
import { drawFused } from "../fusion/panels.js";
import { fusedThings } from "../fusion/result.js";
import { errorPanel } from "../parts/panels.js";

const HINT = "Sources may contradict each other. Their reliability is estimated from all of them.";

/** @typedef {{answer: HTMLElement, refresh: () => void, latest: number}} FuseView */

/** @param {HTMLElement} root @param {import("../router.js").Route} route */
export async function show(root, { run, domain }) {
  const stored = domain === "claims" && selection.stored !== run;
  if (stored) Object.assign(selection, { files: await api.tables(run), stored: run, pasted: "", fused: null });
  const answer = el("div", { class: "column fused" });
  const sourceForm = createForm(await api.runs(), () => runFusion(view, setWithout));
  /** @type {FuseView} */
  const view = { answer, refresh: sourceForm.refresh, latest: 0 };
  const setWithout = (/** @type {string} */ without) => {
    selection.without = without;
    runFusion(view, setWithout);
  };
  replaceContent(root, sourceForm.node, answer);
  if (stored) runFusion(view, setWithout);
  else if (selection.fused) drawFused(answer, selection.fused, setWithout);
  else replaceContent(answer, el("p", { class: "quiet" }, HINT));
  return { close: () => (view.latest += 1) };
}

/** Send the request; show the answer unless a newer request was sent. */
async function runFusion(
  /** @type {FuseView} */ view,
  /** @type {(without: string) => void} */ setWithout,
) {
  const ticket = (view.latest += 1);
  const { answer } = view;
  if (!hasSources())
    return replaceContent(answer, el("p", { class: "notice" }, "Choose a source first."));
  answer.setAttribute("aria-busy", "true");
  try {
    const fused = await api.fuse(requestBody());
    if (ticket === view.latest) showFused(view, fused, setWithout);
  } catch (error) {
    if (ticket === view.latest)
      replaceContent(
        answer,
        errorPanel("The sources could not be fused", error, () => runFusion(view, setWithout)),
      );
  }
  return answer.removeAttribute("aria-busy");
}

/**
 * @param {FuseView} view
 * @param {import("../types.js").Fused} fused
 * @param {(without: string) => void} setWithout
 */
function showFused(view, fused, setWithout) {
  selection.fused = fused;
  selection.namedSources = [...new Set(fused.sources.map((source) => source.source))].sort();
  view.refresh();
  const focused = document.activeElement?.id === "without";
  drawFused(view.answer, fused, setWithout);
  if (focused) document.getElementById("without")?.focus();
  const results = plural(fusedThings(fused).length, "result");
  announce(`${results}, ${plural(selection.namedSources.length, "source")}`);
}
