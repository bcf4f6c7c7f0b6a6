import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readOrCreateSecretKey } from './demo-account.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-secret-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('makes a secret at the first start and keeps it, for the owner’s eyes only', () => {
  const dataDir = join(folder, 'data');
  const secret = readOrCreateSecretKey(dataDir);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(readOrCreateSecretKey(dataDir)).toBe(secret);
  expect(readdirSync(dataDir)).toEqual(['sandbox-secret-key']);
  expect(statSync(join(dataDir, 'sandbox-secret-key')).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

it('makes another one for other data', () => {
  expect(readOrCreateSecretKey(join(folder, 'a'))).not.toBe(readOrCreateSecretKey(join(folder, 'b')));
});

it('is not led astray by what a kill in the middle of the first start left behind', () => {
  writeFileSync(join(folder, 'sandbox-secret-key.new'), 'abc');
  expect(readOrCreateSecretKey(folder)).toMatch(/^[0-9a-f]{64}$/);
});

it.each(['', 'abc', 'x'.repeat(64)])('refuses a damaged secret (%j) instead of signing with it', (text) => {
  writeFileSync(join(folder, 'sandbox-secret-key'), text);
  expect(() => readOrCreateSecretKey(folder)).toThrow(/sandbox-secret-key is damaged/);
});
