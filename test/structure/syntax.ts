/** A little above the parser's tree: walking it, and telling lines from offsets. */
import { parseAst } from 'rolldown/parseAst';

/** A node of the syntax tree (ESTree with TypeScript): its kind, its place in the text, and its parts. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [part: string]: unknown;
}

/** Several checks read the same files, in one process. */
const parsed = new Map<string, SyntaxNode>();

/**
 * The syntax tree of a TypeScript or JavaScript file.
 * @throws with the path when the text does not parse.
 */
export function parse(path: string, text: string): SyntaxNode {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  try {
    const tree = parseAst(text, { lang: 'ts' }, path) as unknown as SyntaxNode;
    parsed.set(text, tree);
    return tree;
  } catch (error) {
    throw new Error(`${path} does not parse`, { cause: error });
  }
}

/** The node and everything below it, parents first. */
export function nodesOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  collectNodes(node, found);
  return found;
}

function collectNodes(node: SyntaxNode, found: SyntaxNode[]): void {
  found.push(node);
  for (const name in node) {
    const part = node[name];
    if (typeof part !== 'object' || part === null) continue;
    if (!Array.isArray(part)) {
      if (isNode(part)) collectNodes(part, found);
      continue;
    }
    for (const item of part) if (isNode(item)) collectNodes(item, found);
  }
}

export function isNode(part: unknown): part is SyntaxNode {
  return typeof part === 'object' && part !== null && typeof (part as SyntaxNode).type === 'string';
}

export function nodeAt(node: SyntaxNode, part: string): SyntaxNode {
  const value = node[part];
  if (!isNode(value)) throw new Error(`${node.type} has no node at ${part}`);
  return value;
}

/** A part that is a list; its holes are left out. */
export function listAt(node: SyntaxNode, part: string): SyntaxNode[] {
  const value = node[part];
  if (!Array.isArray(value)) throw new Error(`${node.type} has no list at ${part}`);
  return value.filter(isNode);
}

export function stringOf(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== 'Literal') return undefined;
  return typeof node['value'] === 'string' ? node['value'] : undefined;
}

/** The name of an identifier or of a quoted import or export name; undefined for any other node. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  return node.type === 'Identifier' ? (node['name'] as string) : stringOf(node);
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
