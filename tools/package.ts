/**
 * Builds what is published: `node tools/package.ts <folder>` fills an empty folder with the package and packs it there
 * as `card-checkout-<version>.tgz`. Node runs TypeScript in a clone, but not below node_modules: so the sources are stripped
 * of their types, file by file, and nothing else is changed; line and column of every error stay as they are.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Folders and files that the package contains unchanged. */
const copied = [
  'bin',
  'contracts/artifacts',
  'contracts/deployments',
  'deploy/continuous-copy.sh',
  'docs',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  '.github/SECURITY.md',
  'sdk/CHANGELOG.md',
  'sdk/README.md',
  'sdk-python/README.md',
  'sdk/examples/README.md',
  '.env.example',
] as const;

/** Sources, and the target of their compiled form. */
const compiled = {
  src: 'src',
  sandbox: 'sandbox',
  'sdk/src': 'sdk/src',
} as const;

/** Fields of package.json that apply to an installed package. */
const keptFields = [
  'name',
  'version',
  'description',
  'license',
  'repository',
  'type',
  'bin',
  'imports',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
] as const;

/** Fills the folder; it must be empty. */
function stagePackage(folder: string): void {
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  for (const path of copied) {
    // Decisions and measurements are for those who change the code.
    const filter = (each: string) => !/\/docs\/decisions$|\/performance\.(json|svg|md)$/.test(each);
    cpSync(join(root, path), join(folder, path), { recursive: true, filter });
  }
  for (const [source, target] of Object.entries(compiled)) compileFolder(source, join(folder, target));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedDescription(), null, 2)}\n`);
}

function publishedDescription(): Readonly<Record<string, unknown>> {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const kept = Object.fromEntries(keptFields.map((name) => [name, own[name]]));
  const optional = Object.entries(own['optionalDependencies'] as Record<string, string>);
  return {
    ...kept,
    // The sandbox's chain; the other optional ones are Node itself, for a clone.
    optionalDependencies: Object.fromEntries(optional.filter(([name]) => name.includes('/anvil-'))),
    // What is compiled runs on the Node that it is installed beside.
    engines: { node: '>=24' },
  };
}

function compileFolder(source: string, target: string): void {
  for (const entry of readdirSync(join(root, source), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /\.test\.ts$|^tsconfig\.json$/.test(entry.name)) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(target, from.slice(join(root, source).length + 1)).replace(/\.ts$/, '.js');
    mkdirSync(dirname(to), { recursive: true });
    if (entry.name.endsWith('.ts')) writeFileSync(to, compile(readFileSync(from, 'utf8')));
    else cpSync(from, to);
  }
}

/** JavaScript of the same length, whose imports name the compiled files. */
export function compile(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(
    /((?:^|;|\})\s*(?:import|export)\b[^'"`;]*?from\s*|\bimport\(\s*|^\s*import\s*)'(\.[^']*)\.ts'/gm,
    "$1'$2.js'",
  );
}

/** Packs a staged package in its own folder, and returns the tarball's name. */
function packStaged(folder: string): string {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm packed nothing');
  return tarball;
}

function main(folder: string | undefined): void {
  if (folder === undefined) {
    console.error('Usage: node tools/package.ts <empty folder>');
    process.exitCode = 2;
    return;
  }
  mkdirSync(folder, { recursive: true });
  stagePackage(folder);
  console.log(join(folder, packStaged(folder)));
}

if (import.meta.main) main(process.argv[2]);
