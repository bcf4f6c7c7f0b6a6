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
  dressUp(page);
  startOneVisit(page);

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    try {
      const response = await fetch(`${path}/status?lang=${document.documentElement.lang}`, {
        headers: { 'if-none-match': `"${revision}"` },
        cache: 'no-store',
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
      if (failures >= 2) say(page.dataset['offline'] ?? '');
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
    dressUp(page);
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
 * A second click while the first is on its way starts nothing, and the page says where it is going.
 * @param {HTMLElement} page
 */
function startOneVisit(page) {
  const status = /** @type {HTMLElement} */ (document.getElementById('status'));
  const detail = /** @type {HTMLElement} */ (document.getElementById('detail'));
  /** What was said before the click; null while there was none. @type {Node[] | null} */
  let before = null;
  page.addEventListener('submit', (event) => {
    if (before !== null) {
      event.preventDefault();
      return;
    }
    before = [...status.childNodes];
    const going = /** @type {HTMLTemplateElement} */ (document.getElementById('going')).content.cloneNode(
      true,
    );
    /** @type {Element} */ (/** @type {DocumentFragment} */ (going).querySelector('bdi')).textContent =
      event.submitter?.dataset['provider'] ?? '';
    status.replaceChildren(going);
    // Hidden only now: the form is sent with the button that was pressed.
    detail.hidden = true;
  });
  // Back from there, perhaps by the browser's memory of this page.
  addEventListener('pageshow', () => {
    if (before !== null) status.replaceChildren(...before);
    before = null;
    detail.hidden = false;
  });
}

/**
 * What the server cannot do: times in the customer's own zone, and a button that prints.
 * @param {HTMLElement} page
 */
function dressUp(page) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: 'long',
    timeStyle: 'long',
    numberingSystem: 'latn',
  });
  for (const time of page.querySelectorAll('time')) time.textContent = format.format(new Date(time.dateTime));
  const print = document.getElementById('print');
  if (print === null) return;
  print.hidden = false;
  print.onclick = () => window.print();
}
