/**
 * Whether a tag may be released: `node tools/check-release.ts v1.2.3` (the software) or `sdk-v1.2.3` (the SDK). The tag has
 * to name the package's version, the package's changelog has to begin with it, and no change set may be left that
 * `changeset version` has yet to take.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** What is released under tags of its own, and what its folder says of it. */
export interface ReleasedPackage {
  /** Its folder below the root: empty, or with a slash at its end. */
  readonly folder: string;
  readonly version: string;
  readonly changelog: string;
  /** Names of the files of change sets that wait. */
  readonly changeSets: readonly string[];
}

export interface ReleasedPackages {
  /** The address of the repository in package.json; npm proves the origin of a package by it. */
  readonly repositoryUrl: string;
  readonly software: ReleasedPackage;
  readonly sdk: ReleasedPackage;
}

const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$/;

/** What stands in the way of the release, in sentences; empty when nothing does. */
export function releaseProblems(tag: string, packages: ReleasedPackages): readonly string[] {
  const [, sdk, version = ''] = /^(sdk-)?v(.*)$/.exec(tag) ?? [];
  if (!semanticVersion.test(version)) return [`the tag ${tag} names no semantic version`];
  const released = sdk === undefined ? packages.software : packages.sdk;
  const problems: string[] = [];
  if (packages.repositoryUrl === '') problems.push('package.json has no repository.url: fill it in, once');
  if (released.version !== version) {
    problems.push(`the package has the version ${released.version}, the tag ${tag}`);
  }
  if (!beginsWith(released.changelog, version)) {
    problems.push(
      `${released.folder}CHANGELOG.md does not begin with a section "## ${version}" that says something`,
    );
  }
  for (const name of released.changeSets) {
    problems.push(`${released.folder}.changeset/${name} waits for \`npx changeset version\``);
  }
  return problems;
}

/** Whether the newest section is the one of this version, and has words in it. */
function beginsWith(changelog: string, version: string): boolean {
  const [, newest = ''] = changelog.split(/^## /m);
  const [heading, ...lines] = newest.split('\n');
  return heading === version && lines.some((line) => /^[^#\s]/.test(line));
}

/** The tool itself passes over a README beside them. */
function isChangeSet(name: string): boolean {
  return name.endsWith('.md') && name !== 'README.md';
}

/** The packages as they are in a clone. */
export function readReleasedPackages(clone = root): ReleasedPackages {
  const readPackage = (folder: string): ReleasedPackage => {
    const read = (path: string) => readFileSync(join(clone, folder, path), 'utf8');
    return {
      folder,
      version: (JSON.parse(read('package.json')) as { version: string }).version,
      changelog: read('CHANGELOG.md'),
      changeSets: readdirSync(join(clone, folder, '.changeset')).filter(isChangeSet),
    };
  };
  const { repository } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as {
    readonly repository?: { readonly url?: string };
  };
  return { repositoryUrl: repository?.url ?? '', software: readPackage(''), sdk: readPackage('sdk/') };
}

function main(tag: string | undefined): void {
  const problems = releaseProblems(tag ?? '', readReleasedPackages());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.main) main(process.argv[2]);
