/**
 * Keeps the documentation true to the code: rewrites what stands between markers, and whole files that are made.
 *   node tools/docs.ts           writes
 *   node tools/docs.ts --check   writes nothing, fails when something would change
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { discrepancyKinds } from '../src/cli/verify/discrepancies.ts';
import { refundDiscrepancies } from '../src/features/refunds/refund.ts';
import { commandSections } from './docs-commands.ts';
import { errorRows } from './docs-errors.ts';
import { createParameterTable, statusParameterTable } from './docs-parameters.ts';
import { findingTables, goalTable } from './docs-performance.ts';
import { pythonTypes, sdkTypes } from './docs-sdk-types.ts';
import { eventTable, stateTable, transitionTable } from './docs-states.ts';
import {
  environmentExample,
  providerEvidence,
  providerVariableTable,
  variableTable,
} from './docs-variables.ts';
import { meanings } from './markdown.ts';

const root = join(import.meta.dirname, '..');

/** Text between `<!-- generated: name -->` and `<!-- end: name -->`, by file and name. */
const parts: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/payment-lifecycle.md': {
    states: stateTable,
    events: eventTable,
    transitions: transitionTable,
  },
  'docs/api.md': { parameters: createParameterTable, status: statusParameterTable },
  'docs/errors.md': { errors: errorRows },
  'docs/configuration.md': { variables: variableTable, providers: providerVariableTable },
  'docs/command-line.md': { commands: commandSections },
  'docs/performance.md': { goals: goalTable, findings: findingTables },
  'docs/providers.md': { evidence: providerEvidence },
  'docs/reliability.md': {
    discrepancies: () => meanings(['`what`', 'meaning'], { ...discrepancyKinds, ...refundDiscrepancies }),
  },
};

/** Files that are generated as a whole. */
const files: Readonly<Record<string, () => string>> = {
  '.env.example': environmentExample,
  'sdk/src/wire.ts': sdkTypes,
  'sdk-python/src/card_checkout/_types.py': pythonTypes,
};

/** All generated files, and files with generated parts, that are out of date. */
function findStaleFiles(): readonly { readonly path: string; readonly text: string }[] {
  const wanted = [
    ...Object.entries(files).map(([path, make]) => ({ path, text: make() })),
    ...Object.entries(parts).map(([path, made]) => ({ path, text: withParts(path, made) })),
  ];
  return wanted.filter(({ path, text }) => read(path) !== text);
}

function withParts(path: string, made: Readonly<Record<string, () => string>>): string {
  let text = read(path) ?? '';
  for (const [name, make] of Object.entries(made)) text = replacePart(path, text, name, make());
  return text;
}

/** Replaces the text between two markers. Throws unless each marker occurs once, in order. */
function replacePart(path: string, text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const [before, rest, ...others] = text.split(begin);
  const [old, after, ...ends] = (rest ?? '').split(end);
  if (rest === undefined || old === undefined || after === undefined || others.length + ends.length > 0) {
    throw new Error(`${path} must have "${begin}" and then "${end}", each once`);
  }
  return `${before}${begin}\n\n${part}\n\n${end}${after}`;
}

function read(path: string): string | null {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function main(isCheck: boolean): void {
  const stale = findStaleFiles();
  for (const { path, text } of stale) {
    if (isCheck) console.error(`${path} is not what the code says now.`);
    else {
      writeFileSync(join(root, path), text);
      console.log(`wrote ${path}`);
    }
  }
  if (stale.length === 0) console.log('The documentation is what the code says.');
  else if (isCheck) {
    console.error('Run: npm run docs');
    process.exitCode = 1;
  }
}

if (import.meta.main) main(process.argv.includes('--check'));
