import { expect, it } from 'vitest';
import { projectFiles, type TextFile } from './project-files.ts';

const files = projectFiles(/./);

/** Every line on which the pattern occurs, as `path:line text`. */
function linesWith(pattern: RegExp, where: TextFile[]): string[] {
  return where.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1} ${line.trim().slice(0, 160)}`] : [],
      ),
  );
}

// Written in pieces, so that this file does not find itself.
const unfinished = new RegExp(`\\b(${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')})\\b`);
const leftOut =
  /\b(it|test|describe|bench)(\.\w+)*\.(skip|only|todo|skipIf|runIf|fails)\b|\b(xit|xdescribe|fit|fdescribe)\(/;
const leftOutSolidity = /\bvm\.skip\(/;
const machinePath = /(?<![\w.-])\/(work|root|tmp|Users\/\w+|home\/\w+)\//;
const registryHost = /https?:\/\/[^\s"'`)]*\bregistry\b|"resolved": "https?:/;

it('reads the whole project', () => {
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      'package.json',
      '.ci/run',
      'bin/card-checkout.js',
      'test/structure/text.test.ts',
    ]),
  );
  expect(files.some(({ path }) => path.includes('node_modules/') || path.startsWith('.git/'))).toBe(false);
});

it('checks the types of no folder that git ignores, such as what `npm pack` leaves', () => {
  const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? '';
  const { include, exclude } = JSON.parse(textOf('tsconfig.json')) as Record<'include' | 'exclude', string[]>;
  const ignoredFolders = textOf('.gitignore')
    .split('\n')
    .filter((line) => line.endsWith('/'))
    .map((line) => line.slice(0, -1));
  const checked = ignoredFolders.filter((folder) => include.includes(folder.split('/')[0] ?? ''));
  expect(checked).toContain('sdk/dist');
  expect(checked.filter((folder) => !exclude.includes(folder))).toEqual([]);
});

it('promises nothing for later in a comment', () => {
  expect(linesWith(unfinished, files)).toEqual([]);
  expect(unfinished.test(`// ${['TO', 'DO'].join('')}: later`)).toBe(true);
});

it('leaves no test out and runs none alone', () => {
  const tests = files.filter(({ path }) => path.endsWith('.test.ts'));
  const solidity = files.filter(({ path }) => path.endsWith('.sol'));
  expect([...linesWith(leftOut, tests), ...linesWith(leftOutSolidity, solidity)]).toEqual([]);
  for (const method of ['skip', 'only', 'todo']) {
    expect(leftOut.test(`it.${method}('…')`)).toBe(true);
    expect(leftOut.test(`describe.concurrent.${method}('…')`)).toBe(true);
  }
  expect(leftOut.test("it('skips what it must')")).toBe(false);
});

it('names no path of the machine it was written on, and no package registry', () => {
  const others = files.filter(({ path }) => path !== 'test/structure/text.test.ts');
  expect([...linesWith(machinePath, others), ...linesWith(registryHost, others)]).toEqual([]);
  for (const line of [`cd /${'work'}/main`, 'open(/tmp/x)', '"/home/someone/x"', '"/Users/me/x"']) {
    expect(machinePath.test(line)).toBe(true);
  }
  for (const line of [`src/${'work'}/x`, './tmp/x', 'https://example.com/home', '/data/x']) {
    expect(machinePath.test(line)).toBe(false);
  }
  expect(registryHost.test('"resolved": "https://registry.example/x.tgz"')).toBe(true);
});

it('writes "email" in English, without a hyphen', () => {
  const hyphenated = /\b[eE]-mail/;
  const ownSpelling = /^locales\/(fr|it|nl|pt)\.ts$|^test\/structure\/text\.test\.ts$/;
  const english = files.filter(({ path }) => !ownSpelling.test(path));
  expect(linesWith(hyphenated, english)).toEqual([]);
  expect(hyphenated.test('your e-mail address')).toBe(true);
  expect(hyphenated.test('--trouble-mails Ihre E-Mail-Adresse')).toBe(false);
});

it('gives each function of the service one kind of answer, a value or a promise', () => {
  const twoKinds = /\binstanceof Promise\b|[^=>]\| Promise<|Promise<[^()]*> \| (?!null\b|undefined\b)\w/;
  const sources = files.filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path));
  expect(linesWith(twoKinds, sources)).toEqual([]);
  for (const line of [
    'take(): number | Promise<number>;',
    'f: () => Promise<boolean> | boolean',
    'x instanceof Promise',
  ]) {
    expect(twoKinds.test(line), line).toBe(true);
  }
  expect(twoKinds.test('let closed: Promise<void> | null = null;')).toBe(false);
});
