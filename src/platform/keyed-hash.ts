import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

export type KeyedHash = ReturnType<typeof createKeyedHash>;

/** HMAC-SHA-256 under a key for this purpose, so that hashes cannot be brute-forced without the server's secret. */
export function createKeyedHash(purpose: string, secret: string, previousSecrets: readonly string[] = []) {
  const keys = deriveKeys(purpose, secret, previousSecrets);
  const candidates = (text: string): readonly string[] => keys.map(({ key }) => macOf(key, text));
  return {
    of: (text: string) => candidates(text)[0] as string,
    /** Hash under the oldest configured secret. It stays the same as long as that secret is configured. */
    lasting: (text: string) => candidates(text).at(-1) as string,
    /** Hashes under every configured secret, one of which is the stored hash. */
    candidates,
    /** Whether this is the text's hash under one of the secrets. */
    matches: (text: string, given: string) => candidates(text).some((each) => isSameText(given, each)),
  };
}

export function macOf(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares in constant time, revealing neither the first difference nor the expected length. */
export function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

interface DerivedKey {
  /** Identifies the key and its secret without revealing either. */
  readonly fingerprint: string;
  readonly key: KeyObject;
}

/** Keys of a purpose, the current one first; those of earlier secrets are for existing data. */
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
