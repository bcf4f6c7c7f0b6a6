/** Reads the project's Markdown as a reader would: its tables, code, headings and links. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles } from '../structure/project-files.ts';

export const root = join(import.meta.dirname, '..', '..');

export const documents = projectFiles(/\.md$/);

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The cells of every row of every table, heads included, without the line below the head. */
export function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}

export function codeBlocks(text: string, language: string): string[] {
  const blocks = text.matchAll(/^```(\w*)\n(.*?)^```/gms);
  return [...blocks].flatMap(([, name, content]) => (name === language ? [content ?? ''] : []));
}

/** The text without what is shown as code, where brackets are no links. */
export function withoutCode(text: string): string {
  return text.replace(/^ *```.*?^ *```/gms, '').replace(/`[^`\n]*`/g, (code) => 'x'.repeat(code.length));
}

/** The anchors that a forge makes of the headings. */
export function anchorsOf(text: string): string[] {
  const headings = text.replace(/^ *```.*?^ *```/gms, '').matchAll(/^#{1,6} (.+)$/gm);
  const seen = new Map<string, number>();
  return [...headings].map(([, heading]) => {
    const slug = (heading ?? '')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const earlier = seen.get(slug) ?? 0;
    seen.set(slug, earlier + 1);
    return earlier === 0 ? slug : `${slug}-${earlier}`;
  });
}

export function sorted(texts: readonly string[]): string[] {
  return [...texts].sort();
}
