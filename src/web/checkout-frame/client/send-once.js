/**
 * The script of a page with a form: a second click while the first is on its way sends nothing. Email address and
 * `auto` are removed from the address bar, and a reload shows the checkout.
 */
let isSent = false;
addEventListener('submit', (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
// Restored by the back/forward cache.
addEventListener('pageshow', () => {
  isSent = false;
});
const checkoutPath = document.querySelector('main')?.dataset['path'];
if (checkoutPath !== undefined) history.replaceState(null, '', checkoutPath);
