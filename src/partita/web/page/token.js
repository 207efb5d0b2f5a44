/** The service's token: taken from the address once, kept for this tab alone. */

const NAME = "partita.token";

/** Take `token=` out of the address, so that it is neither shown nor shared. */
export function takeToken() {
  const given = location.hash.match(/(?:^#|[?&])token=([^&]*)/);
  if (!given) return;
  sessionStorage.setItem(NAME, decodeURIComponent(given[1]));
  const rest = location.hash.replace(/token=[^&]*&?/, "").replace(/[?&#]$/, "");
  history.replaceState(null, "", rest || location.pathname);
}

/** @returns {string} */
export const token = () => sessionStorage.getItem(NAME) ?? "";

/** @param {string} given */
export const keepToken = (given) => sessionStorage.setItem(NAME, given);

export const forget = () => sessionStorage.removeItem(NAME);
