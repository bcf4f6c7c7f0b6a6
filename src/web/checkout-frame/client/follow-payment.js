/**
 * The script of the checkout page. Without it the page still works: it reloads itself while it waits.
 *
 * An event stream delivers changes. Without a stream the script polls the parts of the page that change, more often
 * while the payment progresses, less often while it does not. While the page is hidden it does neither.
 */

const longestWaitMs = 60_000;
const timeoutMs = 10_000;
/** The server sends a line every twenty seconds; a stream that is silent for longer is dead. */
const longestSilenceMs = 45_000;
/** Number of failed streams after which the page only polls: a proxy on the path buffers streams. */
const mostBrokenStreams = 4;

/**
 * @typedef {{
 *   revision: string, view: string, takesPayment: boolean, refreshSeconds: number | null,
 *   title: string, status: string, detail: string
 * }} Content
 */

/** The timer of the return to the shop. @type {number | undefined} */
let returning;

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
  let brokenStreams = 0;
  /** @type {number | undefined} */
  let timer;
  /** @type {EventSource | null} */
  let stream = null;

  // Email address and `auto` are removed from the address bar, the history and shared links.
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
      if (failures === 0) listen();
      else plan();
    }
  }

  /** Opens the event stream, or schedules a poll after streams have failed. */
  function listen() {
    stop();
    if (isIdle()) return;
    if (brokenStreams >= mostBrokenStreams || !('EventSource' in window)) {
      plan();
      return;
    }
    const query = new URLSearchParams({ lang: document.documentElement.lang, revision });
    const opened = new EventSource(`${path}/events?${query}`);
    stream = opened;
    const expectMore = () => {
      clearTimeout(timer);
      timer = setTimeout(breakOff, longestSilenceMs);
    };
    const breakOff = () => {
      if (stream !== opened) return;
      stop();
      brokenStreams++;
      plan();
    };
    opened.addEventListener('beat', () => {
      brokenStreams = 0;
      expectMore();
    });
    opened.addEventListener('error', breakOff);
    opened.onmessage = ({ data }) => {
      show(/** @type {Content} */ (JSON.parse(data)));
      unchanged = 0;
      if (refreshSeconds > 0) expectMore();
      else stop();
    };
    expectMore();
  }

  /** Whether the page is hidden, or nothing more will change. */
  function isIdle() {
    return document.hidden || !(refreshSeconds > 0);
  }

  function stop() {
    clearTimeout(timer);
    stream?.close();
    stream = null;
  }

  /** Schedules the next poll: later with every unchanged answer, and much later with every failure. */
  function plan() {
    clearTimeout(timer);
    if (isIdle()) return;
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
    // The server has escaped their content, as it does in the page. The live region changes only with its words, so
    // that screen readers announce nothing twice.
    const next = document.createElement('template');
    next.innerHTML = content.status;
    if (next.content.textContent.trim() !== status.textContent.trim()) status.replaceChildren(next.content);
    detail.innerHTML = content.detail;
    document.getElementById('problem')?.replaceChildren();
    document.getElementById('assurances')?.toggleAttribute('hidden', !content.takesPayment);
    dressUp(page);
    // The focused element is gone: screen readers continue at the new state instead of at the top of the page.
    if (hadFocus) status.querySelector('h1')?.focus();
  }

  /** @param {string} text */
  function say(text) {
    const connection = /** @type {HTMLElement} */ (document.getElementById('connection'));
    if (connection.textContent !== text) connection.textContent = text;
  }

  function askAgain() {
    stop();
    if (!isIdle()) void ask();
  }

  document.addEventListener('visibilitychange', askAgain);
  addEventListener('online', askAgain);
  addEventListener('offline', askAgain);
  // A page in the back/forward cache must not hold a connection.
  addEventListener('pagehide', stop);
  // Restored from the back/forward cache, by the return from a provider: the page may be long out of date.
  addEventListener('pageshow', (event) => {
    if (event.persisted) askAgain();
  });
  listen();
  // A direct link to a provider that accepts customers only from the partner's site: the form is sent from this page.
  if (page.dataset['autoContinue'] !== undefined)
    /** @type {HTMLElement | null} */ (page.querySelector('button[data-provider]'))?.click();
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
  // Returned from there, perhaps by the back/forward cache.
  addEventListener('pageshow', () => {
    if (before === null) return;
    status.replaceChildren(...before);
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
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    numberingSystem: 'latn',
  });
  for (const time of page.querySelectorAll('time')) time.textContent = format.format(new Date(time.dateTime));
  const print = document.getElementById('print');
  if (print !== null) {
    print.hidden = false;
    print.onclick = () => window.print();
  }
  returnToShop(page);
  document.dispatchEvent(new Event('checkout:shown'));
}

/**
 * Goes back to the shop after a few seconds, once a tab: a customer who comes back from there wants to stay. Any click
 * on the page stops it.
 * @param {HTMLElement} page
 */
function returnToShop(page) {
  clearTimeout(returning);
  const link = /** @type {HTMLAnchorElement | null} */ (page.querySelector('a[data-return-after]'));
  const notice = document.getElementById('automatic');
  const key = `returned ${page.dataset['path']}`;
  if (link === null || notice === null || sessionStorage.getItem(key) !== null) return;
  const stop = () => {
    clearTimeout(returning);
    notice.hidden = true;
  };
  notice.hidden = false;
  page.addEventListener('click', stop, { once: true });
  addEventListener('pagehide', stop, { once: true });
  returning = setTimeout(() => {
    sessionStorage.setItem(key, '1');
    location.assign(link.href);
  }, Number(link.dataset['returnAfter']) * 1000);
}
