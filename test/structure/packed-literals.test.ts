import { expect, it } from 'vitest';
import { projectFiles, type TextFile } from './project-files.ts';
import { isNode, lineAt, nodesOf, parse, type SyntaxNode } from './syntax.ts';

/** The lists in which a spread adds items, by the kind of node. */
const listOf: Readonly<Record<string, string>> = {
  ArrayExpression: 'elements',
  CallExpression: 'arguments',
  NewExpression: 'arguments',
  ObjectExpression: 'properties',
};

/** Lines that spread a literal in place, as `...[a, b]` or `...{ a, b }`: the items can stand there themselves. */
function packedLiterals({ path, text }: TextFile): string[] {
  return nodesOf(parse(path, text)).flatMap((node) => {
    const items = node[listOf[node.type] ?? ''];
    const literal = node.type === 'ObjectExpression' ? 'ObjectExpression' : 'ArrayExpression';
    return (Array.isArray(items) ? items.filter(isNode) : [])
      .filter((item) => item.type === 'SpreadElement' && withoutType(item['argument']).type === literal)
      .map((item) => `${path}:${lineAt(text, item.start)}`);
  });
}

/** What stands in parentheses and before `as const`. */
function withoutType(argument: unknown): SyntaxNode {
  const node = argument as SyntaxNode;
  return /^(TSAsExpression|TSSatisfiesExpression|ParenthesizedExpression)$/.test(node.type)
    ? withoutType(node['expression'])
    : node;
}

it('no literal is packed onto one line by a spread', () => {
  const files = projectFiles(/\.(ts|js|mjs)$/);
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap(packedLiterals)).toEqual([]);
});

it.each([
  ['const a = [...[b, c], d];', 1],
  ['const a = { ...{ b, c }, d };', 1],
  ["const a = [...(['b', 'c'] as const), ...[d]];", 2],
  ['call(...[a, b]); new Thing(...[a]);', 2],
  ['const a = [...b, ...(c ? [d] : []), ...[1, 2].map(e)];', 0],
  ['const a = { ...b, ...(c === null ? {} : { c }) };', 0],
])('the check itself: %s holds %i', (text, count) => {
  expect(packedLiterals({ path: 'a.ts', text })).toHaveLength(count);
});
