/** Continues from a short link to the URL of the page's link. */
location.replace(/** @type {HTMLAnchorElement} */ (document.getElementById('continue')).href);
