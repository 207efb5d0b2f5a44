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
 * @property {number} [right] not for beliefs
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
  return things
    .map((thing, n) => ({ one: thing, n }))
    .sort((a, b) => b.one.sources.length - a.one.sources.length || a.n - b.n)
    .map(({ one: thing }) => thing);
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
  const { object: name } = object;
  return {
    id: name,
    name,
    sort: "",
    figure: null,
    sources,
    slots: slotsOf(object.slots),
    accounts,
  };
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
  /** @type {Map<string, Account>} */
  const byLine = new Map();
  for (const { source, slot, value, masses, file, line } of claims) {
    const lineKey = JSON.stringify([source, file, line]);
    /** @type {Account} */
    const account = byLine.get(lineKey) ?? { source, claims: [], locations: [{ file, line }] };
    account.claims.push([slot, value ?? massesText(masses)]);
    byLine.set(lineKey, account);
  }
  return [...byLine.values()];
}

/** @param {{values: string[]|null, mass: number}[]} masses */
const massesText = (masses) =>
  masses
    .filter(({ mass }) => mass > 0)
    .map(({ values, mass }) => `${values ? values.join(" or ") : "any value"} ${mass}`)
    .join("; ");

/**
 * Return the reliabilities of each source by slot.
 * @param {Fused} fused
 * @returns {Map<string, Trust[]>}
 */
export function trustBySource(fused) {
  /** @type {Map<string, Trust[]>} */
  const bySource = new Map();
  for (const source of fused.sources) {
    const slots = Object.entries(source.slots ?? {}).map(([slot, claims]) => ({ ...claims, slot }));
    const rows = [{ ...source, slot: source.slot ?? "" }, ...slots];
    bySource.set(source.source, [...(bySource.get(source.source) ?? []), ...rows]);
  }
  return bySource;
}

/**
 * Return the values that would change without a source, by thing.
 * @param {Fused} fused
 * @returns {Map<string, any[]>}
 */
export function changesByThing(fused) {
  const byThing = new Map();
  for (const change of fused.without?.changes ?? []) {
    const name = change.object ?? change.thing;
    byThing.set(name, [...(byThing.get(name) ?? []), change]);
  }
  return byThing;
}
