// Language tabs, search, outline and copy buttons of the documentation. The pages are complete without script.

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
/**
 * For each group of samples, a function that shows its sample in a language, if it has one.
 * @type {((language: string) => void)[]}
 */
const choosers = [];

/** @param {string} language */
function chooseLanguage(language) {
  for (const choose of choosers) choose(language);
  try {
    localStorage.setItem(LANGUAGE_KEY, language);
  } catch {
    // Without storage, the choice lasts for this page only.
  }
}

function rememberedLanguage() {
  try {
    return localStorage.getItem(LANGUAGE_KEY);
  } catch {
    return null;
  }
}

for (const [number, group] of [...document.querySelectorAll('.samples')].entries()) {
  const tabs = [...group.querySelectorAll('.sample')].flatMap((panel) => {
    const label = panel.querySelector('.language');
    if (!(panel instanceof HTMLElement) || label === null) return [];
    const language = panel.dataset['language'] ?? '';
    const id = `sample-${number}-${language}`;
    const tab = element('button', { type: 'button', role: 'tab', id, 'aria-controls': `${id}-panel` });
    tab.textContent = label.textContent;
    label.remove();
    panel.id = `${id}-panel`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', id);
    tab.addEventListener('click', () => chooseLanguage(language));
    return [{ language, tab, panel }];
  });
  const choose = (/** @type {string} */ language) => {
    if (!tabs.some((each) => each.language === language)) return;
    for (const each of tabs) {
      const isChosen = each.language === language;
      each.tab.setAttribute('aria-selected', String(isChosen));
      each.tab.setAttribute('tabindex', isChosen ? '0' : '-1');
      each.panel.hidden = !isChosen;
    }
  };
  const list = element('div', { role: 'tablist', 'aria-label': 'Language' }, ...tabs.map(({ tab }) => tab));
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex(({ tab }) => tab === document.activeElement);
    if (step === undefined || at === -1) return;
    event.preventDefault();
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    chooseLanguage(next.language);
    next.tab.focus();
  });
  group.prepend(list);
  group.classList.add('tabbed');
  choosers.push(choose);
  choose(tabs[0]?.language ?? '');
  choose(rememberedLanguage() ?? '');
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
