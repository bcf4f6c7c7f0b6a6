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
  const { target } = event;
  const link = target instanceof Element ? target.closest('a') : null;
  const amount = link?.dataset['amount'];
  const field = document.getElementById('amount');
  if (amount === undefined || !(field instanceof HTMLInputElement)) return;
  event.preventDefault();
  field.value = amount;
  // Not on phones, where it would open the keyboard.
  if (matchMedia('(hover: hover)').matches) field.focus();
});
