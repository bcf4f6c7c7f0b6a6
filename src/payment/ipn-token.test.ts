import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createIpnTokens } from './ipn-token.ts';
import { createPaymentIdGenerator } from './payment-id.ts';

const newId = createPaymentIdGenerator(Date.now);
const tokens = createIpnTokens('the current secret');
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

it('proves the tokens it made, and is one opaque string of URL letters', () => {
  for (let index = 0; index < 200; index++) {
    const id = newId();
    const token = tokens.create(id);
    expect(token).toMatch(/^ipn_[A-Za-z0-9_-]{81}$/);
    expect(tokens.verify(token)).toBe(id);
    expect(tokens.create(id)).toBe(token);
  }
});

it('refuses a token with any one letter changed, left out or added', () => {
  const id = newId();
  const token = tokens.create(id);
  const change = fc.record({
    at: fc.nat({ max: token.length - 1 }),
    letter: fc.constantFrom(...letters),
    kind: fc.constantFrom('change', 'leave out', 'add'),
  });
  fc.assert(
    fc.property(change, ({ at, letter, kind }) => {
      const rest = token.slice(kind === 'add' ? at : at + 1);
      const forged = token.slice(0, at) + (kind === 'leave out' ? '' : letter) + rest;
      if (forged !== token) expect(tokens.verify(forged)).toBeNull();
    }),
    { numRuns: 2_000 },
  );
});

it('has exactly one token for a payment: the spare bits of its last letter are no way to another', () => {
  const token = tokens.create(newId());
  const accepted = [...letters].filter((letter) => tokens.verify(token.slice(0, -1) + letter) !== null);
  expect(accepted).toEqual([token.at(-1)]);
});

it("refuses one payment's MAC under another payment's id", () => {
  const [first, second] = [tokens.create(newId()), tokens.create(newId())];
  expect(tokens.verify(second.slice(0, 42) + first.slice(42))).toBeNull();
});

it('refuses what another secret made', () => {
  expect(tokens.verify(createIpnTokens('another secret').create(newId()))).toBeNull();
});

it('proves and makes again the tokens of previous secrets, and makes new ones with the current', () => {
  const old = createIpnTokens('the old secret');
  const older = createIpnTokens('the oldest secret');
  const rotated = createIpnTokens('the current secret', ['the old secret', 'the oldest secret']);
  const id = newId();
  expect(rotated.verify(old.create(id))).toBe(id);
  expect(rotated.verify(older.create(id))).toBe(id);
  expect(rotated.create(id)).toBe(tokens.create(id));
  expect(rotated.create(id, old.currentFingerprint)).toBe(old.create(id));
  expect(rotated.currentFingerprint).toBe(tokens.currentFingerprint);
});

it('says which secret is missing instead of making a token that nobody can prove', () => {
  const old = createIpnTokens('the old secret');
  expect(() => tokens.create(newId(), old.currentFingerprint)).toThrow(
    `no secret key with fingerprint ${old.currentFingerprint}; is SECRET_KEY_PREVIOUS complete?`,
  );
});

it('makes the same token of a secret and an id for ever: merchants keep theirs, whatever release made it', () => {
  expect(createIpnTokens('a secret of this test').create('01890a5d-ac96-774b-bcce-b302099a8057')).toBe(
    'ipn_NpNWP701890a5dac96774bbcceb302099a8057Urro2BWVy7GywGmgKPyjR080gjcup2pq0P610xo1ZEQ',
  );
});

it('knows the secrets it was given and no other', () => {
  const old = createIpnTokens('the old secret');
  const rotated = createIpnTokens('the current secret', ['the old secret']);
  const known = [tokens, old, createIpnTokens('another secret')].map(({ currentFingerprint }) =>
    rotated.knows(currentFingerprint),
  );
  expect(known).toEqual([true, true, false]);
  expect(tokens.fingerprints).toEqual([tokens.currentFingerprint]);
});

it('proves no payment whose id is none of ours, although the MAC is right', () => {
  const id = '01890a5d-ac96-474b-bcce-b302099a8057';
  expect(tokens.verify(tokens.create(id))).toBeNull();
});

it('refuses the same secret twice', () => {
  expect(() => createIpnTokens('a secret', ['a secret'])).toThrow('two of the secret keys are the same');
});

it.each([
  '',
  'ipn_',
  'nonsense',
  `ipn_${'a'.repeat(81)}`,
  ` ${tokens.create(newId())}`,
  `${tokens.create(newId())}\n`,
])('takes %j for no token', (text) => {
  expect(tokens.verify(text)).toBeNull();
});
