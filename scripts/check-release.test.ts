import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readReleasedPackages, releaseProblems } from './check-release.ts';

const root = join(import.meta.dirname, '..');
const packages = {
  repositoryUrl: 'git+https://forge.example/owner/card-checkout.git',
  software: {
    folder: '',
    version: '1.2.3',
    changeSets: [],
    changelog: '# Changelog\n\n## 1.2.3\n\n- a\n\n## 1.2.2\n\n- b\n',
  },
  sdk: {
    folder: 'sdk/',
    version: '0.4.0',
    changeSets: [],
    changelog: '# SDK\n\n## 0.4.0\n\n### Minor Changes\n\n- a\n',
  },
};

it('lets a tag through that names the version with which the changelog of its package begins', () => {
  expect(releaseProblems('v1.2.3', packages)).toEqual([]);
  expect(releaseProblems('sdk-v0.4.0', packages)).toEqual([]);
});

it('stops a release while nobody has filled in the address of the repository', () => {
  expect(releaseProblems('v1.2.3', { ...packages, repositoryUrl: '' })).toEqual([
    'package.json has no repository.url: fill it in, once',
  ]);
});

it.each([
  ['v1.2', 'names no semantic version'],
  ['1.2.3', 'names no semantic version'],
  ['v01.2.3', 'names no semantic version'],
  ['v1.2.4', 'the package has the version 1.2.3'],
  ['v0.4.0', 'the package has the version 1.2.3'],
  ['sdk-v1.2.3', 'the package has the version 0.4.0'],
])('stops %s', (tag, problem) => {
  expect(releaseProblems(tag, packages).join()).toContain(problem);
});

it.each([
  ['is there but not the newest', '## 1.2.4\n\n- a\n\n## 1.2.3\n\n- b\n'],
  ['is not released', '## 1.2.3 (unreleased)\n\n- a\n'],
  ['is missing', ''],
  ['is empty', '## 1.2.3\n\n### Minor Changes\n\n## 1.2.2\n\n- b\n'],
])('stops a version whose section %s', (_, changelog) => {
  const software = { ...packages.software, changelog: `# Changelog\n\n${changelog}` };
  expect(releaseProblems('v1.2.3', { ...packages, software })).toEqual([
    'CHANGELOG.md does not begin with a section "## 1.2.3" that says something',
  ]);
});

it('stops a package while one of its change sets waits, and not the other package', () => {
  const sdk = { ...packages.sdk, changeSets: ['calm-otters-sing.md'] };
  expect(releaseProblems('sdk-v0.4.0', { ...packages, sdk })).toEqual([
    'sdk/.changeset/calm-otters-sing.md waits for `npx changeset version`',
  ]);
  expect(releaseProblems('v1.2.3', { ...packages, sdk })).toEqual([]);
});

it('finds semantic versions with which the changelogs begin, in this clone', () => {
  const { software, sdk } = readReleasedPackages();
  for (const [tag, { version, folder }] of [
    [`v${software.version}`, software],
    [`sdk-v${sdk.version}`, sdk],
  ] as const) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    const waits = (problem: string) => problem.startsWith(`${folder}.changeset/`);
    expect(releaseProblems(tag, { ...packages, software, sdk }).filter((problem) => !waits(problem))).toEqual(
      [],
    );
  }
});

describe('change sets, in a copy of what a release is made of', () => {
  let clone: string;

  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'card-checkout-release-'));
    for (const [folder, version] of [
      ['', '1.4.2'],
      ['sdk', '0.3.1'],
    ] as const) {
      mkdirSync(join(clone, folder, '.changeset'), { recursive: true });
      for (const file of ['CHANGELOG.md', '.changeset/config.json']) {
        cpSync(join(root, folder, file), join(clone, folder, file));
      }
      const description = readFileSync(join(root, folder, 'package.json'), 'utf8');
      const versioned = description
        .replace(/"version": "[^"]+"/, `"version": "${version}"`)
        .replace('"url": ""', `"url": "${packages.repositoryUrl}"`);
      writeFileSync(join(clone, folder, 'package.json'), versioned);
    }
  });
  afterEach(() => rmSync(clone, { recursive: true }));

  const add = (folder: string, name: string, front: string, line: string) =>
    writeFileSync(join(clone, folder, '.changeset', name), `---\n${front}\n---\n\n${line}\n`);
  const makeVersion = (folder: string) =>
    execFileSync(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version'], {
      cwd: join(clone, folder),
      stdio: 'pipe',
    });
  const read = (path: string) => readFileSync(join(clone, path), 'utf8');

  it('become a version and a section that may be released, each of its own package', () => {
    const before = { software: read('CHANGELOG.md'), sdk: read('sdk/package.json') };
    add('', 'first.md', '"card-checkout": patch', 'Pages load faster.');
    add('', 'second.md', '"card-checkout": minor', 'Refunds can be made.');
    expect(releaseProblems('v1.4.2', readReleasedPackages(clone))).toContain(
      '.changeset/first.md waits for `npx changeset version`',
    );

    makeVersion('');

    const released = readReleasedPackages(clone);
    expect(released.software).toMatchObject({ version: '1.5.0', changeSets: [] });
    expect(releaseProblems('v1.5.0', released)).toEqual([]);
    expect(read('sdk/package.json')).toBe(before.sdk);
    const section =
      '## 1.5.0\n\n### Minor Changes\n\n- Refunds can be made.\n\n### Patch Changes\n\n- Pages load faster.\n\n';
    const place = before.software.indexOf('## ');
    expect(read('CHANGELOG.md')).toBe(
      `${before.software.slice(0, place)}${section}${before.software.slice(place)}`,
    );
  });

  it('of the SDK leave the software alone', () => {
    const before = read('package.json') + read('CHANGELOG.md');
    add('sdk', 'first.md', '"@card-checkout/sdk": patch', 'A timeout says for how long it waited.');

    makeVersion('sdk');

    const released = readReleasedPackages(clone);
    expect(released.sdk.version).toBe('0.3.2');
    expect(releaseProblems('sdk-v0.3.2', released)).toEqual([]);
    expect(released.sdk.changelog).toContain(
      '## 0.3.2\n\n### Patch Changes\n\n- A timeout says for how long it waited.\n',
    );
    expect(read('package.json') + read('CHANGELOG.md')).toBe(before);
  });
});
