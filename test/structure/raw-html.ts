/** Where a page puts text in without escaping it, as a check over the text of a file. */
import type { TextFile } from './project-files.ts';
import { isNode, lineAt, listAt, nameOf, nodeAt, nodesOf, parse, type SyntaxNode } from './syntax.ts';

/**
 * Every `!${…}` whose inside is not visibly markup that was escaped where it was written: an `html` template,
 * nothing, or a choice, list or joining of such. In a template of another kind the mark means nothing to the
 * templates and stands one careless copy away from meaning it, so it is listed too.
 */
export function rawInsertions({ path, text }: TextFile): string[] {
  // Most files have no such mark, however they are read.
  if (!text.includes('!${')) return [];
  const found: string[] = [];
  const pages = new Set<SyntaxNode>();
  for (const node of nodesOf(parse(path, text))) {
    if (isHtml(node)) pages.add(nodeAt(node, 'quasi'));
    if (node.type !== 'TemplateLiteral') continue;
    const expressions = listAt(node, 'expressions');
    for (const [index, quasi] of listAt(node, 'quasis').entries()) {
      const inserted = expressions[index];
      if (inserted === undefined || !(quasi['value'] as { raw: string }).raw.endsWith('!')) continue;
      if (pages.has(node) && isMarkup(inserted)) continue;
      found.push(`${path}:${lineAt(text, inserted.start)} ${text.slice(inserted.start, inserted.end)}`);
    }
  }
  return found;
}

function isHtml(node: SyntaxNode): boolean {
  return node.type === 'TaggedTemplateExpression' && nameOf(node['tag']) === 'html';
}

/** Whether an expression can only be markup whose insertions were escaped. */
function isMarkup(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'TaggedTemplateExpression':
      return isHtml(node);
    case 'Literal':
      return node['value'] === '' || node['value'] === null;
    case 'ConditionalExpression':
      return isMarkup(nodeAt(node, 'consequent')) && isMarkup(nodeAt(node, 'alternate'));
    case 'ParenthesizedExpression':
      return isMarkup(nodeAt(node, 'expression'));
    case 'ArrayExpression':
      return listAt(node, 'elements').every(isMarkup);
    case 'CallExpression':
      return isMarkupList(node);
    default:
      return false;
  }
}

/** `list.map((item) => html`…`)` and `….join('')`. */
function isMarkupList(call: SyntaxNode): boolean {
  const callee = nodeAt(call, 'callee');
  if (callee.type !== 'MemberExpression') return false;
  const method = nameOf(callee['property']);
  const [argument] = listAt(call, 'arguments');
  if (method === 'join') return isMarkup(nodeAt(callee, 'object'));
  if (method !== 'map' || argument?.type !== 'ArrowFunctionExpression') return false;
  return isNode(argument['body']) && isMarkup(nodeAt(argument, 'body'));
}
