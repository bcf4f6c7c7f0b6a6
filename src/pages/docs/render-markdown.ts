import { posix } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { parse } from 'sugar-high/core';
import { lang, languages } from 'sugar-high/lang';
import { dataTable } from '../../web/design/data-table.ts';
import { Html, html, nothing } from '../../web/design/html.ts';
import type { DocPage, Heading } from './doc-pages.ts';

export interface MarkdownContext {
  /** Page whose file is the base of relative links. */
  readonly page: Pick<DocPage, 'file'>;
  readonly pages: readonly DocPage[];
  /** URL of this service for samples. If absent, samples stay unchanged. */
  readonly baseUrl?: string;
}

/** Names of the sample languages. In a group of samples for one operation, one sample is open. */
const sampleLanguages: ReadonlyMap<string, string> = new Map([
  ['sh', 'curl'],
  ['ts', 'TypeScript'],
  ['python', 'Python'],
  ['php', 'PHP'],
]);

const SAMPLE_BASE_URLS = /http:\/\/localhost:3000|https:\/\/pay\.example\.com/g;

/**
 * Renders the project's own Markdown for `/docs`. marked escapes text. Raw HTML is removed, except for pictures.
 *
 * @param outline receives the page's sections
 */
export function renderMarkdown(context: MarkdownContext, text: string, outline: Heading[] = []): Html {
  const slugs = new Map<string, number>();
  let tables = 0;
  const marked = new Marked({
    renderer: {
      html: ({ text: markup }) => pictureMarkup(markup),
      heading({ tokens, depth, text: heading }) {
        const id = uniqueSlug(slugs, heading);
        const inner = new Html(this.parser.parseInline(tokens));
        if (depth === 2) outline.push({ id, text: plainText(tokens) });
        return `<h${depth} id="${id}">${inner} ${html`<a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = linkTarget(context, href);
        return target === null ? inner : `${html`<a href="${target}">${new Html(inner)}</a>`}`;
      },
      image: ({ href, text: words }) => `${html`<img src="${imageTarget(href)}" alt="${words}">`}`,
      code: ({ text: code, lang = '' }) =>
        `${codeBlock(context.baseUrl === undefined ? code : code.replaceAll(SAMPLE_BASE_URLS, context.baseUrl), lang)}\n`,
      table(token) {
        const names = token.header.flatMap(({ text: name }) =>
          name === '' ? [] : [name.replaceAll('`', '')],
        );
        const label = `Table ${++tables}: ${names.join(', ')}`;
        return tableMarkup(label, token, (cell) => this.parser.parseInline(cell.tokens));
      },
    },
  });
  const parts = groupSamples(marked.lexer(text)).map((tokens, group) => {
    const blocks = tokens.map((token) => new Html(marked.parser([token])));
    if (blocks.length === 1) return html`${blocks}`;
    return html`<div class="samples">${tokens.map((token, index) => {
      const language = languageOf(token);
      return html`
<details class="sample" name="samples-${group}" data-language="${language}"${index === 0 ? html` open` : nothing}>
<summary>${sampleLanguages.get(language) ?? ''}</summary>${blocks[index] ?? nothing}</details>`;
    })}</div>
`;
  });
  return html`${parts}`;
}

const languageOf = (token: Token): string => (token as Tokens.Code).lang ?? '';

function groupSamples(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = [];
  const isSample = (token: Token) => token.type === 'code' && sampleLanguages.has(languageOf(token));
  for (const token of tokens) {
    if (token.type === 'space') continue;
    const group = groups.at(-1) ?? [];
    const isAnother = group.every((one) => isSample(one) && languageOf(one) !== languageOf(token));
    if (isAnother && group.length > 0 && isSample(token)) group.push(token);
    else groups.push([token]);
  }
  return groups;
}

const coloredTokens: ReadonlySet<string> = new Set(['keyword', 'string', 'comment', 'class', 'property']);

