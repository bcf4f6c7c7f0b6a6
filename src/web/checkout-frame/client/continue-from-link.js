/** Continues from a short link; the address stands in the link that has the id. */
location.replace(/** @type {HTMLAnchorElement} */ (document.getElementById('continue')).href);
