import { ConfigError } from '../config.ts';
import type { IpnTokens } from '../domain/ipn-token.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';

/**
 * Refuses to start with a SECRET_KEY that replaced another one without SECRET_KEY_PREVIOUS: webhooks of payments made
 * before could not be signed, and their one attempt would be lost. The newest payment shows it, because its secret was
 * the current one. Throws `ConfigError`.
 */
export async function requireKnownSecret(
  payments: Pick<PaymentStore, 'listPayments'>,
  tokens: Pick<IpnTokens, 'knows'>,
): Promise<void> {
  const [newest] = await payments.listPayments({}, null, 1);
  if (newest === undefined || tokens.knows(newest.tokenFingerprint)) return;
  throw new ConfigError([
    'SECRET_KEY is not the one that the stored payments were made with: set that one, or add it to SECRET_KEY_PREVIOUS.',
  ]);
}
