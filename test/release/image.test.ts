/** The Dockerfile, as far as it can be read without a tool for images. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, root } from '../docs/markdown.ts';
import { secretPlaces } from '../support/secret-places.ts';

/** The instructions of the Dockerfile in order, each with the words behind it, its lines joined. */
const instructions = read('Dockerfile')
  .replace(/^\s*#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^(\w+)\s+(.*)$/.exec(line)?.slice(1) ?? ['', line]);
const valuesOf = (name: string) =>
  instructions.filter(([instruction]) => instruction === name).map(([, value = '']) => value);

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
