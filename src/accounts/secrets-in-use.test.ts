import { expect, it } from 'vitest';
import { createIpnTokens } from '../payment/ipn-token.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { describeMissingSecrets } from './secrets-in-use.ts';

const [current, former] = ['the current secret of a test', 'the former secret of a test'];
const knownWith = (...previous: string[]) => ({
  tokens: createIpnTokens(current, previous),
  secondFactors: createSecretBox('second factor', current, previous),
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
  const secrets = { newest: null, ...needed };
  expect(describeMissingSecrets(secrets, knownWith())).toMatch(sentence);
  expect(describeMissingSecrets(secrets, knownWith(former))).toBeNull();
});
