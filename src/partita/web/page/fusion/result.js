/** One shape for both answers of the service: entities across sources, and objects of claims. */

/** @typedef {import("../types.js").Fused} Fused */
/** @typedef {{probability: number, interval?: any, error?: any}} Figure */
/** @typedef {Figure & {value: any, sources: string[]}} FusedValue */
/** @typedef {{name: string, values: FusedValue[], unknown: number, conflict: number}} Slot */
/** @typedef {{message?: string, template?: string, text?: string}} TextLocation */
/** @typedef {TextLocation & {file: string, line: number}} Location */
/** @typedef {{source: string, claims: [string, any][], locations: Location[]}} Account */

/**
 * @typedef {object} Thing
 * @property {string} id
 * @property {string} name
 * @property {string} sort
 * @property {Figure|null} figure probability of exactly this group
 * @property {string[]} sources
 * @property {Slot[]} slots
 * @property {Account[]} accounts
 */

/**
 * @typedef {object} Trust
 * @property {string} slot "" for all slots
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

/**
 * Return the fused things, those with most sources first.
 * @param {Fused} fused
 * @returns {Thing[]}
 */
export function fusedThings(fused) {
  const things = fused.entities?.map(entityThing) ?? (fused.objects ?? []).map(objectThing);
  return things.sort((a, b) => b.sources.length - a.sources.length);
}

/** @param {any} entity @returns {Thing} */
function entityThing(entity) {
  const locations = entity.accounts.flatMap((/** @type {any} */ account) => account.templates);
  const mention = locations.find((/** @type {Location} */ account) => account.text)?.text;
  const { id, sort, sources } = entity;
  return {
    id,
    sort,
    sources,
    name: entity.name || mention || sort || id,
    figure: entity,
    slots: slotsOf(entity.slots),
    accounts: entity.accounts.map((/** @type {any} */ account) => ({
      source: account.source,
      claims: Object.entries(account.said).map(([slot, claim]) => [slot, claim.value]),
      locations: account.templates,
    })),
  };
}

/** @param {any} object @returns {Thing} */
function objectThing(object) {
  const accounts = accountsOf(object.said);
  const sources = [...new Set(accounts.map((account) => account.source))];
  const [id, slots] = [object.object, slotsOf(object.slots)];
  return { id, name: id, sort: "", figure: null, sources, slots, accounts };
}

/** @param {Record<string, any>} slots @returns {Slot[]} */
const slotsOf = (slots) =>
  Object.entries(slots).map(([name, { values, unknown, conflict = 0 }]) => ({
    name,
    values,
    unknown,
    conflict,
  }));

/** Group the claims of one line into one account. @param {any[]} claims @returns {Account[]} */
function accountsOf(claims) {
  const byLine = Map.groupBy(claims, ({ source, file, line }) => JSON.stringify([source, file, line]));
  return [...byLine.values()].map((some) => ({
    source: some[0].source,
    claims: some.map(({ slot, value }) => [slot, value]),
    locations: [{ file: some[0].file, line: some[0].line }],
  }));
}

/**
 * Return the reliabilities of each source by slot.
 * @param {Fused} fused
 * @returns {Map<string, Trust[]>}
 */
export function trustBySource(fused) {
  const rows = fused.sources.flatMap(({ source, slots = {}, ...whole }) => [
    { ...whole, slot: whole.slot ?? "", source },
    ...Object.entries(slots).map(([slot, claims]) => ({ ...claims, slot, source })),
  ]);
  return Map.groupBy(rows, ({ source }) => source);
}

/**
 * Return the values that would change without a source, by thing.
 * @param {Fused} fused
 * @returns {Map<string, any[]>}
 */
export const changesByThing = (fused) =>
  Map.groupBy(fused.without?.changes ?? [], (change) => change.object ?? change.thing);
