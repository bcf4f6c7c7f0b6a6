/** A base image without a registry: Debian 12 minimal from debootstrap, with the Node and npm that run this script. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DEBIAN_MIRROR = 'http://deb.debian.org/debian';

/** Writes the root folder of the base as a tar file, and returns the file's name. Needs root. */
export function makeBase(folder: string): string {
  const root = join(folder, 'base');
  const words = ['--variant=minbase', '--include=ca-certificates', 'bookworm', root, DEBIAN_MIRROR];
  execFileSync('debootstrap', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  const modules = join(root, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(npmFolder(), join(modules, 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  execFileSync('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node']);
  const archive = join(folder, 'base.tar');
  const unneeded = ['--exclude=./var/cache/apt/archives/*.deb', '--exclude=./var/lib/apt/lists/*'];
  execFileSync('tar', ['-C', root, ...unneeded, '-cf', archive, '.']);
  rmSync(root, { recursive: true });
  return archive;
}

/** The folder of the npm that started this script, or of the one on the PATH. */
function npmFolder(): string {
  const running = process.env['npm_execpath'];
  const onPath = () => execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  return dirname(dirname(realpathSync(running ?? onPath())));
}
