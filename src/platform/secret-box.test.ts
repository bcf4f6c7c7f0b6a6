import { expect, it } from 'vitest';
import { createKeyedHash } from './keyed-hash.ts';
import { createSecretBox } from './secret-box.ts';

const [SECRET, OTHER] = ['a'.repeat(32), 'b'.repeat(32)];

it('opens what it sealed, for its owner only, and never seals the same twice', () => {
  const box = createSecretBox('test', SECRET);
  const sealed = box.seal('geheim 🔑', 'usr_1');
  expect(sealed).not.toContain('geheim');
  expect(box.seal('geheim 🔑', 'usr_1')).not.toBe(sealed);
  expect(box.open(sealed, 'usr_1')).toBe('geheim 🔑');
  expect(box.open(sealed, 'usr_2')).toBeNull();
});

it('opens nothing that was changed in any of its bytes, cut or made up', () => {
  const box = createSecretBox('test', SECRET);
  const sealed = box.seal('x', 'usr_1');
  const [fingerprint, text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64url');
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] as number) ^ 1;
    expect(box.open(`${fingerprint}.${changed.toString('base64url')}`, 'usr_1')).toBeNull();
  }
  for (const wrong of ['', '.', sealed.slice(0, 20), `xxxxxx.${text}`, `${fingerprint}.`]) {
    expect(box.open(wrong, 'usr_1')).toBeNull();
  }
});

it('opens with an earlier secret, and neither with another one nor for another purpose', () => {
  const sealed = createSecretBox('test', SECRET).seal('x', 'usr_1');
  const newer = createSecretBox('test', OTHER, [SECRET]);
  expect(newer.open(sealed, 'usr_1')).toBe('x');
  expect([newer.isCurrent(sealed), newer.isCurrent(newer.seal('x', 'usr_1'))]).toEqual([false, true]);
  expect(createSecretBox('test', OTHER).open(sealed, 'usr_1')).toBeNull();
  expect(createSecretBox('other', SECRET).open(sealed, 'usr_1')).toBeNull();
});

it('hashes differently with each secret and purpose, and finds a hash of an earlier secret', () => {
  const hash = createKeyedHash('test', SECRET).of('code');
  expect(createKeyedHash('test', SECRET).of('code')).toBe(hash);
  expect(createKeyedHash('other', SECRET).of('code')).not.toBe(hash);
  expect(createKeyedHash('test', OTHER).of('code')).not.toBe(hash);
  expect(createKeyedHash('test', OTHER, [SECRET]).candidates('code')).toContain(hash);
});
