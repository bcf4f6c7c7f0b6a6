import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

export type KeyedHash = ReturnType<typeof createKeyedHash>;

/** Creates HMAC-SHA-256 functions with a key per purpose. Without the secret, hashes cannot be brute-forced. */
export function createKeyedHash(purpose: string, secret: string, previousSecrets: readonly string[] = []) {
  const keys = deriveKeys(purpose, secret, previousSecrets);
  const candidates = (text: string): readonly string[] => keys.map(({ key }) => macOf(key, text));
  return {
    of: (text: string) => candidates(text)[0] as string,
    /** Hashes with the oldest configured secret, so that a new secret does not change the hash. */
    lasting: (text: string) => candidates(text).at(-1) as string,
    /** Hashes with each configured secret, to find a hash stored with any of the secrets. */
    candidates,
    /** Returns whether `given` is the text's hash with any of the secrets. */
    matches: (text: string, given: string) => candidates(text).some((each) => isSameText(given, each)),
  };
}

export function macOf(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares in constant time, so that timing reveals neither the first difference nor the length. */
export function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

interface DerivedKey {
  /** Short hash that identifies the key and its secret without revealing either. */
  readonly fingerprint: string;
  readonly key: KeyObject;
}

/** Derives the keys of a purpose, the current key first. Keys from previous secrets are only for existing data. */
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
