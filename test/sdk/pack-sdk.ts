import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** The SDK as a merchant installs it: built, packed, and unpacked into the `node_modules` of an empty project. */
export interface InstalledSdk {
  readonly folder: string;
  /** Where the package lies in it. */
  readonly packageFolder: string;
  /** Paths in the tarball, sorted. */
  readonly packedFiles: readonly string[];
  remove(): void;
}

/** Builds and packs it from a copy, so that nothing is left in the project; throws when a step fails. */
export function installPackedSdk(): InstalledSdk {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-sdk-'));
  const source = join(folder, 'source');
  cpSync(join(root, 'sdk'), source, {
    recursive: true,
    filter: (path) => !/\/(dist|node_modules)$/.test(path),
  });
  // As npm does by `prepack`, with the tools that a copy does not have.
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
  const { scripts } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    scripts: { prepack: string };
  };
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env['PATH']}`;
  execFileSync('sh', ['-c', scripts.prepack], {
    cwd: source,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: path },
  });
  const npmArguments = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  execFileSync('npm', npmArguments, { cwd: source, stdio: ['ignore', 'ignore', 'inherit'] });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm packed nothing');

  const packageFolder = join(folder, 'node_modules', '@card-checkout', 'sdk');
  mkdirSync(packageFolder, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', packageFolder, '--strip-components=1']);
  rmSync(source, { recursive: true });
  const packedFiles = readdirSync(packageFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(packageFolder.length + 1))
    .sort();
  return { folder, packageFolder, packedFiles, remove: () => rmSync(folder, { recursive: true }) };
}
