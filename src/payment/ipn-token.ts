import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKeys, macOf } from '../platform/keyed-hash.ts';
import type { PaymentId } from './payment.ts';
import { isPaymentId } from './payment-id.ts';

/**
 * The `ipn_token` is derived, never stored: the payment id and a 256-bit MAC of it under a key derived from the
 * server's secret. A leaked database therefore reveals no webhook signing key. The token names the secret it was
 * made with, so that a secret can be replaced while tokens in circulation stay good.
 *
 * Text: `ipn_` + 6 letters naming the secret + 32 hex digits of the id + 43 letters of the MAC (base64url).
 */
const tokenPattern = /^ipn_([A-Za-z0-9_-]{6})([0-9a-f]{32})([A-Za-z0-9_-]{43})$/;

/** The id without its dashes. */
function digitsOf(id: PaymentId): string {
  return id.replaceAll('-', '');
}

export type IpnTokens = ReturnType<typeof createIpnTokens>;

/**
 * Makes and proves ipn_tokens. `secret` makes new tokens; `previousSecrets` still prove and re-create old ones.
 * Throws when two secrets share a fingerprint, because a token would then be ambiguous.
 */
export function createIpnTokens(secret: string, previousSecrets: readonly string[] = []) {
  const derived = deriveKeys('ipn_token', secret, previousSecrets);
  const [{ fingerprint: currentFingerprint }] = derived;
  const keys = new Map<string, KeyObject>(derived.map(({ fingerprint, key }) => [fingerprint, key]));
  if (keys.size < derived.length) throw new Error('two of the secret keys are the same');

  return {
    /** Names the current secret; a payment keeps it, so that its token can be made again. */
    currentFingerprint,
    /** Those of all secrets, the current one first. */
    fingerprints: [...keys.keys()] as readonly string[],
    /** Whether tokens made with the secret of this fingerprint can be made and proven. */
    knows: (fingerprint: string) => keys.has(fingerprint),
    /** The token of a payment, under the secret that was current when it was created. */
    create(paymentId: PaymentId, fingerprint = currentFingerprint): string {
      const key = keys.get(fingerprint);
      if (key === undefined) {
        throw new Error(`no secret key with fingerprint ${fingerprint}; is SECRET_KEY_PREVIOUS complete?`);
      }
      return `ipn_${fingerprint}${digitsOf(paymentId)}${macOf(key, paymentId)}`;
    },
    /** The payment a token belongs to, or null when no secret we hold has made it. */
    verify(token: string): PaymentId | null {
      const match = tokenPattern.exec(token);
      if (match === null) return null;
      const [, fingerprint, digits, mac] = match as unknown as [string, string, string, string];
      const key = keys.get(fingerprint);
      if (key === undefined) return null;
      const paymentId = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
      if (!isPaymentId(paymentId)) return null;
      return timingSafeEqual(Buffer.from(macOf(key, paymentId)), Buffer.from(mac)) ? paymentId : null;
    },
  };
}
