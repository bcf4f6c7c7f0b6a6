/**
 * Script of a checkout in a shop's dialog (`checkout.js`), loaded before `follow-payment.js`. Sends the shop only the
 * state, and `closed` on Escape. The frame gets no cookies, so links and forms carry language and email address.
 */

const arrivedWith = new URLSearchParams(location.search);
const framed = /** @type {HTMLElement} */ (document.getElementById('checkout'));
const around = location.ancestorOrigins?.[0];
/** Shops that may frame the page. If the browser hides the parent's origin, only the matching shop gets messages. */
const shops = /** @type {string} */ (framed.dataset['shops'])
  .split(' ')
  .filter((shop) => shop === (around ?? shop));

/** @param {string} state */
function tell(state) {
  for (const shop of shops) parent.postMessage(state, shop);
}

document.addEventListener('checkout:shown', () => tell(/** @type {string} */ (framed.dataset['state'])));

// Shows the host of the framing page beside the shop's name.
if (shops.length === 1)
  document.querySelector('.shop > :last-child')?.append(` · ${new URL(shops.join()).host}`);

addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && document.querySelector('.languages [open]') === null) tell('closed');
});

/** @param {string} href */
function carry(href) {
  const url = new URL(href);
  for (const name of ['lang', 'email']) {
    const value = arrivedWith.get(name);
    if (value !== null && !url.searchParams.has(name)) url.searchParams.set(name, value);
  }
  return url.href;
}

addEventListener('click', ({ target }) => {
  const link = /** @type {Element} */ (target).closest('a');
  if (link === null || link.target !== '' || !link.protocol.startsWith('http')) return;
  // Links to the shop have no `rel` and leave the frame. Other external links open a new window.
  if (link.origin !== location.origin) link.target = link.rel === '' ? '_top' : '_blank';
  else if (link.hash === '' || link.search !== '') link.href = carry(link.href);
});

/** @param {SubmitEvent} event */
function leaveFrame(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const button = /** @type {HTMLButtonElement} */ (event.submitter);
  button.formAction = carry(button.hasAttribute('formaction') ? button.formAction : form.action);
  if (form.id !== 'provider-session') return;
  // Opens the provider in a window, because it refuses to be framed. This page keeps following the payment.
  event.stopPropagation();
  form.target = open('', form.id, 'popup,width=500,height=800') === null ? '_top' : form.id;
}
document.addEventListener('submit', leaveFrame, true);
