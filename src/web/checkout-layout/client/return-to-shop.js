/** Redirects to the shop once per browser. For a checkout in its own window, loaded before `follow-payment.js`. */

/** @type {(event?: Event) => void} Stops the countdown to the redirect; permanently if given an event. */
let stopReturning = () => {};

document.addEventListener('checkout:shown', () => {
  stopReturning();
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector('a[data-return-after]'));
  const notice = document.getElementById('automatic');
  const hasEnded = () => document.cookie.includes('returned=1');
  if (link === null || notice === null) return;
  if (hasEnded()) {
    notice.remove();
    return;
  }
  let left = Number(link.dataset['returnAfter']);
  const seconds = [...notice.querySelectorAll('bdi')].find(({ textContent }) => textContent === String(left));
  const countdown = setInterval(() => {
    left--;
    seconds?.replaceChildren(String(left));
    if (left > 0) return;
    if (!hasEnded()) location.assign(link.href);
    stopReturning(new Event('end'));
  }, 1000);
  const actions = ['keydown', 'pointerdown', 'wheel', 'scroll', 'focusin', 'pagehide'];
  stopReturning = (event) => {
    clearInterval(countdown);
    notice.hidden = true;
    const { pathname } = location;
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is newer than the oldest browsers
    if (event !== undefined) document.cookie = `returned=1;path=${pathname};max-age=3600;samesite=lax`;
    for (const action of actions) removeEventListener(action, stopReturning);
  };
  notice.hidden = false;
  for (const action of actions) addEventListener(action, stopReturning, { passive: true });
});
