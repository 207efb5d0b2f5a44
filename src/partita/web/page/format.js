/** Numbers, counts and values as text, in the same form as in the terminal. */

const MINUS = "−";

/** Four digits; a tiny but positive probability is shown as a bound. @param {number} p */
export function probability(p) {
  if (p > 0 && p < 0.00005) return "<0.0001";
  if (p < 1 && p > 0.99995) return ">0.9999";
  return p.toFixed(4);
}

/**
 * A probability with its interval or standard error, if it has one.
 * @param {{probability: number, interval?: [number, number]|null, error?: number|null}} figure
 */
export function figure({ probability: p, interval, error }) {
  if (interval)
    return `${probability(p)} (${probability(interval[0])} to ${probability(interval[1])})`;
  if (!error) return probability(p);
  const digits = error < 0.0005 ? 4 : error < 0.005 ? 3 : 2;
  return `${p.toFixed(digits)} ± ${error.toFixed(digits)}`;
}

/** @type {[number, string][]} */
const WORDS = [
  [0.95, "very likely"],
  [0.8, "likely"],
  [0.5, "more likely than not"],
];

/** A probability in words. @param {number} p */
export const confidenceWord = (p) => WORDS.find(([least]) => p >= least)?.[1] ?? "uncertain";

/** @param {number|null|undefined} value */
export function bits(value) {
  if (value === null || value === undefined) return "unknown";
  return `${value.toFixed(value < 10 ? 2 : 1)} ${Math.abs(value - 1) < 0.005 ? "bit" : "bits"}`;
}

/** @param {number} value @param {number} [digits] */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 ? `${MINUS}${text}` : `+${text}`;
}

/** A count; it may exceed the largest safe integer. @param {string|number} text */
export function count(text) {
  const digits = String(text);
  if (!/^\d+$/.test(digits)) return digits;
  if (digits.length > 15) return `${digits[0]}.${digits.slice(1, 3)} × 10^${digits.length - 1}`;
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** @param {number} n @param {string} singular @param {string} [pluralForm] */
export function plural(n, singular, pluralForm = `${singular}s`) {
  return `${count(n)} ${n === 1 ? singular : pluralForm}`;
}

/**
 * The value of a slot; lists are joined, a missing value is "unknown".
 * @param {any} value
 * @returns {string}
 */
export function slotValue(value) {
  if (value === null || value === undefined) return "unknown";
  return Array.isArray(value) ? value.map(slotValue).join(" & ") : String(value);
}

/**
 * A time in the local format; other text is returned unchanged.
 * @param {string} text
 */
export function time(text) {
  const when = new Date(text);
  return Number.isNaN(when.getTime()) ? text : when.toLocaleString();
}

/** Day and time of this year. @param {string} text */
export function shortTime(text) {
  const when = new Date(text);
  if (Number.isNaN(when.getTime())) return text;
  return when.toLocaleString(undefined, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
}
