// Languages of samples, search, outline and copy buttons of the documentation. The pages are complete without script.

const MAXIMUM_RESULTS = 8;

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

for (const block of document.querySelectorAll('pre')) {
  const code = block.querySelector('code');
  if (code === null || navigator.clipboard === undefined) continue;
  const button = element('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText((code.textContent ?? '').trimEnd());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  const frame = element('div', { class: 'copyable' });
  block.replaceWith(frame);
  frame.append(block, button);
}

const LANGUAGE_KEY = 'docs-language';
const samples = [...document.querySelectorAll('details.sample')].filter(
  (sample) => sample instanceof HTMLDetailsElement,
);

/**
 * Opens the samples of a language. The browser closes the others of each group.
 * @param {string | undefined} language
 */
function openSamples(language) {
  for (const sample of samples) if (sample.dataset['language'] === language) sample.open = true;
}

for (const sample of samples) {
  sample.querySelector('summary')?.addEventListener('click', (event) => {
    event.preventDefault();
    const { language = '' } = sample.dataset;
    openSamples(language);
    rememberLanguage(language);
  });
}
openSamples(rememberedLanguage());

/** @param {string} language */
function rememberLanguage(language) {
  try {
    localStorage.setItem(LANGUAGE_KEY, language);
  } catch {
    // Without storage, the choice lasts for this page only.
  }
}

function rememberedLanguage() {
  try {
    return localStorage.getItem(LANGUAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

const headings = [...document.querySelectorAll('.prose h2[id]')];
if (headings.length > 2) {
  const links = headings.map((heading) => {
    const text = (heading.firstChild?.textContent ?? '').trim() || heading.id;
    return element('li', {}, element('a', { href: `#${heading.id}` }, text));
  });
  const outline = element('details', { class: 'outline' }, element('summary', {}, 'On this page'));
  outline.append(element('ul', {}, ...links));
  document.querySelector('.prose h1')?.after(outline);
}

/** @typedef {typeof import('./search.js')} Search */
/** @typedef {import('./search.js').Section} Section */

/**
 * Index and search script, loaded at the first character.
 * @type {Promise<[Section[], Search]> | undefined}
 */
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
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    field.value = '';
    found.replaceChildren();
  });
}

/**
 * @param {HTMLElement} list
 * @param {Section[]} matches
 * @param {string} query
 * @param {Search['excerptOf']} excerptOf
 */
function show(list, matches, query, excerptOf) {
  const items = matches.slice(0, MAXIMUM_RESULTS).map((section) => {
    const { page, title, heading, anchor } = section;
    const name = heading === title ? title : `${title}: ${heading}`;
    const link = element('a', { href: `/docs/${page}#${anchor}` }, name);
    const pieces = excerptOf(section, query).map((piece, place) =>
      place % 2 === 1 ? element('mark', {}, piece) : piece,
    );
    return element('li', {}, link, element('span', {}, ...pieces));
  });
  const nothing = query.trim().length > 1 ? [element('li', {}, 'Nothing found.')] : [];
  list.replaceChildren(...(items.length > 0 ? items : nothing));
}
