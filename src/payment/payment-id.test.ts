import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  createPaymentIdGenerator,
  isPaymentId,
  paymentIdOfShortCode,
  paymentIdTimeMs,
  shortCodeOf,
} from './payment-id.ts';

it('makes UUIDs of version 7 that tell their time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 48 - 2 }), (nowMs) => {
      const id = createPaymentIdGenerator(() => nowMs)();
      expect(isPaymentId(id)).toBe(true);
      expect(id).toHaveLength(36);
      expect(paymentIdTimeMs(id)).toBe(nowMs);
    }),
  );
});

it('never goes backwards nor repeats itself, whatever the clock does', () => {
  const steps = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(steps, (changes) => {
      let nowMs = Date.UTC(2026, 0, 1);
      const next = createPaymentIdGenerator(() => nowMs);
      let last = '';
      for (const change of changes) {
        nowMs += change;
        const id = next();
        expect(id > last).toBe(true);
        last = id;
      }
    }),
  );
});

it('stays in order over many ids within one millisecond, more than its counter holds', () => {
  const next = createPaymentIdGenerator(() => 1_800_000_000_000);
  const ids = Array.from({ length: 5_000 }, next);
  expect(ids.every(isPaymentId)).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(5_000);
  // A millisecond has 1,024 ids, so that the last ids have the times of the following milliseconds.
  expect(paymentIdTimeMs(ids.at(-1) as string) - 1_800_000_000_000).toBe(4);
});

it('leaves at least 62 bits unguessable: every random digit takes every value', () => {
  const next = createPaymentIdGenerator(Date.now);
  const ids = Array.from({ length: 2_000 }, next);
  for (const position of [20, 21, 22, 24, 25, 30, 35]) {
    expect(new Set(ids.map((id) => id[position])).size).toBe(16);
  }
  // Checks the two random bits next to the counter, and the two in the digit with the variant.
  expect(new Set(ids.map((id) => id[19]))).toEqual(new Set(['8', '9', 'a', 'b']));
  expect(new Set(ids.map((id) => Number.parseInt(id[17] as string, 16) & 3)).size).toBe(4);
});

it.each([
  '0190163d-8694-739b-aea5-966c26f8ad9',
  '0190163d-8694-739b-aea5-966c26f8ad911',
  '0190163D-8694-739B-AEA5-966C26F8AD91',
  '0190163d-8694-439b-aea5-966c26f8ad91',
  '0190163d-8694-739b-cea5-966c26f8ad91',
  '0190163d8694739baea5966c26f8ad91',
  ' 0190163d-8694-739b-aea5-966c26f8ad91',
  '0190163d-8694-739b-aea5-966c26f8ad91\n',
  '',
  null,
  5,
  ['0190163d-8694-739b-aea5-966c26f8ad91'],
])('does not take %j for a payment id', (value) => {
  expect(isPaymentId(value)).toBe(false);
});

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
