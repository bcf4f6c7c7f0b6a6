import { type KeyObject, sign } from 'node:crypto';

/** The algorithms that a key can sign with, by the names that a token's header uses. */
export type TokenAlgorithm = 'EdDSA' | 'ES256';

/** What a private key signs tokens with: Ed25519 or P-256; null for every other key. */
export function tokenAlgorithmOf(key: KeyObject): TokenAlgorithm | null {
  if (key.asymmetricKeyType === 'ed25519') return 'EdDSA';
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    ? 'ES256'
    : null;
}

/**
 * A signature in the compact form of RFC 7515, of a payload as it stands. `alg` is put before the other fields of the
 * header. Throws for a key of another kind.
 */
export function signCompact(
  key: KeyObject,
  header: Readonly<Record<string, unknown>>,
  payload: string,
): string {
  const algorithm = tokenAlgorithmOf(key);
  if (algorithm === null) throw new TypeError('the key is neither Ed25519 nor P-256');
  const parts = [JSON.stringify({ alg: algorithm, ...header }), payload];
  const signed = parts.map((part) => Buffer.from(part).toString('base64url')).join('.');
  const signature =
    algorithm === 'EdDSA'
      ? sign(null, Buffer.from(signed), key)
      : sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
