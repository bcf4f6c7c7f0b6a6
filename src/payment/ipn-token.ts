import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKeys, macOf } from '../platform/keyed-hash.ts';
import type { PaymentId } from './payment.ts';
import { idOf, isPaymentId } from './payment-id.ts';

/**
 * Pattern of an `ipn_token`, which contains a payment id and its 256-bit MAC under a key derived from a secret. Tokens
 * are never stored, so a leaked database reveals no webhook signing key. A token also contains the fingerprint of its
 * secret, so that replacing the secret does not invalidate existing tokens.
 *
 * Format: `ipn_` + 6 characters of fingerprint + 32 hex digits of the id + 43 characters of the MAC (base64url).
 */
const tokenPattern = /^ipn_([A-Za-z0-9_-]{6})([0-9a-f]{32})([A-Za-z0-9_-]{43})$/;

export type IpnTokens = ReturnType<typeof createIpnTokens>;

/** Throws if two secrets have the same fingerprint. `previousSecrets` still verify and re-create old tokens. */
export function createIpnTokens(secret: string, previousSecrets: readonly string[] = []) {
  const derived = deriveKeys('ipn_token', secret, previousSecrets);
  const [{ fingerprint: currentFingerprint }] = derived;
  const keys = new Map<string, KeyObject>(derived.map(({ fingerprint, key }) => [fingerprint, key]));
  if (keys.size < derived.length) throw new Error('two of the secret keys are the same');

  return {
    /** Fingerprint of the current secret. Each payment stores the fingerprint, so that its token can be re-created. */
    currentFingerprint,
    /** Fingerprints of all secrets, with the current secret's first. */
    fingerprints: [...keys.keys()] as readonly string[],
    knows: (fingerprint: string) => keys.has(fingerprint),
    /** Creates a payment's token with the secret of this fingerprint. Throws for an unknown fingerprint. */
    create(paymentId: PaymentId, fingerprint = currentFingerprint): string {
      const key = keys.get(fingerprint);
      if (key === undefined) {
        throw new Error(`no secret key with fingerprint ${fingerprint}; is SECRET_KEY_PREVIOUS complete?`);
      }
      return `ipn_${fingerprint}${paymentId.replaceAll('-', '')}${macOf(key, paymentId)}`;
    },
    /** Returns the id of the token's payment; null if no configured secret created the token. */
    verify(token: string): PaymentId | null {
      const match = tokenPattern.exec(token);
      if (match === null) return null;
      const [, fingerprint, digits, mac] = match as unknown as [string, string, string, string];
      const key = keys.get(fingerprint);
      if (key === undefined) return null;
      const paymentId = idOf(digits);
      if (!isPaymentId(paymentId)) return null;
      return timingSafeEqual(Buffer.from(macOf(key, paymentId)), Buffer.from(mac)) ? paymentId : null;
    },
  };
}