/** Renders a code block with classes for highlighting, because the policy forbids inline styles. */
export function codeBlock(code: string, language: string): Html {
  const id = lang(language);
  const words =
    id === undefined
      ? [html`${code}`]
      : parse(code, languages.find((each) => each.id === id)?.config).lines.flatMap(({ tokens }, index) => [
          html`${index === 0 ? '' : '\n'}`,
          ...tokens.map(({ type, value }) =>
            coloredTokens.has(type) ? html`<span class="word-${type}">${value}</span>` : html`${value}`,
          ),
        ]);
  return html`<pre tabindex="0"><code data-language="${language}">${words}</code></pre>`;
}

/** Part of a page under one heading, for the search. Samples are searched, but excerpts show only the text. */
interface DocSection {
  readonly heading: string;
  readonly anchor: string;
  text: string;
  code: string;
}

export function sectionsOf(text: string): DocSection[] {
  const slugs = new Map<string, number>();
  const sections: DocSection[] = [];
  for (const token of inlineMarkdown.lexer(text)) {
    const section = sections.at(-1);
    if (token.type === 'heading') {
      const heading = plainText(token.tokens ?? []);
      sections.push({ heading, anchor: uniqueSlug(slugs, token['text']), text: '', code: '' });
    } else if (token.type === 'code' && section !== undefined) {
      section.code = `${section.code} ${token['text']}`.trim();
    } else if (section !== undefined) {
      section.text = `${section.text} ${plainText([token])}`.trim();
    }
  }
  return sections;
}

const SPACE = { type: 'space', raw: '' };

/** Returns text without markup. Separates list items and table rows with middle dots, and cells with colons. */
function plainText(tokens: readonly Token[]): string {
  const texts = tokens.map((token) => {
    if (token.type === 'html' || token.type === 'code' || token.type === 'hr') return '';
    if (token.type === 'br' || token.type === 'space') return ' ';
    if (token.type === 'list')
      return (token as Tokens.List).items
        .map((item) => plainText(item.tokens.flatMap((part) => [part, SPACE])))
        .join(' · ');
    if (token.type === 'table')
      return (token as Tokens.Table).rows
        .map((row) => row.flatMap((cell) => plainText(cell.tokens) || []).join(': '))
        .join(' · ');
    if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
    return 'text' in token ? String(token.text) : '';
  });
  return texts.join('').replace(/\s+/g, ' ').trim();
}

export function renderInlineMarkdown(text: string): Html {
  return new Html(inlineMarkdown.parseInline(text, { async: false }));
}

const inlineMarkdown = new Marked({ renderer: { html: () => '' } });

/** Renders a table. Unnamed columns get blanks as names. Markup in column names is removed. */
function tableMarkup(
  label: string,
  { header, rows }: Tokens.Table,
  inline: (cell: Tokens.TableCell) => string,
): string {
  const columns = header.map(({ tokens }, column) => [
    plainText(tokens) || ' '.repeat(column + 1),
    (row: readonly Tokens.TableCell[]) => new Html(inline(row[column] as Tokens.TableCell)),
  ]);
  return `${dataTable(label, rows, Object.fromEntries(columns))}\n`;
}

/** Returns the anchor that GitHub gives a heading, so that links work here and on GitHub. */
function uniqueSlug(seen: Map<string, number>, heading: string): string {
  const slug = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
  const earlier = seen.get(slug) ?? 0;
  seen.set(slug, earlier + 1);
  return earlier === 0 ? slug : `${slug}-${earlier}`;
}

/** Returns a document link's URL on this server; null if its target is not served. */
function linkTarget({ page, pages }: MarkdownContext, href: string): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(posix.dirname(page.file), path);
  const target = pages.find((each) => each.file === file);
  if (target === undefined) return null;
  return `/docs/${target.slug}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Renders a picture for light and dark, the only HTML allowed. Returns an empty string for other HTML. */
function pictureMarkup(markup: string): string {
  const form =
    /^<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img src="([^"]+)" alt="([^"]+)">\s*<\/picture>\s*$/;
  const [, dark, light, words] = form.exec(markup) ?? [];
  if (dark === undefined || light === undefined) return '';
  const darkSource = html`<source media="(prefers-color-scheme: dark)" srcset="${imageTarget(dark)}">`;
  return `${html`<p><picture>${darkSource}<img src="${imageTarget(light)}" alt="${words ?? ''}"></picture></p>`}\n`;
}

function imageTarget(href: string): string {
  return `/docs/images/${posix.basename(href)}`;
}
