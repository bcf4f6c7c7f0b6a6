/** The script that builds and checks the image, and its Dockerfile, as far as they can be tested without a tool for images. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeBase } from '../../tools/image/base.ts';
import { secretPlaces, valuesIn } from '../../tools/image/main.ts';
import { read, root } from '../docs/markdown.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The instructions of the Dockerfile in order, each with the words behind it, its lines joined. */
const instructions = read('Dockerfile')
  .replace(/^\s*#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^(\w+)\s+(.*)$/.exec(line)?.slice(1) ?? ['', line]);
const valuesOf = (name: string) =>
  instructions.filter(([instruction]) => instruction === name).map(([, value = '']) => value);

describe('the script', () => {
  /** A machine with Node and a shell, and no tool for images. */
  function run(...words: string[]) {
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    for (const name of ['sh', 'git']) {
      const path = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
      symlinkSync(path, join(programs, name));
    }
    const script = join(root, 'tools/image/main.ts');
    const env = { PATH: programs, HOME: folder };
    return spawnSync(process.execPath, [script, ...words], { encoding: 'utf8', env, cwd: folder });
  }

  it('says what it did not check where no tool is installed, and fails', () => {
    const { status, stdout, stderr } = run();
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: 'not checked: docker does not run, and buildah is not installed or not run by root\n',
      stderr: '',
    });
  });

  it('refuses an argument that it does not know before it does anything', () => {
    expect(run('--instal')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: 'npm run image takes --install and nothing else, not --instal\n',
    });
  });

  it('finds each value in a layer, wherever it lies across the pieces that are read', async () => {
    const file = join(folder, 'layer');
    const value = fc.stringMatching(/^[0-9a-f]{12,48}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
        fc.array(fc.string({ unit: 'grapheme', maxLength: 90 }), { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 70 }),
        async (values, blanks, pieceBytes) => {
          writeFileSync(file, blanks.map((blank, index) => `${blank}${values[index] ?? ''}`).join(''));
          expect([...(await valuesIn(file, [...values, 'not-in-the-layer'], pieceBytes))].sort()).toEqual(
            [...values].sort(),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('makes a base with the Node and npm that run it, an ordinary user, and no downloaded package', () => {
    // In place of the two programs that need root and Debian's mirror.
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    const stubs = {
      debootstrap: `for word; do case "$word" in /*) root=$word;; esac; done
        mkdir -p "$root/usr/local/bin" "$root/usr/local/lib" "$root/var/cache/apt/archives"
        echo "$*" > "$root/debootstrap"; touch "$root/var/cache/apt/archives/curl.deb"`,
      chroot: 'root=$1; shift; echo "$*" > "$root/chroot"',
    };
    for (const [name, script] of Object.entries(stubs)) {
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(programs, name), 0o755);
    }
    const authorities = join(folder, 'authorities.pem');
    writeFileSync(authorities, 'the proxy of the company');
    vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`);
    vi.stubEnv('NODE_EXTRA_CA_CERTS', authorities);
    const { file: archive, environment } = makeBase(folder);
    const tar = (...words: string[]) =>
      execFileSync('tar', [...words.slice(0, 1), archive, ...words.slice(1)], { encoding: 'utf8' });
    const names = tar('-tf').split('\n');
    expect(names).toEqual(expect.arrayContaining(['./usr/local/bin/node', './usr/local/bin/npm']));
    expect(names).toContain('./usr/local/lib/node_modules/npm/bin/npm-cli.js');
    expect(names.filter((name) => name.endsWith('.deb'))).toEqual([]);
    expect(tar('-xOf', './debootstrap')).toMatch(/--variant=minbase .*ca-certificates bookworm /);
    expect(tar('-xOf', './chroot')).toBe('useradd --uid 1000 --create-home node\n');
    const inside = '/usr/local/share/ca-certificates/extra.pem';
    expect(environment).toContain(`NODE_EXTRA_CA_CERTS=${inside}`);
    expect(tar('-xOf', `.${inside}`)).toBe('the proxy of the company');
    expect(existsSync(join(folder, 'base'))).toBe(false);
  });
});

describe('the image', () => {
  const copied = valuesOf('COPY')
    .filter((words) => !words.startsWith('--from'))
    .flatMap((words) => words.split(/\s+/).slice(0, -1));

  it('gets the files that are copied and nothing else of the clone, so no secret can be in a layer', () => {
    const rules = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(rules[0]).toBe('*');
    const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    expect([...new Set(admitted)].sort()).toEqual([...new Set(copied)].sort());
    for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
    const isBelow = (place: string) => (entry: string) => place === entry || place.startsWith(`${entry}/`);
    const refusedAgain = rules.slice(admitted.length + 1);
    for (const place of secretPlaces) {
      expect(admitted.some(isBelow(place)) && !refusedAgain.some(isBelow(place)), place).toBe(false);
    }
  });

  it('is given no value of a setting when it is built', () => {
    expect(valuesOf('ARG').map((words) => words.split('=')[0])).toEqual(['BASE']);
    const set = valuesOf('ENV').flatMap((words) => words.split(/\s+/).map((word) => word.split('=')[0]));
    expect(set.sort()).toEqual(['DATA_DIR', 'HOST', 'NODE_ENV', 'PORT']);
  });

  it('runs the live service as an ordinary user, with a health check and the data on a volume', () => {
    const order = instructions.map(([name]) => name);
    expect(valuesOf('USER')).toEqual(['node']);
    expect(order.indexOf('USER')).toBeGreaterThan(order.lastIndexOf('RUN'));
    expect(order.indexOf('USER')).toBeLessThan(order.indexOf('ENTRYPOINT'));
    const [check = ''] = valuesOf('HEALTHCHECK');
    const words = JSON.parse(/CMD (\[.*\])$/.exec(check)?.[1] ?? '[]') as string[];
    expect([words[0], existsSync(join(root, words[1] ?? ''))]).toEqual(['node', true]);
    const entry = JSON.parse(valuesOf('ENTRYPOINT')[0] ?? '[]') as string[];
    expect(existsSync(join(root, entry.at(-1) ?? ''))).toBe(true);
    expect(JSON.parse(valuesOf('CMD')[0] ?? '[]')).toEqual(['start', '--live']);
    expect(valuesOf('VOLUME')).toEqual(['/data']);
    expect(valuesOf('STOPSIGNAL')).toEqual(['SIGTERM']);
  });
});
