import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPaymentIdGenerator } from './payment-id.ts';
import { paymentIdOfShortCode, shortCodeOf } from './short-code.ts';

const anyTime = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2093, 0, 1) });
const unambiguous = /^[0-9abcdefghjkmnpqrstvwxyz]{23}$/;

it('leads back to the payment, for every id until 2093', () => {
  fc.assert(
    fc.property(anyTime, (timeMs) => {
      const id = createPaymentIdGenerator(() => timeMs)();
      const code = shortCodeOf(id);
      expect(code).toMatch(unambiguous);
      expect(paymentIdOfShortCode(code)).toBe(id);
    }),
    { numRuns: 1_000 },
  );
});

it('is the short code of what it leads to, or leads nowhere', () => {
  const anyCode = fc.stringMatching(/^[0-9abcdefghjkmnpqrstvwxyz]{23}$/);
  let found = 0;
  fc.assert(
    fc.property(anyCode, (code) => {
      const id = paymentIdOfShortCode(code);
      if (id === null) return;
      found++;
      expect(shortCodeOf(id)).toBe(code);
    }),
    { numRuns: 1_000 },
  );
  expect(found).toBeGreaterThan(0);
});

it('gives different payments different codes', () => {
  const next = createPaymentIdGenerator(() => Date.UTC(2026, 0, 1));
  const codes = Array.from({ length: 5_000 }, () => shortCodeOf(next()));
  expect(new Set(codes).size).toBe(5_000);
});

it.each([
  '',
  'a',
  'l'.repeat(23),
  '0'.repeat(22),
  '0'.repeat(24),
  `${'0'.repeat(22)}u`,
  `${'0'.repeat(22)}I`,
  '../../etc/passwd',
])('takes %j for no short code', (code) => {
  expect(paymentIdOfShortCode(code)).toBeNull();
});
