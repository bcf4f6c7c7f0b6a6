/**
 * How long a function and a file may be, as a check over the text of a file. Lines of code count; blank lines and
 * comments do not, so that nobody saves on them.
 */
import type { TextFile } from './project-files.ts';
import { nameOf, nodeAt, nodesOf, parse, type SyntaxNode } from './syntax.ts';

const longestFunctionLines = 70;
const longestFileLines = 300;

/** What is longer than a reader can keep in mind: `path` or `path#function`, and how many lines of code it has. */
export interface TooLong {
  what: string;
  lines: number;
}

/** The file itself and every function in it that are too long. */
export function tooLong({ path, text }: TextFile): TooLong[] {
  const found: TooLong[] = [];
  const fileLines = linesOfCode(text);
  if (fileLines > longestFileLines) found.push({ what: path, lines: fileLines });
  const names = new Map<SyntaxNode, string>();
  for (const node of nodesOf(parse(path, text))) {
    if (node.type === 'VariableDeclarator' && node['init']) {
      names.set(nodeAt(node, 'init'), nameOf(node['id']) ?? 'anonymous');
    }
    if ((node.type === 'Property' || node.type === 'MethodDefinition') && node['value']) {
      names.set(nodeAt(node, 'value'), nameOf(node['key']) ?? 'anonymous');
    }
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) continue;
    const lines = linesOfCode(text.slice(node.start, node.end));
    const name = nameOf(node['id']) ?? names.get(node) ?? 'anonymous';
    if (lines > longestFunctionLines) found.push({ what: `${path}#${name}`, lines });
  }
  return found;
}

function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line)).length;
}
