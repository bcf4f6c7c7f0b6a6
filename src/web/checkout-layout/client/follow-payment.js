/**
 * Script of the checkout page. Without it, a waiting page reloads itself. Changes come from an event stream, or from
 * polls if streams fail. Supports Safari 14, Chrome 86, Edge 86 and Firefox 79; newer APIs are optional.
 */

const longestWaitMs = 60_000;
const timeoutMs = 10_000;
/** Maximum silence of a stream; the server sends an event every twenty seconds. */
const longestSilenceMs = 45_000;
/** Number of failed streams after which the page only polls, because a proxy may be buffering the events. */
const mostBrokenStreams = 4;

/**
 * @typedef {{
 *   revision: string, state: string, refreshSeconds: number | null,
 *   title: string, elapsed?: string, status: string, panel: string | null, detail: string, mail: string
 * }} Content
 */

/** @type {number | undefined} Timer of the elapsed time. */
let ticking;

const page = document.getElementById('checkout');
const status = /** @type {HTMLElement} */ (document.getElementById('status'));
const detail = /** @type {HTMLElement} */ (document.getElementById('detail'));
if (page !== null) followPayment(page);

/** @param {HTMLElement} page */
function followPayment(page) {
  const path = /** @type {string} */ (page.dataset['path']);
  let revision = /** @type {string} */ (page.dataset['revision']);
  let refreshSeconds = Number(page.dataset['refreshSeconds'] ?? '');
  let unchanged = 0;
  let failures = 0;
  let isAsking = false;
  let brokenStreams = 0;
  /** @type {number | undefined} */
  let timer;
  /** @type {EventSource | null} */
  let stream = null;

  // Removes the email address and `auto` from the address bar, the history and any link shared from them.
  history.replaceState(null, '', path + location.hash);
  dressUp(page);
  startOneVisit(page);

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    const timeout = new AbortController();
    const late = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      const response = await fetch(`${path}/status?lang=${document.documentElement.lang}`, {
        headers: { 'if-none-match': `"${revision}"` },
        cache: 'no-store',
        signal: timeout.signal,
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
      clearTimeout(late);
      isAsking = false;
      if (failures === 0) listen();
      else plan();
    }
  }

  /** Opens the event stream, or schedules a poll if streams fail or are not supported. */
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

  /** Returns whether the page is hidden or its state is final. */
  function isIdle() {
    return document.hidden || !(refreshSeconds > 0);
  }

  function stop() {
    clearTimeout(timer);
    stream?.close();
    stream = null;
  }

  /** Schedules the next poll. Unchanged responses lengthen the delay, and failures double it. */
  function plan() {
    clearTimeout(timer);
    if (isIdle()) return;
    const waitMs = refreshSeconds * 1000 * (failures > 0 ? 2 ** failures : 1 + unchanged / 10);
    timer = setTimeout(ask, Math.min(waitMs, longestWaitMs) * (0.85 + Math.random() * 0.3));
  }

  /** @param {Content} content */
  function show(content) {
    const hadFocus = status.contains(document.activeElement) || detail.contains(document.activeElement);
    revision = content.revision;
    page.dataset['state'] = content.state;
    refreshSeconds = content.refreshSeconds ?? 0;
    document.title = content.title;
    // The server has escaped the markup. The live region changes only when its text does, so that screen readers do not
    // repeat announcements.
    const next = document.createElement('template');
    next.innerHTML = content.status;
    /** @type {HTMLElement} */ (document.getElementById('elapsed')).innerHTML = content.elapsed ?? '';
    const isNews = next.content.textContent !== status.textContent;
    if (isNews) status.replaceChildren(next.content);
    detail.innerHTML = content.detail;
    // Updates only on a change, because the customer may be typing an email address.
    const mail = /** @type {HTMLElement} */ (document.getElementById('mail'));
    next.innerHTML = content.mail;
    if (next.innerHTML !== mail.innerHTML) mail.innerHTML = content.mail;
    const panel = document.querySelector('.summary');
    if (content.panel !== null && panel !== null) panel.outerHTML = content.panel;
    if (isNews && matchMedia('(prefers-reduced-motion: no-preference)').matches)
      for (const part of [status, detail]) part.animate?.({ opacity: [0, 1] }, 160);
    document.getElementById('problem')?.replaceChildren();
    document.getElementById('assurances')?.toggleAttribute('hidden', content.state !== 'open');
    // Moves the focus to the new heading. Otherwise, screen readers would continue at the top of the page.
    if (hadFocus) status.querySelector('h1')?.focus();
    dressUp(page);
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
  addEventListener('offline', () => say(page.dataset['offline'] ?? ''));
  // Closes the stream, because an open connection keeps a page out of the back/forward cache.
  addEventListener('pagehide', stop);
  addEventListener('beforeprint', () => {
    showTimes(true);
    for (const part of document.querySelectorAll('details')) part.open = true;
  });
  addEventListener('afterprint', () => showTimes(false));
  // Refreshes a page restored from the back/forward cache, because it may be out of date.
  addEventListener('pageshow', (event) => {
    if (event.persisted) askAgain();
  });
  listen();
  // Submits a form instead of following a link, because the provider accepts customers only from the partner's site.
  if (page.dataset['autoContinue'] !== undefined)
    /** @type {HTMLElement | null} */ (page.querySelector('button[data-provider]'))?.click();
}

/** Ignores a second submission while the first is in progress, and names the destination. @param {HTMLElement} page */
function startOneVisit(page) {
  /** @type {Node[] | null} Content before the click; null while no click is in progress. */
  let before = null;
  /** @type {HTMLButtonElement | null} Pressed button, because older browsers do not name it in the submit event. */
  let pressed = null;
  page.addEventListener('click', (event) => {
    const target = /** @type {Element} */ (event.target);
    pressed = target.closest('button');
    // Adds the payment method to the URL, so that going back restores the choice even if the page is loaded again.
    const means = target.closest('a')?.search.split('change=')[1];
    if (means) history.replaceState(null, '', `?means=${means}`);
  });
  page.addEventListener('submit', (event) => {
    if (document.getElementById('mail')?.contains(/** @type {Node} */ (event.target))) return;
    if (before !== null) {
      event.preventDefault();
      return;
    }
    before = [...status.childNodes];
    const chosen = /** @type {HTMLElement | null} */ (page.querySelector('[name=choice]:checked'));
    const { content } = /** @type {HTMLTemplateElement} */ (document.getElementById('going'));
    const going = /** @type {DocumentFragment} */ (content.cloneNode(true));
    const named = pressed?.dataset['provider'] ?? pressed?.querySelector('b bdi')?.textContent;
    /** @type {Element} */ (going.querySelector('bdi')).textContent =
      named ?? chosen?.dataset['provider'] ?? '';
    status.replaceChildren(going);
    // Hides the buttons instead of removing them, because the browser still has to submit the pressed one.
    detail.hidden = true;
  });
  addEventListener('pageshow', () => {
    if (before === null) return;
    status.replaceChildren(...before);
    before = null;
    detail.hidden = false;
  });
}

/** Counts up from the elapsed time that the server sent, because the browser's clock may be wrong. */
function showElapsed() {
  clearInterval(ticking);
  const ring = /** @type {HTMLElement | null} */ (document.querySelector('[data-elapsed]'));
  if (ring === null) return;
  const startMs = Date.now() - Number(ring.dataset['elapsed']) * 1000;
  ticking = setInterval(() => {
    const seconds = Math.floor((Date.now() - startMs) / 1000);
    ring.dataset['elapsed'] = String(seconds);
    const time = new Date(Math.min(seconds, 86_399) * 1000).toISOString();
    ring.textContent = time.slice(11, 19).replace(/^0(0:0?)?/, '');
  }, 1000);
}

/** @param {boolean} isPaper whether to show full dates; on screen, some show only the time, or "today, 1:26 AM" */
function showTimes(isPaper) {
  const { lang } = document.documentElement;
  /** @param {Intl.DateTimeFormatOptions} options */
  const formatOf = (options) => new Intl.DateTimeFormat(lang, { numberingSystem: 'latn', ...options });
  const hour = /** @type {const} */ ({ hour: 'numeric', minute: '2-digit' });
  const date = /** @type {const} */ ({ year: 'numeric', day: 'numeric' });
  const full = formatOf({ ...date, month: 'long', ...hour, timeZoneName: 'short' });
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const { look } = time.dataset;
    const isToday = at.toDateString() === new Date().toDateString();
    if (isPaper || look === undefined || (look === 'day' && !isToday)) time.textContent = full.format(at);
    else if (look === 'clock')
      time.textContent = formatOf(
        isToday ? { ...hour, second: '2-digit' } : { month: 'short', day: 'numeric' },
      ).format(at);
    else {
      // Replaces only the date, to keep the separator and the time format of the language.
      const parts = formatOf({ ...date, month: 'numeric', ...hour }).formatToParts(at);
      const from = parts.findIndex(({ type }) => /hour|dayPeriod/.test(type)) - 1;
      const today = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' }).format(0, 'day');
      time.textContent = parts.slice(from).reduce((text, { value }) => text + value, today);
    }
  }
}

/** @param {HTMLElement} page */
function dressUp(page) {
  showTimes(false);
  showElapsed();
  const print = document.getElementById('print');
  if (print !== null) {
    print.hidden = false;
    print.onclick = () => window.print();
  }
  const ask = /** @type {HTMLElement | null} */ (page.querySelector('.ask'));
  const country = /** @type {HTMLSelectElement | null} */ (page.querySelector('#country'));
  if (ask !== null && country !== null) {
    // Requires the country only for options that need it. Without scripts, the server asks for a missing country.
    ask.onchange = () => {
      country.required = ask.querySelector('.asks:checked') !== null;
    };
    ask.dispatchEvent(new Event('change'));
  }
  for (const button of page.querySelectorAll('button')) {
    const { copy } = button.dataset;
    // The clipboard API is missing in old browsers and on pages without HTTPS.
    if (copy === undefined || navigator.clipboard === undefined) continue;
    button.hidden = false;
    button.onclick = () =>
      navigator.clipboard.writeText(copy).then(
        () => {
          button.textContent = '✓';
        },
        () => {
          button.hidden = true;
        },
      );
  }
  document.dispatchEvent(new Event('checkout:shown'));
}
