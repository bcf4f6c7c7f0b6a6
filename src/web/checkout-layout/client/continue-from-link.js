location.replace(/** @type {HTMLAnchorElement} */ (document.getElementById('continue')).href);
