import { expect, it } from 'vitest';
import { projectFiles } from './project-files.ts';
import { rawInsertions } from './raw-html.ts';

/** Files that may insert text unescaped, and why that is safe. */
const allowed: Record<string, string> = {};

const files = projectFiles(/^(src|simulators|receiver-grader|docs-site|verifier|examples)\/.*\.ts$/);

it('inserts into a page unescaped only what was escaped before, outside a list with reasons', () => {
  expect(files.filter(({ path }) => allowed[path] === undefined).flatMap(rawInsertions)).toEqual([]);
});

it('allows no file that has stopped needing it', () => {
  const needed = new Set(files.filter((file) => rawInsertions(file).length > 0).map(({ path }) => path));
  expect(Object.keys(allowed).filter((path) => !needed.has(path))).toEqual([]);
});

const insert = (expression: string) => `!\${${expression}}`;
const inPage = (expression: string) =>
  rawInsertions({ path: 'a.ts', text: `html\`<p>${insert(expression)}</p>\`` });

it.each([
  'name',
  'header()',
  'isPaid && name',
  "isPaid ? html`<b>${name}</b>` : 'x'",
  'isPaid ? name : ""',
  'names.map((name) => name)',
  'names.join("")',
  '`<b>${name}</b>`',
])('catches %s being inserted unescaped', (expression) => {
  expect(inPage(expression)).toHaveLength(1);
});

it.each([
  'html`<b>${name}</b>`',
  "isPaid ? html`<b>paid</b>` : ''",
  'names.map((name) => html`<li>${name}</li>`)',
  "names.map((name) => html`<li>${name}</li>`).join('')",
])('lets %s in, which was escaped where it was written', (expression) => {
  expect(inPage(expression)).toEqual([]);
});

it('catches the mark in text that is no page, and in a page within a page', () => {
  expect(rawInsertions({ path: 'a.ts', text: `\`Hi${insert('name')}\`` })).toEqual(['a.ts:1 name']);
  expect(inPage(`html\`${insert('name')}\``)).toHaveLength(1);
});
