import type { IpnTokens } from '../domain/ipn-token.ts';
import { AFTER_ALL_IDS, firstIdAtMs } from '../domain/payment-id.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';

/** Fingerprints of the secrets that payments need: their tokens can only be made with the secret of their creation. */
export interface SecretsInUse {
  /** Of the newest payment, whose secret was the current one; null without payments. */
  readonly newest: string | null;
  /** Of the oldest payment that may still be open; null without one. */
  readonly oldestOpen: string | null;
}

/** @param openSinceMs payments that were created earlier have expired */
export async function readSecretsInUse(
  {
    payments,
  }: { readonly payments: Pick<PaymentStore, 'listPayments' | 'listPaymentIds' | 'findPaymentById'> },
  openSinceMs: number,
): Promise<SecretsInUse> {
  const [newest] = await payments.listPayments({}, null, 1);
  const [oldestId] = await payments.listPaymentIds(firstIdAtMs(openSinceMs), AFTER_ALL_IDS, 1);
  const oldest = oldestId === undefined ? null : await payments.findPaymentById(oldestId);
  return {
    newest: newest?.tokenFingerprint ?? null,
    oldestOpen: oldest?.tokenFingerprint ?? null,
  };
}

/**
 * Says that a secret was removed from `SECRET_KEY_PREVIOUS` too early, and what to do; null where it was not. The first
 * secret of the open payments shows it, because secrets are replaced one after the other.
 */
export function describeMissingSecret(
  { oldestOpen }: SecretsInUse,
  tokens: Pick<IpnTokens, 'knows'>,
): string | null {
  if (oldestOpen === null || tokens.knows(oldestOpen)) return null;
  return (
    `payments that may still be open need an earlier secret, whose fingerprint is ${oldestOpen}: add it to ` +
    'SECRET_KEY_PREVIOUS, or their webhooks are not sent and their ipn_token is refused'
  );
}
