import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { readScript } from './page-style.ts';

const root = join(import.meta.dirname, '../../..');
const scripts = globSync('src/web/{checkout-layout,signed-in}/client/*.js', { cwd: root });

/** Returns the syntax tree without positions, comments and the parentheses of JSDoc casts. */
function treeOf(text: string): unknown {
  return JSON.parse(
    JSON.stringify(parseAst(text, { lang: 'js', preserveParens: false }), (name, value) =>
      name === 'start' || name === 'end' || name === 'comments' ? undefined : value,
    ),
  );
}

it.each(scripts)('leaves out nothing that %s does', (path) => {
  const file = join(root, path);
  const short = readScript(pathToFileURL(file));
  expect(treeOf(short)).toEqual(treeOf(readFileSync(file, 'utf8')));
  expect(short).not.toMatch(/\/\*\*|^ |^\s*\/\//m);
});

it('finds the scripts of checkout and dashboard', () => {
  expect(scripts).toContain('src/web/checkout-layout/client/follow-payment.js');
  expect(scripts.length).toBeGreaterThan(5);
});
