/** One shape for both answers of the service: things across sources, and objects of claims. */

/** @typedef {import("../types.js").Fused} Fused */
/** @typedef {{value: any, probability: number, sources: string[], interval?: any, error?: any}} Held */
/** @typedef {{name: string, values: Held[], unknown: number, conflict: number}} Slot */
/** @typedef {{file: string, line: number, message?: string, template?: string, text?: string}} Spot */
/** @typedef {{source: string, said: [string, any][], spots: Spot[]}} Account */

/**
 * @typedef {object} Thing
 * @property {string} id
 * @property {string} name
 * @property {string} sort
 * @property {{probability: number, interval?: any, error?: any}|null} figure that it is one thing
 * @property {string[]} sources
 * @property {Slot[]} slots
 * @property {Account[]} accounts
 */

/**
 * @typedef {object} Trust
 * @property {string} slot "" is all together
 * @property {number} reliability
 * @property {number} [low]
 * @property {number} [high]
 * @property {boolean} [given]
 * @property {number} claims
 * @property {number} right
 * @property {number} [rough]
 * @property {number} [wrong]
 * @property {Record<string, any>} [rates]
 */

/** Those of which most sources speak come first. @param {Fused} told @returns {Thing[]} */
export function things(told) {
  const found = told.entities?.map(ofEntity) ?? (told.objects ?? []).map(ofObject);
  return found
    .map((one, n) => ({ one, n }))
    .sort((a, b) => b.one.sources.length - a.one.sources.length || a.n - b.n)
    .map(({ one }) => one);
}

/** @param {any} entity @returns {Thing} */
function ofEntity(entity) {
  const spots = entity.accounts.flatMap((/** @type {any} */ one) => one.templates);
  const called = spots.find((/** @type {Spot} */ one) => one.text)?.text;
  const { id, sort, sources } = entity;
  return {
    id,
    sort,
    sources,
    name: entity.name || called || sort || id,
    figure: entity,
    slots: slotsOf(entity.slots),
    accounts: entity.accounts.map((/** @type {any} */ one) => ({
      source: one.source,
      said: Object.entries(one.said).map(([slot, told]) => [slot, told.value]),
      spots: one.templates,
    })),
  };
}

/** @param {any} object @returns {Thing} */
function ofObject(object) {
  const accounts = accountsOf(object.said);
  const sources = [...new Set(accounts.map((one) => one.source))];
  const { object: name } = object;
  return { id: name, name, sort: "", figure: null, sources, slots: slotsOf(object.slots), accounts };
}

/** @param {Record<string, any>} slots @returns {Slot[]} */
const slotsOf = (slots) =>
  Object.entries(slots).map(([name, { values, unknown, conflict = 0 }]) => ({
    name,
    values,
    unknown,
    conflict,
  }));

/** What stands in one line is one account. @param {any[]} said @returns {Account[]} */
function accountsOf(said) {
  /** @type {Map<string, Account>} */
  const found = new Map();
  for (const { source, slot, value, file, line } of said) {
    const place = JSON.stringify([source, file, line]);
    const one = found.get(place) ?? { source, said: [], spots: [{ file, line }] };
    one.said.push([slot, value]);
    found.set(place, one);
  }
  return [...found.values()];
}

/** How far each source is trusted, by slot. @param {Fused} told @returns {Map<string, Trust[]>} */
export function trust(told) {
  /** @type {Map<string, Trust[]>} */
  const found = new Map();
  for (const one of told.sources) {
    const slots = Object.entries(one.slots ?? {}).map(([slot, said]) => ({ ...said, slot }));
    const rows = [{ ...one, slot: one.slot ?? "" }, ...slots];
    found.set(one.source, [...(found.get(one.source) ?? []), ...rows]);
  }
  return found;
}

/** What would be believed otherwise, by thing. @param {Fused} told @returns {Map<string, any[]>} */
export function changes(told) {
  const found = new Map();
  for (const one of told.without?.changes ?? []) {
    const name = one.object ?? one.thing;
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return found;
}
