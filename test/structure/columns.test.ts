import { expect, it } from 'vitest';
import { tables } from '../../src/app/store/store.ts';
import type { Table } from '../../src/store/columns.ts';
import { projectFiles, type TextFile } from './project-files.ts';
import { isNode, lineAt, listAt, nameOf, nodesOf, parse, type SyntaxNode } from './syntax.ts';

/** Tables of fewer columns are named in full by statements that need just them. */
const FEWEST_COLUMNS = 6;
/** A list or statement that names this part of a table's columns would have to change with a new one. */
const TELLING_PART = 0.75;

const described = tables.filter(({ columns }) => columns.length >= FEWEST_COLUMNS);
const stores = projectFiles(/^src\/store\/.*(?<!\.test|\/tables|\/migration)\.ts$/);

/** Lists, objects and texts that name most columns of a table, or most fields of its entity. */
function secondLists({ path, text }: TextFile): string[] {
  const found = nodesOf(parse(path, text)).flatMap((node) => {
    const names = new Set(namesIn(node, text));
    return described
      .filter((table) => isTold(table, names))
      .map(({ name }) => `${path}:${lineAt(text, node.start)} lists the columns of ${name}`);
  });
  return [...new Set(found)];
}

function isTold({ columns }: Table, names: ReadonlySet<string>): boolean {
  const told = columns.filter(({ name, field }) => names.has(name) || (field !== null && names.has(field)));
  return told.length >= columns.length * TELLING_PART;
}

function namesIn(node: SyntaxNode, text: string): string[] {
  switch (node.type) {
    case 'TemplateLiteral':
    case 'Literal':
      return text.slice(node.start, node.end).match(/\w+/g) ?? [];
    case 'ObjectExpression':
    case 'ObjectPattern':
      return listAt(node, 'properties').flatMap((property) => nameOf(property['key']) ?? []);
    case 'ArrayExpression':
      return listAt(node, 'elements').flatMap(nameOfValue);
    case 'CallExpression':
      return listAt(node, 'arguments').flatMap(nameOfValue);
    default:
      return [];
  }
}

/** `'name'`, `name`, `entity.name`, `entity.name.toString()`, or a pair that begins with one. */
function nameOfValue(node: SyntaxNode): string[] {
  if (node.type === 'MemberExpression') {
    const property = nameOf(node['property']);
    const object = node['object'];
    return [...(property === undefined ? [] : [property]), ...(isNode(object) ? nameOfValue(object) : [])];
  }
  if (node.type === 'CallExpression' && isNode(node['callee'])) return nameOfValue(node['callee']);
  if (node.type === 'ArrayExpression') return listAt(node, 'elements').slice(0, 1).flatMap(nameOfValue);
  return nameOf(node) === undefined ? [] : [nameOf(node) as string];
}

it('names the columns of a table in one place besides the schemas', () => {
  expect(described.length).toBeGreaterThan(10);
  expect(stores.length).toBeGreaterThan(30);
  expect(stores.flatMap(secondLists)).toEqual([]);
});

it('catches a second list', () => {
  const text =
    'const sql = `INSERT INTO releases (transaction_hash, log_index, block_number, fee_units, payment_id)`;';
  expect(secondLists({ path: 'a.ts', text })).toContain('a.ts:1 lists the columns of releases');
});
