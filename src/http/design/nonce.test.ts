import { expect, it } from 'vitest';
import { newNonce } from './nonce.ts';

it('makes nonces of 144 bits that differ, over several fillings of its pool', () => {
  const nonces = Array.from({ length: 1_000 }, newNonce);
  for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{24}$/);
  expect(new Set(nonces).size).toBe(nonces.length);
});
