/** Fuse: what several sources say as one belief, whom to trust, and what depends on whom. */

import * as api from "../calls.js";
import { el, refill, say } from "../dom.js";
import { plural } from "../numbers.js";
import { drawAnswer } from "../fusing/answer.js";
import { asked, question, something } from "../fusing/asked.js";
import { form } from "../fusing/form.js";
import { things } from "../fusing/told.js";
import { trouble } from "../parts/trouble.js";

/** @typedef {{answer: HTMLElement, renew: () => void, turn: number}} View */

/** @param {HTMLElement} root */
export async function show(root) {
  const answer = el("div", { class: "column fused" });
  const made = form(await api.runs(), () => fused(view, leave));
  /** @type {View} */
  const view = { answer, renew: made.renew, turn: 0 };
  const leave = (/** @type {string} */ without) => {
    asked.without = without;
    fused(view, leave);
  };
  refill(root, made.node, answer);
  if (asked.told) drawAnswer(answer, asked.told, leave);
  else refill(answer, hint());
  return { close: () => (view.turn += 1) };
}

const hint = () =>
  el(
    "p",
    { class: "quiet" },
    "Sources may contradict each other: how far each can be trusted is learned from all of them.",
  );

/** Ask, and show the answer unless another question has been asked since. */
async function fused(/** @type {View} */ view, /** @type {(without: string) => void} */ leave) {
  const mine = (view.turn += 1);
  const { answer } = view;
  if (!something()) return refill(answer, el("p", { class: "noted" }, "Choose a source first."));
  answer.setAttribute("aria-busy", "true");
  try {
    const told = await api.fuse(question());
    if (mine === view.turn) shown(view, told, leave);
  } catch (error) {
    if (mine === view.turn)
      refill(
        answer,
        trouble(error, () => fused(view, leave)),
      );
  }
  return answer.removeAttribute("aria-busy");
}

/**
 * @param {View} view
 * @param {import("../types.js").Fused} told
 * @param {(without: string) => void} leave
 */
function shown(view, told, leave) {
  asked.told = told;
  asked.heard = [...new Set(told.sources.map((one) => one.source))].sort();
  view.renew();
  const focused = document.activeElement?.id === "without";
  drawAnswer(view.answer, told, leave);
  if (focused) document.getElementById("without")?.focus();
  say(`${plural(things(told).length, "thing")}, ${plural(asked.heard.length, "source")}`);
}
