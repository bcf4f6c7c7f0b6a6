import { expect, it } from 'vitest';
import { readReleasedPackages, releaseProblems } from './check-release.ts';

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
