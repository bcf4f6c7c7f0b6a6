/** Search of the documentation, loaded by `docs.js` when typing starts. */

/** @typedef {{ page: string, title: string, heading: string, anchor: string, text: string, code: string, group: string }} Section */
/** @typedef {{ title: string[], heading: string[], text: string[], code: string[] }} Words */

const EXCERPT_CHARACTERS = 140;

/** @type {Record<string, number>} Points that rank merchant pages above operator pages. */
const groupPoints = { 'Get started': 5, Integrate: 6, Reference: 6, Operate: 0 };
/** Pages of evidence, ranked last. */
const evidencePages = ['reliability', 'threat-model'];
const EVIDENCE_POINTS = -8;

/** @type {Record<string, string[]>} Search terms and the words that the documentation uses instead. */
const synonyms = {
  '2fa': ['factor'],
  docker: ['container'],
  idempotency: ['repeat'],
  ipn_token: ['signature'],
  link: ['page'],
  postgre: ['postgresql'],
  underpaid: ['little'],
};

/** @type {WeakMap<Section, Words>} */
const wordsBySection = new WeakMap();

/** @param {string} text text whose words may contain digits and underscores */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** @param {string} word */
function singular(word) {
  return word.length > 3 ? word.replace(/s$/, '') : word;
}

/** @param {Section} section */
function wordsIn(section) {
  const { title, heading, text, code } = section;
  const words = wordsBySection.get(section) ?? {
    title: wordsOf(title),
    heading: wordsOf(heading),
    text: wordsOf(text),
    code: wordsOf(code),
  };
  wordsBySection.set(section, words);
  return words;
}

/** Returns 1 for the word itself, less for a prefix, otherwise 0. @param {string[]} words @param {string} wanted */
function matchOf(words, wanted) {
  let best = 0;
  for (const word of words) {
    if (singular(word) === wanted) return 1;
    if (word.startsWith(wanted)) best = 0.6;
  }
  return best;
}

/** Scores a section for a word, including its share of the text. @param {Words} words @param {string} wanted */
function pointsOf({ title, heading, text, code }, wanted) {
  const count = text.filter((word) => word.startsWith(wanted)).length;
  return (
    10 * matchOf(heading, wanted) +
    5 * matchOf(title, wanted) +
    matchOf(text, wanted) * (1 + Math.log2(1 + count) + Math.min(2, (20 * count) / text.length)) +
    2 * matchOf(code, wanted)
  );
}

/** Finds sections with the most words of a query. @param {readonly Section[]} sections @param {string} query */
export function search(sections, query) {
  const wanted = wordsOf(query).map(singular);
  if (query.trim().length < 2 || wanted.length === 0) return [];
  const ranked = sections.map((section) => {
    const words = wordsIn(section);
    const points = wanted.map((word) =>
      Math.max(...[word, ...(synonyms[word] ?? [])].map((each) => pointsOf(words, each))),
    );
    const found = points.filter((each) => each > 0).length;
    const top = [...words.title, ...words.heading];
    const isNamed = wanted.every((word) => top.some((each) => each.startsWith(word)));
    const rank =
      points.reduce((sum, each) => sum + each, 0) / wanted.length +
      // Prefers short headings, which cover no other topic.
      (isNamed ? 6 + (4 * wanted.length) / words.heading.length : 0) +
      (groupPoints[section.group] ?? 0) +
      (evidencePages.includes(section.page) ? EVIDENCE_POINTS : 0);
    return { section, found, rank };
  });
  const most = Math.max(...ranked.map(({ found }) => found));
  if (most === 0) return [];
  return ranked
    .filter(({ found }) => found === most)
    .sort((one, other) => other.rank - one.rank)
    .map(({ section }) => section);
}

/**
 * Returns an excerpt of a section. Pieces at odd indexes are words of the query.
 * @type {(section: Section, query: string) => string[]}
 */
export function excerptOf({ text }, query) {
  const wanted = wordsOf(query).map(singular);
  if (wanted.length === 0) return [text.slice(0, EXCERPT_CHARACTERS)];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])((?:${wanted.join('|')})[\\p{L}\\p{N}_]*)`, 'giu');
  const first = text.search(pattern);
  // Starts at the sentence or line of the word, if it is near.
  const before = text.slice(0, Math.max(first, 0));
  const sentence = Math.max(before.lastIndexOf('. '), before.lastIndexOf(' · ')) + 2;
  const start =
    sentence > 1 && first - sentence < EXCERPT_CHARACTERS / 2
      ? sentence
      : first < EXCERPT_CHARACTERS / 2
        ? 0
        : text.lastIndexOf(' ', first - EXCERPT_CHARACTERS / 3) + 1;
  const rest = text.slice(start);
  const end = rest.length <= EXCERPT_CHARACTERS ? rest.length : rest.lastIndexOf(' ', EXCERPT_CHARACTERS);
  const cut = `${rest.slice(0, end).replace(/[,;:·]$/, '')}${end < rest.length ? '…' : ''}`;
  return (start > 0 && start !== sentence ? `…${cut}` : cut.trimStart()).split(pattern);
}
