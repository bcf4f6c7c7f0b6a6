import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A key for one purpose, derived from one of the server's secrets. */
export interface DerivedKey {
  /** Names the key, and with it the secret, and says nothing about either. */
  readonly fingerprint: string;
  readonly key: KeyObject;
}

/** The keys of a purpose, the current one first; those of earlier secrets are for what was made with them. */
export function deriveKeys(
  purpose: string,
  secret: string,
  previousSecrets: readonly string[],
): readonly [DerivedKey, ...DerivedKey[]] {
  const derive = (from: string): DerivedKey => {
    const bytes = Buffer.from(hkdfSync('sha256', from, '', `card-checkout ${purpose} v1`, 32));
    const fingerprint = createHash('sha256').update(bytes).digest('base64url').slice(0, 6);
    return { fingerprint, key: createSecretKey(bytes) };
  };
  return [derive(secret), ...previousSecrets.map(derive)];
}
