import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { createMac } from '../platform/keyed-hash.ts';
import { isPaymentId, PAYMENT_ID_CHARACTERS, type PaymentId } from './payment-id.ts';

/**
 * The `ipn_token` is derived, never stored: the payment id and a 256-bit MAC of it under a key derived from the
 * server's secret. A leaked database therefore reveals no webhook signing key. The token names the secret it was
 * made with, so that a secret can be replaced while tokens in circulation stay good.
 *
 * Text: `ipn_` + 6 letters naming the secret + 32 hex digits of the id + 43 letters of the MAC (base64url).
 */
const tokenPattern = /^ipn_([A-Za-z0-9_-]{6})([0-9a-f]{32})([A-Za-z0-9_-]{43})$/;

interface TokenKey {
  readonly fingerprint: string;
  /** The MAC of a payment id, in base64url. */
  readonly macOf: (paymentId: PaymentId) => string;
}

/** The id without its dashes. */
function digitsOf(id: PaymentId): string {
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
}

/** Makes and proves ipn_tokens. */
export interface IpnTokens {
  /** The token of a payment, under the secret that was current when it was created. */
  create(paymentId: PaymentId, fingerprint?: string): string;
  /** The payment a token belongs to, or null when no secret we hold has made it. */
  verify(token: string): PaymentId | null;
  /** Whether tokens made with the secret of this fingerprint can be made and proven. */
  knows(fingerprint: string): boolean;
  /** Names the current secret; a payment keeps it, so that its token can be made again. */
  readonly currentFingerprint: string;
}

function deriveTokenKey(secret: string): TokenKey {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'card-checkout ipn_token v1', 32));
  // The fingerprint is of the derived key, so it reveals nothing about the secret itself.
  const fingerprint = createHash('sha256').update(derived).digest('base64url').slice(0, 6);
  return { fingerprint, macOf: createMac(derived, PAYMENT_ID_CHARACTERS) };
}

/**
 * `secret` makes new tokens; `previousSecrets` still prove and re-create old ones.
 * Throws when two secrets share a fingerprint, because a token would then be ambiguous.
 */
export function createIpnTokens(secret: string, previousSecrets: readonly string[] = []): IpnTokens {
  const current = deriveTokenKey(secret);
  const keys = new Map<string, TokenKey>([[current.fingerprint, current]]);
  for (const previous of previousSecrets) {
    const tokenKey = deriveTokenKey(previous);
    if (keys.has(tokenKey.fingerprint)) throw new Error('two of the secret keys are the same');
    keys.set(tokenKey.fingerprint, tokenKey);
  }

  return {
    currentFingerprint: current.fingerprint,
    knows: (fingerprint) => keys.has(fingerprint),
    create(paymentId, fingerprint = current.fingerprint) {
      const tokenKey = keys.get(fingerprint);
      if (tokenKey === undefined) {
        throw new Error(`no secret key with fingerprint ${fingerprint}; is SECRET_KEY_PREVIOUS complete?`);
      }
      return `ipn_${fingerprint}${digitsOf(paymentId)}${tokenKey.macOf(paymentId)}`;
    },
    verify(token) {
      const match = tokenPattern.exec(token);
      if (match === null) return null;
      const [, fingerprint, digits, mac] = match as unknown as [string, string, string, string];
      const tokenKey = keys.get(fingerprint);
      if (tokenKey === undefined) return null;
      const paymentId = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
      if (!isPaymentId(paymentId)) return null;
      return timingSafeEqual(Buffer.from(tokenKey.macOf(paymentId)), Buffer.from(mac)) ? paymentId : null;
    },
  };
}
