// Sample languages, search, outline and copy buttons of the documentation. Pages are complete without script.

const MAXIMUM_RESULTS = 8;

/** @param {string} tag @param {Record<string, string>} attributes @param {(Node | string)[]} children */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

for (const block of document.querySelectorAll('pre')) {
  const code = block.querySelector('code');
  if (code === null || navigator.clipboard === undefined) continue;
  const button = element('button', { type: 'button', class: 'button compact' }, 'Copy');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText((code.textContent ?? '').trimEnd());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  const language = code.dataset['language'] ?? '';
  const frame = element(
    'div',
    { class: 'copyable' },
    element('div', {}, element('span', {}, language), button),
  );
  block.replaceWith(frame);
  frame.append(block);
}

const LANGUAGE_KEY = 'docs-language';
const samples = [...document.querySelectorAll('details.sample')].filter(
  (sample) => sample instanceof HTMLDetailsElement,
);

/** @param {string | undefined} language language of the samples to open; the browser closes others of a group */
function openSamples(language) {
  for (const sample of samples) if (sample.dataset['language'] === language) sample.open = true;
}

for (const sample of samples) {
  sample.querySelector('summary')?.addEventListener('click', (event) => {
    event.preventDefault();
    const { language = '' } = sample.dataset;
    openSamples(language);
    try {
      localStorage.setItem(LANGUAGE_KEY, language);
    } catch {
      // Without storage, the choice applies only to this page.
    }
  });
}
try {
  openSamples(localStorage.getItem(LANGUAGE_KEY) ?? undefined);
} catch {
  // Without storage, each group shows its first sample.
}

const outline = document.querySelector('.outline');
if (outline instanceof HTMLDetailsElement) {
  outline.open = matchMedia('(min-width: 72rem)').matches;
  const links = [...outline.querySelectorAll('a')];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  // Marks the last heading in the upper third of the window.
  const observer = new IntersectionObserver(
    () => {
      const place = headings.findLastIndex(
        (heading) => heading !== null && heading.getBoundingClientRect().top < innerHeight / 3,
      );
      for (const [index, link] of links.entries())
        if (index === Math.max(place, 0)) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
    },
    { rootMargin: '0px 0px -67% 0px' },
  );
  for (const heading of headings) if (heading !== null) observer.observe(heading);
}

/** @typedef {typeof import('./search.js')} Search */
/** @typedef {import('./search.js').Section} Section */

/** @type {Promise<[Section[], Search]> | undefined} Index and search script, loaded when typing starts. */
let loading;
const field = document.querySelector('#docs-search');
const found = document.querySelector('#docs-found');
if (field instanceof HTMLInputElement && found instanceof HTMLElement) {
  field.closest('[hidden]')?.removeAttribute('hidden');
  field.addEventListener('input', async () => {
    loading ??= Promise.all([
      fetch('/docs/search.json').then((response) => response.json()),
      import('./search.js'),
    ]);
    const [sections, { search, excerptOf }] = await loading;
    show(found, search(sections, field.value), field.value, excerptOf);
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isSlash && !(event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    field.select();
  });
  field.closest('search')?.addEventListener('keydown', (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    const places = [field, ...found.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const at = places.findIndex((place) => place.matches(':focus'));
      places[Math.min(Math.max(at + step, 0), places.length - 1)]?.focus();
    } else if (event.key === 'Enter' && event.target === field) {
      places[1]?.click();
    } else if (event.key === 'Escape') {
      field.value = '';
      found.replaceChildren();
      field.focus();
    }
  });
}

/** @type {(list: HTMLElement, matches: Section[], query: string, excerptOf: Search['excerptOf']) => void} */
function show(list, matches, query, excerptOf) {
  const items = matches.slice(0, MAXIMUM_RESULTS).map((section) => {
    const { page, title, heading, anchor } = section;
    const name = heading === title ? title : `${title}: ${heading}`;
    const link = element('a', { href: `/docs/${page}#${anchor}` }, name);
    const pieces = excerptOf(section, query).map((piece, place) =>
      place % 2 === 1 ? element('mark', {}, piece) : piece,
    );
    return element('li', {}, link, element('span', { class: 'small soft' }, ...pieces));
  });
  const nothing = query.trim().length > 1 ? [element('li', {}, 'Nothing found.')] : [];
  list.replaceChildren(...(items.length > 0 ? items : nothing));
}
