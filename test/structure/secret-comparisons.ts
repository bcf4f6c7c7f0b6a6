/** Where a secret is compared in a time that tells how much of it was right, as a check over the text of a file. */
import type { TextFile } from './project-files.ts';
import { lineAt, nameOf, nodeAt, nodesOf, parse, type SyntaxNode } from './syntax.ts';

/** Names whose values open or prove something; hashes of blocks and addresses of token contracts are public. */
const secretName =
  /(^|[a-z])(mac|Mac|signature|Signature|secret|Secret|secretKey|SecretKey|apiKey|ApiKey|plainKey|keyHash|KeyHash|ipnToken|IpnToken|password|Password|privateKey|PrivateKey)$/;
const equality = new Set(['===', '!==', '==', '!=']);
/** Methods that compare text with text from the front. */
const comparing = new Set([
  'startsWith',
  'endsWith',
  'includes',
  'indexOf',
  'localeCompare',
  'equals',
  'compare',
]);

/** Every comparison of something named like a secret with anything but a constant: `path:line text`. */
export function secretComparisons({ path, text }: TextFile): string[] {
  const found: string[] = [];
  for (const node of nodesOf(parse(path, text))) {
    if (!(comparesSecrets(node) || callsComparison(node))) continue;
    found.push(`${path}:${lineAt(text, node.start)} ${text.slice(node.start, node.end)}`);
  }
  return found;
}

function comparesSecrets(node: SyntaxNode): boolean {
  if (node.type !== 'BinaryExpression' || !equality.has(String(node['operator']))) return false;
  const sides = [nodeAt(node, 'left'), nodeAt(node, 'right')];
  return sides.some(isSecret) && !sides.some(isConstant);
}

function callsComparison(node: SyntaxNode): boolean {
  if (node.type !== 'CallExpression') return false;
  const callee = nodeAt(node, 'callee');
  if (callee.type !== 'MemberExpression' || !comparing.has(nameOf(callee['property']) ?? '')) return false;
  const [argument] = node['arguments'] as SyntaxNode[];
  if (argument === undefined || isConstant(argument)) return false;
  return isSecret(nodeAt(callee, 'object')) || isSecret(argument);
}

/** A name, or a member of that name. */
function isSecret(node: SyntaxNode): boolean {
  const name = node.type === 'MemberExpression' ? nameOf(node['property']) : nameOf(node);
  return name !== undefined && secretName.test(name);
}

/** `null`, `undefined`, a text or number that stands in the code, a `typeof`. */
function isConstant(node: SyntaxNode): boolean {
  return (
    node.type === 'Literal' ||
    nameOf(node) === 'undefined' ||
    (node.type === 'UnaryExpression' && node['operator'] === 'typeof')
  );
}
