/** Script of a page with a form: ignores a second click while the first is in progress. */
let isSent = false;
addEventListener('submit', (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
// The page may have been restored from the back/forward cache.
addEventListener('pageshow', () => {
  isSent = false;
});
// Fills in a suggested amount without loading the page again.
addEventListener('click', (event) => {
  const amount = /** @type {Element} */ (event.target).closest('a')?.dataset['amount'];
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById('amount'));
  if (amount === undefined || field === null) return;
  event.preventDefault();
  field.value = amount;
});
