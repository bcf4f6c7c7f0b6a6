import { expect, it } from 'vitest';
import { API_KEY_PREFIX, createApiKey, hasApiKeyForm, hashApiKey, maskApiKey } from './api-key.ts';

it('makes keys with the prefix of the specification and at least 192 random bits', () => {
  const keys = Array.from({ length: 500 }, createApiKey);
  expect(new Set(keys).size).toBe(500);
  for (const key of keys) {
    expect(key).toMatch(/^service_live_[A-Za-z0-9_-]{38}$/);
    expect(hasApiKeyForm(key)).toBe(true);
  }
  // Each of the 32 base64url characters of the 24 bytes varies.
  for (let position = 13; position < 45; position++) {
    expect(new Set(keys.map((key) => key[position])).size).toBeGreaterThan(30);
  }
});

it('takes nothing longer than a key for one', () => {
  const key = createApiKey();
  for (const text of [`${key}a`, `a${key}`, key.slice(0, -1), ` ${key}`, `${key}\n`, '', API_KEY_PREFIX]) {
    expect(hasApiKeyForm(text)).toBe(false);
  }
  expect(hasApiKeyForm(API_KEY_PREFIX + 'a'.repeat(1_000_000))).toBe(false);
});

it('stores the SHA-256 of a key in hex', () => {
  // Example message of FIPS 180-4.
  expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

it('shows only the last characters of a key', () => {
  expect(maskApiKey('R8mQ')).toBe('service_live_…R8mQ');
});
