import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { Html, html } from '../design/html.ts';
import type { DocPage } from './doc-pages.ts';

export interface MarkdownContext {
  /** The page of the text: its links are relative to its file. */
  readonly page: Pick<DocPage, 'file'>;
  /** All served pages; a link to another file becomes plain text. */
  readonly pages: readonly DocPage[];
}

/**
 * Renders the project's own Markdown for `/docs`. marked escapes text; raw HTML, of which the documents have only
 * comments, is removed.
 */
export function renderMarkdown(context: MarkdownContext, text: string): Html {
  const slugs = new Map<string, number>();
  let tables = 0;
  const marked = new Marked({
    renderer: {
      html: () => '',
      heading({ tokens, depth, text: heading }) {
        const id = uniqueSlug(slugs, heading);
        const inner = new Html(this.parser.parseInline(tokens));
        return `<h${depth} id="${id}">${inner} ${html`<a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = linkTarget(context, href);
        return target === null ? inner : `${html`<a href="${target}">${new Html(inner)}</a>`}`;
      },
      image: ({ href, text: words }) => `${html`<img src="${imageTarget(href)}" alt="${words}">`}`,
      code: ({ text: code, lang = '' }) =>
        `${html`<pre tabindex="0"><code data-language="${lang}">${code}</code></pre>`}\n`,
      table(token) {
        const names = token.header.flatMap(({ text: name }) =>
          name === '' ? [] : [name.replaceAll('`', '')],
        );
        const label = `Table ${++tables}: ${names.join(', ')}`;
        return tableMarkup(label, token, (cell) => this.parser.parseInline(cell.tokens));
      },
    },
  });
  return new Html(marked.parse(text, { async: false }));
}

/** Part of a page under one heading, for the search: its text is plain enough to be shown in part. */
interface DocSection {
  readonly heading: string;
  readonly anchor: string;
  text: string;
}

/** The sections of a text, each with the anchor that it has on its page. */
export function sectionsOf(text: string): DocSection[] {
  const slugs = new Map<string, number>();
  const sections: DocSection[] = [];
  for (const token of inlineMarkdown.lexer(text)) {
    if (token.type === 'heading') {
      const anchor = uniqueSlug(slugs, token['text']);
      sections.push({ heading: token['text'].replaceAll('`', ''), anchor, text: '' });
    } else {
      const plain = token.raw.replace(/\]\([^)]*\)/g, '').replace(/[`*|[\]#<>\s-]+/g, ' ');
      const section = sections.at(-1);
      if (section !== undefined) section.text += plain;
    }
  }
  return sections;
}

/** A sentence or two of Markdown, as markup within a paragraph or a cell. */
export function renderInlineMarkdown(text: string): Html {
  return new Html(inlineMarkdown.parseInline(text, { async: false }));
}

const inlineMarkdown = new Marked({ renderer: { html: () => '' } });

function tableMarkup(
  label: string,
  { header, rows }: Tokens.Table,
  inline: (cell: Tokens.TableCell) => string,
): string {
  // A column whose rows need no name has no heading: screen readers would announce an empty one.
  const head = header
    .map((cell) => (cell.text === '' ? '<td></td>' : `<th scope="col">${inline(cell)}</th>`))
    .join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`);
  const frame = html`<div class="table" role="region" aria-label="${label}" tabindex="0">`;
  return `${frame}<table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>\n`;
}

/** The anchor that GitHub gives a heading, so that one link works in both places. */
export function headingSlug(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

function uniqueSlug(seen: Map<string, number>, heading: string): string {
  const slug = headingSlug(heading);
  const earlier = seen.get(slug) ?? 0;
  seen.set(slug, earlier + 1);
  return earlier === 0 ? slug : `${slug}-${earlier}`;
}

/** The address of a document's link on this server; null if its target is not served. */
function linkTarget({ page, pages }: MarkdownContext, href: string): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(posix.dirname(page.file), path);
  const target = pages.find((each) => each.file === file);
  if (target === undefined) return null;
  return `/docs/${target.slug}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Pictures are in one folder. */
function imageTarget(href: string): string {
  return `/docs/images/${posix.basename(href)}`;
}
