/** The samples of one operation in several languages: how they are shown, in which colors, and that each can be parsed. `test/sdk/samples.test.ts` runs them. */
import { spawnSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { contrastOf } from '../../src/accounts/brand-color.ts';
import { renderMarkdown } from '../../src/pages/docs/render-markdown.ts';
import { codeBlocks, read } from './markdown.ts';

const text = read('docs/api.md');
const pages = [text, read('docs/webhooks.md'), read('docs/merchant-api.md')];

it('shows the samples of an operation below one another, each with its language', () => {
  const page = { file: 'docs/api.md' };
  const markup = renderMarkdown({ page, pages: [], baseUrl: 'https://pay.test' }, text).toString();
  const names = [...markup.matchAll(/<p class="language">(\w+)<\/p>/g)].map(([, name]) => name);
  const languages = ['curl', 'TypeScript', 'Python', 'PHP'];
  expect(names).toEqual([...languages, ...languages]);
  expect(markup.match(/class="samples"/g)).toHaveLength(2);
  expect(markup).toContain('https://pay.test/api/v1/payment-status');
  expect(markup).not.toContain('localhost:3000');
  expect(markup).toContain('<span class="word-keyword">import</span>');
  expect(markup).not.toContain('style=');
  // The lines of a sample stay lines.
  expect(markup).not.toContain('\\n');
  expect(markup).toMatch(/\{\n {2}<span class="word-property">/);
});

it.each([
  ['bash', 'sh', ['-n']],
  ['python3', 'python', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())']],
  ['php', 'php', ['-l']],
] as const)('has samples that %s can parse', (command, language, options) => {
  const blocks = pages.flatMap((page) => codeBlocks(page, language));
  expect(blocks.length).toBeGreaterThan(0);
  if (spawnSync(command, ['--version']).status !== 0) {
    console.warn(`not checked: the samples in ${language}, because ${command} is not installed here`);
    return;
  }
  for (const block of blocks) {
    const input = language === 'php' ? `<?php\n${block}` : block;
    const { status, stderr } = spawnSync(command, options, { input, encoding: 'utf8', timeout: 30_000 });
    expect(status, stderr).toBe(0);
  }
});

it('has samples in TypeScript whose types can be stripped', () => {
  const blocks = pages.flatMap((page) => codeBlocks(page, 'ts'));
  expect(blocks).toHaveLength(6);
  for (const block of blocks) expect(stripTypeScriptTypes(block)).toContain("from '@card-checkout/sdk'");
});

it('has colors of words that can be read on the sheet of a sample, light and dark', () => {
  const [light = '', dark = ''] = read('src/web/design/tokens.css').split(
    '@media (prefers-color-scheme: dark)',
  );
  const rules = read('src/pages/docs/docs.css').matchAll(/\.word-(\w+)[^{]*\{\s*color: var\(--(\w+)\)/g);
  const tokens = [...rules].map(([, , token = '']) => token);
  expect(tokens).toEqual(['accent', 'good', 'soft', 'warn']);
  for (const theme of [light, dark]) {
    const colorOf = (token: string) => new RegExp(`--${token}: (#[0-9a-f]{6})`).exec(theme)?.[1] ?? '';
    expect(tokens.filter((token) => contrastOf(colorOf(token), colorOf('sheet')) < 4.5)).toEqual([]);
  }
});
