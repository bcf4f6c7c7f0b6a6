/**
 * Whether a tag may be released: `node scripts/check-release.ts v1.2.3` (the software) or `sdk-v1.2.3` (the SDK). The tag has
 * to name the package's version, and the changelog has to have a section of it with a date.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

export interface ReleaseFiles {
  readonly softwareVersion: string;
  readonly sdkVersion: string;
  readonly changelog: string;
}

const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$/;

/** What stands in the way of the release, in sentences; empty when nothing does. */
export function releaseProblems(tag: string, files: ReleaseFiles): readonly string[] {
  const [, sdk, version = ''] = /^(sdk-)?v(.*)$/.exec(tag) ?? [];
  if (!semanticVersion.test(version)) return [`the tag ${tag} names no semantic version`];
  const isSdk = sdk !== undefined;
  const own = isSdk ? files.sdkVersion : files.softwareVersion;
  const heading = isSdk ? `SDK ${version}` : version;
  const problems = own === version ? [] : [`the package has the version ${own}, the tag ${tag}`];
  const lines = files.changelog.split('\n');
  const isDated = lines.some(
    (line) => line.startsWith(`## ${heading} (`) && /\(\d{4}-\d\d-\d\d\)$/.test(line),
  );
  return isDated ? problems : [...problems, `CHANGELOG.md has no section "## ${heading} (date)"`];
}

/** The versions and the changelog of this clone. */
export function readReleaseFiles(): ReleaseFiles {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const versionOf = (path: string) => (JSON.parse(read(path)) as { version: string }).version;
  return {
    softwareVersion: versionOf('package.json'),
    sdkVersion: versionOf('sdk/package.json'),
    changelog: read('CHANGELOG.md'),
  };
}

function main(tag: string | undefined): void {
  const problems = releaseProblems(tag ?? '', readReleaseFiles());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.main) main(process.argv[2]);
