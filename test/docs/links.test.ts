import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, documents, read, root, withoutCode } from './markdown.ts';

interface Link {
  readonly from: string;
  readonly target: string;
}

const links = documents.flatMap(({ path, text }): Link[] =>
  [...withoutCode(text).matchAll(/\]\(<?([^)\s>]+)>?\)/g)].map(([, target]) => ({
    from: path,
    target: target ?? '',
  })),
);

function faultOf({ from, target }: Link): string | null {
  if (/^https?:/.test(target)) return null;
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : posix.join(posix.dirname(from), decodeURIComponent(file));
  if (!existsSync(join(root, path))) return `${from} links to ${target}, which does not exist`;
  if (anchor === undefined) return null;
  const isText = statSync(join(root, path)).isFile() && path.endsWith('.md');
  return isText && anchorsOf(read(path)).includes(anchor)
    ? null
    : `${from} links to ${target}: no such heading`;
}

it('leads every relative link and anchor of every document to something that exists', () => {
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
});

it('says what every picture shows to those who cannot see it', () => {
  const pictures = documents.flatMap(({ path, text }) =>
    [...withoutCode(text).matchAll(/!\[([^\]]*)\]\(/g)].map(([, words]) => ({ path, words: words ?? '' })),
  );
  expect(pictures.length).toBeGreaterThan(0);
  expect(pictures.filter(({ words }) => words.length < 20)).toEqual([]);
  expect(read('docs/images/flow.svg')).toMatch(/<title[^>]*>.+<\/title>\s*<desc[^>]*>.+<\/desc>/);
});

it('numbers the decisions in order without gaps, the same in name and heading', () => {
  const decisions = documents.filter(({ path }) => path.startsWith('docs/decisions/'));
  const numbers = decisions.map(({ path }) => posix.basename(path).slice(0, 4)).sort();
  expect(numbers.length).toBeGreaterThan(20);
  expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')));
  const hasOtherHeading = (path: string, text: string) =>
    !text.startsWith(`# ${posix.basename(path).slice(0, 4)}: `);
  expect(decisions.filter(({ path, text }) => hasOtherHeading(path, text))).toEqual([]);
});
