/** Colours of cells: a cell has the colour of its first template, so that it keeps it from one
 * configuration to the next. */

const COLOURS = 12;

/** @typedef {string[][]} Cells */

/**
 * The class of every template of these sets, given the cells that are shown of each.
 * @param {{templates: {id: string}[]}[]} sets @param {Cells[]} shown
 * @returns {Map<string, string>}
 */
export function colours(sets, shown) {
  const order = sets.flatMap((set) => set.templates.map((template) => template.id));
  const place = new Map(order.map((id, n) => [id, n]));
  const found = new Map();
  for (const cell of shown.flat()) {
    const first = Math.min(...cell.map((id) => place.get(id) ?? 0));
    for (const id of cell) found.set(id, `cell-${first % COLOURS}`);
  }
  return found;
}

/**
 * Give an element this colour of a cell and no other.
 * @param {Element} made
 * @param {string} [colour]
 */
export function paint(made, colour) {
  for (const name of [...made.classList]) if (/^cell-\d+$/.test(name)) made.classList.remove(name);
  if (colour) made.classList.add(colour);
}
