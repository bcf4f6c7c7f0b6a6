import type { IpnTokens } from '../domain/ipn-token.ts';
import { firstIdAtMs } from '../domain/payment-id.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';

/** Fingerprints of the secrets that payments need: their tokens can only be made with the secret of their creation. */
export interface SecretsInUse {
  /** Of the newest payment, whose secret was the current one; null without payments. */
  readonly newest: string | null;
  /** Of all payments that are not done, see `listOpenFingerprints`. */
  readonly open: readonly string[];
}

type Payments = Pick<PaymentStore, 'listPayments' | 'listOpenFingerprints'>;

export async function readNewestSecret(payments: Payments): Promise<string | null> {
  const [newest] = await payments.listPayments({}, null, 1);
  return newest?.tokenFingerprint ?? null;
}

/** @param openSinceMs payments that were created earlier have expired */
export async function readSecretsInUse(payments: Payments, openSinceMs: number): Promise<SecretsInUse> {
  return {
    newest: await readNewestSecret(payments),
    open: await payments.listOpenFingerprints(firstIdAtMs(openSinceMs)),
  };
}

/** Says which secrets were removed from `SECRET_KEY_PREVIOUS` too early, and what to do; null where none was. */
export function describeMissingSecrets(
  open: readonly string[],
  tokens: Pick<IpnTokens, 'knows'>,
): string | null {
  const missing = open.filter((fingerprint) => !tokens.knows(fingerprint));
  if (missing.length === 0) return null;
  return (
    `open payments need earlier secrets, with the fingerprints ${missing.join(', ')}: add them to ` +
    'SECRET_KEY_PREVIOUS, or their webhooks are not sent and their ipn_token is refused'
  );
}
