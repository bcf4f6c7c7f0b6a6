/** The samples of one operation in several languages: how they are shown, and in which colors. `test/sdk/samples.test.ts` runs them. */
import { expect, it } from 'vitest';
import { renderMarkdown } from '../../src/pages/docs/render-markdown.ts';
import { read } from './markdown.ts';

const text = read('docs/api.md');

it('shows the samples of an operation by language, the first one open', () => {
  const page = { file: 'docs/api.md' };
  const markup = renderMarkdown({ page, pages: [], baseUrl: 'https://pay.test' }, text).toString();
  const names = [...markup.matchAll(/<summary>(\w+)<\/summary>/g)].map(([, name]) => name);
  const languages = ['curl', 'TypeScript', 'Python', 'PHP'];
  expect(names).toEqual([...languages, ...languages]);
  expect(markup.match(/class="samples">\n<details [^>]* open>/g)).toHaveLength(2);
  expect(markup).toContain('https://pay.test/api/v1/payment-status');
  expect(markup).not.toContain('localhost:3000');
  expect(markup).toContain('<span class="word-keyword">import</span>');
  expect(markup).not.toContain('style=');
  expect(markup).not.toContain('\\n');
  expect(markup).toMatch(/\{\n {2}<span class="word-property">/);
});
