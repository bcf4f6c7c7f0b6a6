import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/** Dependencies of the search, replaced in tests. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly packageFolder: (name: string) => string | undefined;
}

const require = createRequire(import.meta.url);

const thisMachine: Machine = {
  platform: process.platform,
  arch: process.arch,
  environment: process.env,
  packageFolder: (name) => {
    try {
      return dirname(require.resolve(`${name}/package.json`));
    } catch {
      return undefined;
    }
  },
};

/** Returns the name of Foundry's npm package with anvil for a platform. tools/setup.js builds the same name. */
function anvilPackage({ platform, arch }: Machine): string {
  return `@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Finds anvil, the sandbox's local chain. Prefers `ANVIL_PATH`, because an explicit path must win over a package whose
 * binary does not run here. Then tries the platform's npm package, and then the PATH, where foundryup puts anvil.
 * Without anvil, throws an error that says what to install.
 */
export function findAnvil(machine: Machine = thisMachine): string {
  const chosen = machine.environment['ANVIL_PATH'];
  if (chosen) {
    if (isExecutable(chosen)) return chosen;
    throw new Error(`ANVIL_PATH names ${chosen}, which is not an executable file`);
  }
  const folder = machine.packageFolder(anvilPackage(machine));
  const places = (machine.environment['PATH'] ?? '').split(delimiter).filter((place) => place !== '');
  const candidates = [...(folder === undefined ? [] : [join(folder, 'bin')]), ...places];
  const found = candidates.map((place) => join(place, 'anvil')).find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    `the sandbox needs anvil, its local chain, and this machine (${machine.platform}-${machine.arch}) has none: ` +
      'install Foundry (https://getfoundry.sh), whose foundryup puts anvil on the PATH, or set ANVIL_PATH to its file',
  );
}
