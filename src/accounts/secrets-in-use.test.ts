import { expect, it } from 'vitest';
import { createIpnTokens } from '../payment/ipn-token.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { describeMissingSecrets } from './secrets-in-use.ts';

const [current, former] = ['the current secret of a test', 'the former secret of a test'];
const knownWith = (...previous: string[]) => ({
  tokens: createIpnTokens(current, previous),
  secondFactors: createSecretBox('second factor', current, previous),
  signingSecrets: createSecretBox('signing secrets', current, previous),
});
const formerToken = createIpnTokens(former).currentFingerprint;
const formerFactor = createSecretBox('second factor', former).seal('x', 'usr_1').split('.')[0] as string;

it.each([
  ['an open payment', { open: [formerToken], secondFactors: [] }, new RegExp(`^open .* ${formerToken}: add`)],
  [
    'a second factor',
    { open: [], secondFactors: [formerFactor] },
    /^second factors of users need .* reset-second/,
  ],
  ['both', { open: [formerToken], secondFactors: [formerFactor] }, /^open payments .*; second factors /],
])('a former secret that %s needs is missing without SECRET_KEY_PREVIOUS only', (_, needed, sentence) => {
  const secrets = { newest: null, signing: [], ...needed };
  expect(describeMissingSecrets(secrets, knownWith())).toMatch(sentence);
  expect(describeMissingSecrets(secrets, knownWith(former))).toBeNull();
});

it('names the accounts whose signing secrets an earlier SECRET_KEY seals', () => {
  const sealedBy = (key: string) =>
    createSecretBox('signing secrets', key).seal('x', 'a').split('.')[0] as string;
  const signing = [
    [sealedBy(former), 'acc_1'],
    [sealedBy(former), 'acc_1'],
    [sealedBy(current), 'acc_2'],
  ] as const;
  const secrets = { newest: null, open: [], secondFactors: [], signing };
  expect(describeMissingSecrets(secrets, knownWith(former))).toMatch(
    /^an earlier SECRET_KEY .* acc_1: keep it/,
  );
  expect(describeMissingSecrets({ ...secrets, signing: [] }, knownWith())).toBeNull();
});
