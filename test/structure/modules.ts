/** What a source file takes from others and gives to them, read from its syntax tree. */
import { posix } from 'node:path';
import { projectFiles, type TextFile } from './project-files.ts';
import {
  isNode,
  lineAt,
  listAt,
  nameOf,
  nodeAt,
  nodesOf,
  parse,
  type SyntaxNode,
  stringOf,
} from './syntax.ts';

/** One arrow from a module to another file of the project or to a package. */
export interface Import {
  /** As written, such as `../domain/money.ts` or `node:fs`. */
  specifier: string;
  /** Path from the project's root; undefined for packages. */
  target: string | undefined;
  /** The names taken; undefined where that cannot be told, as with `import * as` and `import()`. */
  names: string[] | undefined;
  /** How: at load, later by `import()`, only its types, or only its path (a worker, a file to serve). */
  kind: 'static' | 'dynamic' | 'type' | 'path';
  line: number;
}

/** One name a module gives. */
export interface Export {
  name: string;
  isType: boolean;
  /** Whether the module itself uses what it exports. */
  isUsedInside: boolean;
  line: number;
}

export interface Module {
  path: string;
  imports: Import[];
  exports: Export[];
}

export function projectModules(folders: string[]): Module[] {
  return projectFiles(new RegExp(`^(${folders.join('|')})/.*\\.(ts|js)$`)).map(readModule);
}

/** Whether a module is a test and not part of what runs. */
export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}

export function readModule({ path, text }: TextFile): Module {
  const tree = parse(path, text);
  const module: Module = { path, imports: [], exports: [] };
  const uses = new Map<string, number>();
  for (const node of nodesOf(tree)) {
    module.imports.push(...importsOf(path, node, text));
    const name = node.type === 'Identifier' ? nameOf(node) : undefined;
    if (name !== undefined) uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  // The source of an import is a literal too, and has been counted as the import it is.
  const imported = new Set(
    module.imports.flatMap(({ kind, specifier }) => (kind === 'path' ? [] : [specifier])),
  );
  module.imports = module.imports.filter(
    ({ kind, specifier }) => kind !== 'path' || !imported.has(specifier),
  );
  for (const statement of listAt(tree, 'body')) {
    const line = lineAt(text, statement.start);
    for (const { name, local, isType } of exportsOf(statement)) {
      // Its declaration is one mention; `export { local }` and `export { local as name }` are further ones.
      const byName = name === local ? 3 : 2;
      const declared = statement['declaration'] ? 1 : byName;
      module.exports.push({ name, isType, isUsedInside: (uses.get(local) ?? 0) > declared, line });
    }
  }
  return module;
}

function importsOf(path: string, node: SyntaxNode, text: string): Import[] {
  const make = (specifier: string, kind: Import['kind'], names: string[] | undefined): Import[] => {
    const isOwn = specifier.startsWith('./') || specifier.startsWith('../');
    const target = isOwn ? posix.join(posix.dirname(path), specifier) : undefined;
    return [{ specifier, target, names, kind, line: lineAt(text, node.start) }];
  };
  const specifier = stringOf(node['source']);
  switch (node.type) {
    case 'ImportDeclaration':
      return make(
        required(specifier),
        isTypeOnly(node, 'importKind') ? 'type' : 'static',
        importedNames(node),
      );
    case 'ExportNamedDeclaration':
      if (specifier === undefined) return [];
      return make(specifier, isTypeOnly(node, 'exportKind') ? 'type' : 'static', importedNames(node));
    case 'ExportAllDeclaration':
      return make(required(specifier), isTypeOnly(node, 'exportKind') ? 'type' : 'static', undefined);
    case 'ImportExpression':
      return specifier === undefined ? [] : make(specifier, 'dynamic', undefined);
    case 'TSImportType':
      return make(required(specifier), 'type', undefined);
    case 'Literal': {
      // Found again by whoever asks whether a file is used at all: `new URL('./worker.ts', import.meta.url)`.
      const value = stringOf(node);
      return value !== undefined && /^\.{1,2}\/[\w./-]+\.(ts|js)$/.test(value)
        ? make(value, 'path', undefined)
        : [];
    }
    default:
      return [];
  }
}

function required(specifier: string | undefined): string {
  if (specifier === undefined) throw new Error('an import without a source');
  return specifier;
}

function isTypeOnly(node: SyntaxNode, kind: 'importKind' | 'exportKind'): boolean {
  if (node[kind] === 'type') return true;
  const specifiers = Array.isArray(node['specifiers']) ? listAt(node, 'specifiers') : [];
  return specifiers.length > 0 && specifiers.every((specifier) => specifier[kind] === 'type');
}

function importedNames(node: SyntaxNode): string[] | undefined {
  const names: string[] = [];
  for (const specifier of listAt(node, 'specifiers')) {
    if (specifier.type === 'ImportNamespaceSpecifier') return undefined;
    if (specifier.type === 'ImportDefaultSpecifier') names.push('default');
    else names.push(nameOf(specifier['imported'] ?? specifier['local']) ?? 'default');
  }
  return names;
}

interface ExportedName {
  name: string;
  local: string;
  isType: boolean;
}

function exportsOf(statement: SyntaxNode): ExportedName[] {
  if (statement.type === 'ExportDefaultDeclaration')
    return [{ name: 'default', local: 'default', isType: false }];
  if (statement.type !== 'ExportNamedDeclaration') return [];
  if (isNode(statement['declaration'])) {
    const declaration = nodeAt(statement, 'declaration');
    const isType =
      declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration';
    return declaredNames(declaration).map((name) => ({ name, local: name, isType }));
  }
  return listAt(statement, 'specifiers').map((specifier) => {
    const local = nameOf(specifier['local']) ?? 'default';
    const isType = statement['exportKind'] === 'type' || specifier['exportKind'] === 'type';
    return { name: nameOf(specifier['exported']) ?? local, local, isType };
  });
}

function declaredNames(declaration: SyntaxNode): string[] {
  if (declaration.type !== 'VariableDeclaration') {
    const name = nameOf(declaration['id']);
    if (name === undefined) throw new Error(`an exported ${declaration.type} without a name`);
    return [name];
  }
  return listAt(declaration, 'declarations').flatMap((declarator) => patternNames(nodeAt(declarator, 'id')));
}

function patternNames(pattern: SyntaxNode): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern['name'] as string];
    case 'ObjectPattern':
      return listAt(pattern, 'properties').flatMap((property) =>
        patternNames(property.type === 'Property' ? nodeAt(property, 'value') : property),
      );
    case 'ArrayPattern':
      return listAt(pattern, 'elements').flatMap(patternNames);
    case 'AssignmentPattern':
      return patternNames(nodeAt(pattern, 'left'));
    case 'RestElement':
      return patternNames(nodeAt(pattern, 'argument'));
    default:
      throw new Error(`an unknown kind of pattern: ${pattern.type}`);
  }
}
