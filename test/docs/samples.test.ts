/** The samples of one operation in several languages: how they are shown, and that each can be parsed. */
import { spawnSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { renderMarkdown } from '../../docs-site/render-markdown.ts';
import { codeBlocks, read } from './markdown.ts';

const text = read('docs/api.md');

it('shows the samples of an operation below one another, each with its language', () => {
  const page = { file: 'docs/api.md' };
  const markup = renderMarkdown({ page, pages: [], baseUrl: 'https://pay.test' }, text).toString();
  const names = [...markup.matchAll(/<p class="language">(\w+)<\/p>/g)].map(([, name]) => name);
  expect(names).toEqual(['curl', 'TypeScript', 'Python', 'PHP']);
  expect(markup.match(/class="samples"/g)).toHaveLength(1);
  expect(markup).toContain('https://pay.test/api/v1/payment-status');
  expect(markup).not.toContain('localhost:3000');
  expect(markup).toContain('<span class="word-keyword">import</span>');
  expect(markup).not.toContain('style=');
});

it.each([
  ['bash', 'sh', ['-n']],
  ['python3', 'python', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())']],
  ['php', 'php', ['-l']],
] as const)('has samples that %s can parse', (command, language, options) => {
  const blocks = codeBlocks(text, language);
  expect(blocks.length).toBeGreaterThan(0);
  if (spawnSync(command, ['--version']).status !== 0) {
    console.warn(`not checked: the ${language} in docs/api.md, because ${command} is not installed here`);
    return;
  }
  for (const block of blocks) {
    const input = language === 'php' ? `<?php\n${block}` : block;
    const { status, stderr } = spawnSync(command, options, { input, encoding: 'utf8', timeout: 30_000 });
    expect(status, stderr).toBe(0);
  }
});

it('has samples in TypeScript whose types can be stripped', () => {
  const blocks = codeBlocks(text, 'ts');
  expect(blocks).toHaveLength(1);
  for (const block of blocks) expect(stripTypeScriptTypes(block)).toContain('await fetch(');
});
