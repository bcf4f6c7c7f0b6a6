import { expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import { createIpnTokens } from '../domain/ipn-token.ts';
import type { Payment } from '../domain/payment.ts';
import { requireKnownSecret } from './require-known-secret.ts';

const [OLD, NEW] = ['o'.repeat(40), 'n'.repeat(40)];

function paymentsMadeWith(secret: string | null) {
  const tokenFingerprint = secret === null ? '' : createIpnTokens(secret).currentFingerprint;
  return { listPayments: async () => (secret === null ? [] : [{ tokenFingerprint } as Payment]) };
}

it('starts with an empty store, with the same secret, and with the former one among the previous', async () => {
  await requireKnownSecret(paymentsMadeWith(null), createIpnTokens(NEW));
  await requireKnownSecret(paymentsMadeWith(OLD), createIpnTokens(OLD));
  await requireKnownSecret(paymentsMadeWith(OLD), createIpnTokens(NEW, [OLD]));
});

it('refuses a secret that replaced another one, and repeats neither', async () => {
  const refusal = requireKnownSecret(paymentsMadeWith(OLD), createIpnTokens(NEW));
  await expect(refusal).rejects.toThrow(ConfigError);
  await expect(refusal).rejects.toThrow(/SECRET_KEY_PREVIOUS/);
  await expect(refusal).rejects.not.toThrow(new RegExp(`${OLD}|${NEW}`));
});
