/** Two runs compared: mentions that are together in one and apart in the other. */

import * as api from "../api.js";
import { append, button, el, labelled, replaceContent, select } from "../dom.js";
import { count, plural } from "../format.js";
import { hrefFor } from "../router.js";
import { runText, runsLike } from "../run_menu.js";

/** @typedef {import("../api.js").Difference} Difference */

const PAGE_SIZE = 40;
const MAX_MENTIONS = 6; // of a group; the others are counted

/** A menu of the runs to compare with. @param {string} run @param {string} other @param {(other: string) => void} compare */
export function otherRuns(run, other, compare) {
  const options = runsLike(run).map((like) => /** @type {[string, string]} */ ([like.name, runText(like)]));
  return options.length > 0 && labelled("Compare with", select([["", "No other run"], ...options], other, compare, { id: "other" }));
}

/**
 * Show where another run groups the mentions differently.
 * @param {{run: string, other: string, total: number}} view
 * @param {HTMLElement} box
 * @param {HTMLElement} footer
 */
export async function showDifferences(view, box, footer) {
  const { run, other } = view;
  const list = el("ul", { class: "next-rows" });
  const more = async () => {
    const page = await api.compare(run, other, { offset: list.childElementCount, limit: PAGE_SIZE });
    if (view.other !== other) return;
    view.total = page.total;
    append(list, ...page.differences.map((one) => differenceItem(one, run, other)));
    const [shown, mentions] = [list.childElementCount, plural(page.mentions, "mention")];
    replaceContent(box, list);
    replaceContent(footer, `${count(shown)} of ${plural(page.total, "difference")} in the ${mentions} of both runs`);
    if (shown < page.total) append(footer, button("Show more", more));
  };
  await more();
}

/** @param {Difference} difference @param {string} run @param {string} other */
function differenceItem({ message, together, apart }, run, other) {
  const groups = apart.map((mentions) => {
    const texts = mentions.slice(0, MAX_MENTIONS).map(({ text }) => `“${text}”`);
    return texts.join(", ") + (mentions.length > MAX_MENTIONS ? ` and ${count(mentions.length - MAX_MENTIONS)} more` : "");
  });
  const link = (/** @type {string} */ name, /** @type {string} */ template) =>
    el("a", { href: hrefFor("read", { run: name, message, set: "", template }) }, `${message} in ${name}`);
  const [, [second]] = apart; // the first that the other run moves
  return el(
    "li",
    { class: "difference" },
    el("span", {}, ...groups.flatMap((group, n) => [n ? el("b", {}, " | ") : null, group])),
    el("span", { class: "quiet" }, `together in ${together}, apart in ${together === run ? other : run}`),
    el("span", { class: "links" }, link(run, second.template), link(other, second.other_template)),
  );
}
