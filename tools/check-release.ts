/**
 * Whether a tag may be released: `node tools/check-release.ts v1.2.3` (the software) or `sdk-v1.2.3` (the SDK). The tag has
 * to name the package's version, the package's changelog has to begin with it, and no change set may be left that
 * `changeset version` has yet to take.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** A released package, with its own tags, as its folder describes it. */
export interface ReleasedPackage {
  /** Its folder below the root: empty, or with a slash at its end. */
  readonly folder: string;
  readonly version: string;
  readonly changelog: string;
  /** File names of pending change sets. */
  readonly changeSets: readonly string[];
}

export interface ReleasedPackages {
  /** Repository URL in package.json, by which npm proves a package's origin. */
  readonly repositoryUrl: string;
  readonly software: ReleasedPackage;
  readonly sdk: ReleasedPackage;
}

const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$/;

/** Sentences about what prevents the release; empty if it may go out. */
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

/** Whether the newest section belongs to this version and is not empty. */
function beginsWith(changelog: string, version: string): boolean {
  const [, newest = ''] = changelog.split(/^## /m);
  const [heading, ...lines] = newest.split('\n');
  return heading === version && lines.some((line) => /^[^#\s]/.test(line));
}

/** Changesets ignores a README in the folder. */
function isChangeSet(name: string): boolean {
  return name.endsWith('.md') && name !== 'README.md';
}

/** Reads the packages of the clone. */
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
