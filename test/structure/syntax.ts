/** A little above the parser's tree: walking it, and telling lines from offsets. */
import { parseAst } from 'rolldown/parseAst';

/** A node of the syntax tree (ESTree with TypeScript): its kind, its place in the text, and its parts. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [part: string]: unknown;
}

/**
 * The syntax tree of a TypeScript or JavaScript file.
 * @throws with the path when the text does not parse.
 */
export function parse(path: string, text: string): SyntaxNode {
  try {
    return parseAst(text, { lang: 'ts' }, path) as unknown as SyntaxNode;
  } catch (error) {
    throw new Error(`${path} does not parse`, { cause: error });
  }
}

/** The node and everything below it, parents first. */
export function* nodesOf(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const part of Object.values(node)) {
    for (const item of Array.isArray(part) ? part : [part]) if (isNode(item)) yield* nodesOf(item);
  }
}

/** Whether a part of a node is itself a node. */
export function isNode(part: unknown): part is SyntaxNode {
  return typeof part === 'object' && part !== null && typeof (part as SyntaxNode).type === 'string';
}

/** A part that must be a node. */
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

/** The text of a string literal, or undefined for any other node. */
export function stringOf(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== 'Literal') return undefined;
  return typeof node['value'] === 'string' ? node['value'] : undefined;
}

/** The name of an identifier or of a quoted import or export name; undefined for any other node. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  return node.type === 'Identifier' ? (node['name'] as string) : stringOf(node);
}

/** The line, counted from 1, on which an offset lies. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
