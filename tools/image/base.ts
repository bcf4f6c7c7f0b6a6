/** A root folder, and a base image of it, without a registry: Debian 12 minimal from debootstrap, with the Node and npm that run this script. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DEBIAN_MIRROR = 'http://deb.debian.org/debian';
const EXTRA_AUTHORITIES = '/usr/local/share/ca-certificates/extra.pem';

/** A root folder as a tar file, and the variables of its image. */
export interface BaseArchive {
  readonly file: string;
  readonly environment: readonly string[];
}

/** Search path and trusted authorities of the root folder. */
export interface RootFolder {
  readonly environment: readonly string[];
}

/** Makes a root folder of Debian 12 with these packages. Needs root. */
export function makeRoot(root: string, packages: readonly string[]): RootFolder {
  const include = ['ca-certificates', ...packages].join(',');
  const words = ['--variant=minbase', `--include=${include}`, 'bookworm', root, DEBIAN_MIRROR];
  execFileSync('debootstrap', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  const modules = join(root, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(npmFolder(), join(modules, 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  // The build must trust the same extra authorities as this machine, such as a company proxy's.
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  if (authorities !== undefined) cpSync(authorities, join(root, EXTRA_AUTHORITIES), { dereference: true });
  const environment = [
    'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...(authorities === undefined ? [] : [`NODE_EXTRA_CA_CERTS=${EXTRA_AUTHORITIES}`]),
  ];
  return { environment };
}

/** Writes the root folder of the base. Needs root. */
export function makeBase(folder: string): BaseArchive {
  const root = join(folder, 'base');
  const { environment } = makeRoot(root, []);
  execFileSync('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node']);
  const file = join(folder, 'base.tar');
  const unneeded = ['--exclude=./var/cache/apt/archives/*.deb', '--exclude=./var/lib/apt/lists/*'];
  execFileSync('tar', ['-C', root, ...unneeded, '-cf', file, '.']);
  rmSync(root, { recursive: true });
  return { file, environment };
}

/** Folder of the npm that started this script, or of the one on the PATH. */
function npmFolder(): string {
  const running = process.env['npm_execpath'];
  const onPath = () => execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  return dirname(dirname(realpathSync(running ?? onPath())));
}
