/**
 * Builds the image with docker or buildah, runs it and prints its size: `npm run image`. Without a registry it
 * makes the base itself with debootstrap, and says so. With `--install`, as root on Debian, it installs buildah and
 * debootstrap first. Not part of `npm run test:all`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { secretPlaces } from '../../test/support/secret-places.ts';
import { makeBase } from './base.ts';
import { type Check, checkJourney } from './journey.ts';
import { findTool, type ImageTool } from './tools.ts';

const root = join(import.meta.dirname, '../..');
/** Minimum length, because shorter values such as a port occur by chance. */
const SHORTEST_SECRET = 12;

const check: Check = async (name, run) => {
  try {
    await run();
    console.log(`ok   ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${String(error).slice(0, 1_500)}`);
    process.exitCode = 1;
  }
};

function install(): void {
  if (process.getuid?.() !== 0) throw new Error('--install needs root on Debian');
  execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', 'buildah', 'debootstrap'], {
    stdio: 'inherit',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/** Files of the clone, with a secret in each place where contributors keep them. */
function makeContext(folder: string, planted: string): string {
  const context = join(folder, 'context');
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(context, file)), { recursive: true });
    cpSync(join(root, file), join(context, file), { verbatimSymlinks: true });
  }
  for (const file of secretPlaces) {
    mkdirSync(dirname(join(context, file)), { recursive: true });
    writeFileSync(join(context, file), `SECRET_KEY=${planted}\n`);
  }
  return context;
}

/** Values of the clone's .env. */
function ownSecrets(): readonly string[] {
  const file = join(root, '.env');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => /^\s*(?:export\s+)?\w+=\s*["']?([^"'#\s]*)/.exec(line)?.[1] ?? '')
    .filter((value) => value.length >= SHORTEST_SECRET);
}

/** Values that occur in a file, which is read in chunks. */
async function valuesIn(file: string, values: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  const longest = Math.max(...values.map((value) => Buffer.byteLength(value)));
  let tail = Buffer.alloc(0);
  const handle = await open(file);
  for await (const chunk of handle.createReadStream({ highWaterMark: 8 * 1_024 * 1_024 })) {
    const text = Buffer.concat([tail, chunk as Buffer]);
    for (const value of values) if (text.includes(value)) found.add(value);
    tail = text.subarray(-longest);
  }
  return [...found];
}

async function checkLayers(tool: ImageTool, folder: string, planted: string): Promise<void> {
  const archive = join(folder, 'image.tar');
  tool.save(archive);
  console.log(`size ${Math.round(statSync(archive).size / 1_000_000)} MB, uncompressed with its base`);
  const secrets = [planted, ...ownSecrets()];
  // Occurs in the image, so that a search that cannot read the layers fails.
  const known = 'Asks the service in this container whether it is alive';
  await check(`has none of ${secrets.length} secrets of the clone in its layers`, async () => {
    const found = await valuesIn(archive, [known, ...secrets]);
    if (!found.includes(known)) throw new Error('the layers could not be searched');
    if (found.length > 1) throw new Error(`${found.length - 1} of them are`);
  });
  rmSync(archive);
}

function chooseBase(tool: ImageTool, folder: string): string {
  const [, pinned = ''] = /^ARG BASE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  if (tool.pull(pinned)) {
    console.log(`base ${pinned}`);
    return pinned;
  }
  console.log(
    `base not the pinned one, which no registry answered: Debian 12 by debootstrap, Node ${process.version}`,
  );
  console.log(`not checked: ${pinned}`);
  return tool.importBase(makeBase(folder));
}

async function main(words: readonly string[]): Promise<void> {
  const unknown = words.find((word) => word !== '--install');
  if (unknown !== undefined) {
    console.error(`npm run image takes --install and nothing else, not ${unknown}`);
    process.exitCode = 2;
    return;
  }
  if (words.length > 0) install();
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-image-'));
  try {
    const tool = findTool(folder);
    if (tool === undefined) {
      console.log('not checked: docker does not run, and buildah is not installed or not run by root');
      process.exitCode = 1;
      return;
    }
    console.log(`tool ${tool.name}, run by ${tool.runner}`);
    const planted = randomBytes(24).toString('hex');
    const base = chooseBase(tool, folder);
    try {
      let isBuilt = false;
      await check('builds', async () => {
        tool.build(makeContext(folder, planted), base);
        isBuilt = true;
      });
      if (!isBuilt) return;
      await checkLayers(tool, folder, planted);
      await checkJourney(tool, folder, check);
    } finally {
      tool.clean();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main(process.argv.slice(2));
