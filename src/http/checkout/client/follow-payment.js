/**
 * The script of the checkout page. Without it the page works too: it then loads itself again while it waits.
 *
 * It asks for the parts of the page that change, sooner while something is happening, later while nothing is, and
 * not at all while nobody looks.
 */

const longestWaitMs = 60_000;
const timeoutMs = 10_000;

/** @typedef {{ revision: string, view: string, takesPayment: boolean, refreshSeconds: number | null, title: string, status: string, detail: string }} Content */

const page = document.getElementById('checkout');
if (page !== null) followPayment(page);

/** @param {HTMLElement} page */
function followPayment(page) {
  const path = page.dataset['path'] ?? location.pathname;
  let revision = page.dataset['revision'] ?? '';
  let refreshSeconds = Number(page.dataset['refreshSeconds'] ?? '');
  let unchanged = 0;
  let failures = 0;
  let isAsking = false;
  /** @type {number | undefined} */
  let timer;

  // E-mail address and `auto` leave the address bar, the history and what is shared from there.
  history.replaceState(null, '', path);
  writeTimesLocally(page);
  startOneVisit(page);

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    try {
      const response = await fetch(`${path}/status`, {
        headers: { 'if-none-match': `"${revision}"` },
        cache: 'no-store',
        credentials: 'omit',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status === 200) {
        show(/** @type {Content} */ (await response.json()));
        unchanged = 0;
      } else if (response.status === 304) {
        unchanged++;
      } else {
        throw new Error(`status ${response.status}`);
      }
      failures = 0;
      say('');
    } catch {
      failures++;
      if (failures >= 2) say('No connection at the moment. This page goes on by itself once it is back.');
    } finally {
      isAsking = false;
      plan();
    }
  }

  /** Plans the next question: later with every answer that was the same, and much later with every failure. */
  function plan() {
    clearTimeout(timer);
    if (document.hidden || !(refreshSeconds > 0)) return;
    const waitMs = refreshSeconds * 1000 * (failures > 0 ? 2 ** failures : 1 + unchanged / 10);
    timer = setTimeout(ask, Math.min(waitMs, longestWaitMs) * (0.85 + Math.random() * 0.3));
  }

  /** @param {Content} content */
  function show(content) {
    const status = /** @type {HTMLElement} */ (document.getElementById('status'));
    const detail = /** @type {HTMLElement} */ (document.getElementById('detail'));
    const hadFocus = status.contains(document.activeElement) || detail.contains(document.activeElement);
    revision = content.revision;
    refreshSeconds = content.refreshSeconds ?? 0;
    document.title = content.title;
    // The server has escaped what is in them, as it does in the page. The live region is touched only where its
    // words change, so that nobody is told the same twice.
    const next = document.createElement('template');
    next.innerHTML = content.status;
    if (next.content.textContent.trim() !== status.textContent.trim()) status.replaceChildren(next.content);
    detail.innerHTML = content.detail;
    document.getElementById('problem')?.replaceChildren();
    document.getElementById('assurances')?.toggleAttribute('hidden', !content.takesPayment);
    writeTimesLocally(page);
    // What had the focus is gone: the reader goes on at the new state instead of at the top of the page.
    if (hadFocus) status.querySelector('h1')?.focus();
  }

  /** @param {string} text */
  function say(text) {
    const connection = document.getElementById('connection');
    if (connection !== null && connection.textContent !== text) connection.textContent = text;
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (!document.hidden && refreshSeconds > 0) void ask();
  });
  addEventListener('online', () => {
    if (refreshSeconds > 0) void ask();
  });
  // Brought back from the browser's memory, by the way back from a provider: the page may be long out of date.
  addEventListener('pageshow', (event) => {
    if (event.persisted && refreshSeconds > 0) void ask();
  });
  plan();
}

/**
 * A second click while the first is on its way starts nothing.
 * @param {HTMLElement} page
 */
function startOneVisit(page) {
  /** @type {HTMLElement | null} */
  let pressed = null;
  page.addEventListener('submit', (event) => {
    if (pressed !== null) {
      event.preventDefault();
      return;
    }
    pressed = event.submitter;
    pressed?.setAttribute('aria-busy', 'true');
  });
  addEventListener('pageshow', () => {
    pressed?.removeAttribute('aria-busy');
    pressed = null;
  });
}

/**
 * Times in the customer's own zone.
 * @param {HTMLElement} page
 */
function writeTimesLocally(page) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: 'long',
    timeStyle: 'long',
  });
  for (const time of page.querySelectorAll('time')) time.textContent = format.format(new Date(time.dateTime));
}
