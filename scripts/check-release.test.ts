import { expect, it } from 'vitest';
import { readReleaseFiles, releaseProblems } from './check-release.ts';

const files = {
  softwareVersion: '1.2.3',
  sdkVersion: '0.4.0',
  changelog:
    '# Changelog\n\n## 1.2.3 (2027-01-31)\n\n- a\n\n## SDK 0.4.0 (2027-01-30)\n\n## 1.2.2 (unreleased)\n',
};

it('lets a tag through that names the version and has its section with a date', () => {
  expect(releaseProblems('v1.2.3', files)).toEqual([]);
  expect(releaseProblems('sdk-v0.4.0', files)).toEqual([]);
});

it.each([
  ['v1.2', 'names no semantic version'],
  ['1.2.3', 'names no semantic version'],
  ['v01.2.3', 'names no semantic version'],
  ['v1.2.4', 'the package has the version 1.2.3'],
  ['v0.4.0', 'the package has the version 1.2.3'],
  ['sdk-v1.2.3', 'the package has the version 0.4.0'],
])('stops %s', (tag, problem) => {
  expect(releaseProblems(tag, files).join()).toContain(problem);
});

it('stops a version whose section has no date yet', () => {
  const unreleased = { ...files, softwareVersion: '1.2.2' };
  expect(releaseProblems('v1.2.2', unreleased)).toEqual(['CHANGELOG.md has no section "## 1.2.2 (date)"']);
});

it('finds a changelog with a section for what is next, and semantic versions, in this clone', () => {
  const { changelog, softwareVersion, sdkVersion } = readReleaseFiles();
  expect(changelog).toContain(`## ${softwareVersion} (`);
  for (const version of [softwareVersion, sdkVersion]) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});
