import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'circle-token-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(...args: string[]) {
  const script = join(import.meta.dirname, 'contracts.ts');
  return spawnSync(process.execPath, [script, 'circle', ...args], { encoding: 'utf8' });
}

it('says that Circle’s own token is not checked where no sources are given', () => {
  const { status, stdout } = run();
  expect(stdout).toMatch(/^Circle’s own token: not checked\./);
  expect(status).toBe(0);
});

it('fails, and does not say that anything was checked, where the compiler of the sources is missing', () => {
  const { status, stdout, stderr } = run(folder);
  expect(status).toBe(1);
  expect(stderr).toContain(`soljson.js is missing: install the dependencies of ${folder}`);
  expect(stdout).toBe('');
});
