import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findAnvil, type Machine } from './find-anvil.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-anvil-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Creates a file named anvil, executable unless `mode` says otherwise, in the folder `name`. */
function anvilIn(name: string, mode = 0o755): string {
  const file = join(folder, name, 'anvil');
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, mode);
  return file;
}

function machine(changes: Partial<Machine> = {}): Machine {
  return {
    platform: 'darwin',
    arch: 'arm64',
    environment: {},
    packageFolder: () => undefined,
    ...changes,
  };
}

describe('the local chain of the sandbox', () => {
  it.each([
    ['linux', 'x64', '@foundry-rs/anvil-linux-amd64'],
    ['linux', 'arm64', '@foundry-rs/anvil-linux-arm64'],
    ['darwin', 'arm64', '@foundry-rs/anvil-darwin-arm64'],
    ['darwin', 'x64', '@foundry-rs/anvil-darwin-amd64'],
  ] as const)('is the npm package of %s-%s before any on the PATH', (platform, arch, name) => {
    const file = anvilIn('package/bin');
    anvilIn('path');
    const packageFolder = (asked: string) => (asked === name ? join(folder, 'package') : undefined);
    const environment = { PATH: join(folder, 'path') };
    expect(findAnvil(machine({ platform, arch, packageFolder, environment }))).toBe(file);
  });

  it('is the file that ANVIL_PATH names before any other', () => {
    const file = anvilIn('own');
    anvilIn('package/bin');
    const environment = { ANVIL_PATH: file, PATH: folder };
    expect(findAnvil(machine({ environment, packageFolder: () => join(folder, 'package') }))).toBe(file);
  });

  it('refuses an ANVIL_PATH that is no executable file, instead of taking another', () => {
    anvilIn('path');
    for (const chosen of [anvilIn('own', 0o644), folder, join(folder, 'none')]) {
      const environment = { ANVIL_PATH: chosen, PATH: join(folder, 'path') };
      expect(() => findAnvil(machine({ environment }))).toThrow(`ANVIL_PATH names ${chosen}`);
    }
  });

  it('is the first executable one on the PATH where npm brings none', () => {
    anvilIn('first', 0o644);
    const file = anvilIn('second');
    const environment = { PATH: `${join(folder, 'first')}::${join(folder, 'second')}` };
    expect(findAnvil(machine({ environment }))).toBe(file);
  });

  it('is missing with what to do where there is none', () => {
    expect(() => findAnvil(machine({ environment: { PATH: folder } }))).toThrow(
      /darwin-arm64.*foundryup.*or set ANVIL_PATH to its file$/,
    );
  });
});
