import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/domain/errors.ts';
import { projectFiles } from '../structure/project-files.ts';
import { read, tableRows } from './markdown.ts';

const page = read('docs/troubleshooting.md');
const rows = tableRows(page);
const quoted = rows.flatMap(([first]) => /^`(.+)`$/.exec(first ?? '')?.[1] ?? []);

const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/.source;
const literals = `(?:${literal})(?:\\s*\\+\\s*(?:${literal}))*`;

/** The texts that match, as a reader meets them: pieces joined, each value an ellipsis, without backquotes. */
function messagesIn(file: string, before: string): string[] {
  const found = read(file).matchAll(new RegExp(`${before}\\s*(${literals})`, 'g'));
  return [...found].map(([, expression]) =>
    [...(expression ?? '').matchAll(new RegExp(literal, 'g'))]
      .map(([piece]) => piece.slice(1, -1).replace(/\$\{[^}]*\}/g, '…'))
      .join('')
      .replaceAll('\\`', '')
      .replaceAll('`', ''),
  );
}

/** What ends a start or a command before the service runs. */
const configurationFiles = projectFiles(/^src\/config(?:-network|-reader)?\.ts$/).map(({ path }) => path);
const startFiles = [
  'src/app/back-up.ts',
  'src/app/live-services.ts',
  'src/app/log.ts',
  'src/app/move-store.ts',
  'src/app/run-until-stopped.ts',
  'src/app/start-service.ts',
];
const refusals = [
  ...configurationFiles.flatMap((file) => messagesIn(file, 'refuse\\(')),
  ...startFiles.flatMap((file) => messagesIn(file, 'Error\\(\\[?')),
  ...messagesIn('src/chain/verify-deployment.ts', '(?:problems\\.push|MismatchError)\\(\\[?'),
  ...messagesIn('scripts/setup.js', 'fail\\('),
];

describe('troubleshooting', () => {
  it('explains each refusal of the configuration, the start and the set-up', () => {
    expect(refusals.length).toBeGreaterThan(60);
    expect(refusals.filter((message) => !quoted.includes(message))).toEqual([]);
  });

  it('quotes no message that the source does not have', () => {
    const files = projectFiles(/^(?:src\/.*\.ts|scripts\/setup\.js)$/).flatMap(({ path }) =>
      path.endsWith('.test.ts') ? [] : [path],
    );
    const known = new Set(files.flatMap((file) => messagesIn(file, '')));
    const messages = quoted.filter((text) => text.includes(' '));
    expect(messages.filter((message) => !known.has(message))).toEqual([]);
  });

  it('explains each code of the table of errors', () => {
    const codes = Object.values(errorTable).flatMap(({ code }) => code ?? []);
    expect(codes.filter((code) => !quoted.includes(code))).toEqual([]);
  });

  it('has no row without an answer, and none twice', () => {
    expect(rows.filter((cells) => cells.some((cell) => cell === ''))).toEqual([]);
    expect(new Set(quoted).size).toBe(quoted.length);
  });
});
