import {
  createHash,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

export type KeyedHash = ReturnType<typeof createKeyedHash>;

/** Hashes that cannot be brute-forced without the server's secret: HMAC-SHA-256 under a key of this purpose alone. */
export function createKeyedHash(purpose: string, secret: string, previousSecrets: readonly string[] = []) {
  const keys = deriveKeys(purpose, secret, previousSecrets);
  const candidates = (text: string): readonly string[] =>
    keys.map(({ key }) => createHmac('sha256', key).update(text).digest('base64url'));
  return {
    /** The hash under the current secret. */
    of: (text: string) => candidates(text)[0] as string,
    /** The hashes under every configured secret: one of them is the stored hash. */
    candidates,
    /** Whether this is the text's hash under one of them. */
    matches: (text: string, given: string) => candidates(text).some((each) => isSameText(given, each)),
  };
}

/** Compares in a time that reveals neither the first difference nor the length of the expected value. */
export function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** SHA-256 takes its input in blocks of this size; a key fills the first one. */
const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/**
 * HMAC-SHA-256 (RFC 2104) of ASCII texts of one length, in base64url. Every checkout needs one: `createHmac` makes an
 * object and a stream for each, which takes 6.7 µs where two plain hashes over prepared blocks take 4.3.
 *
 * @param key at most 64 bytes; a copy of it stays in memory
 */
export function createMac(key: Uint8Array, textCharacters: number): (text: string) => string {
  if (key.length > BLOCK_BYTES) throw new RangeError('the key of a MAC is longer than a block');
  const inner = padded(key, INNER_PAD, textCharacters);
  const outer = padded(key, OUTER_PAD, HASH_BYTES);
  return (text) => {
    // Nothing of the text before may stay.
    if (text.length !== textCharacters) throw new RangeError('the text of a MAC has another length');
    inner.write(text, BLOCK_BYTES, 'latin1');
    outer.write(hash('sha256', inner, 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, 'base64url');
  };
}

/** A block of the key, and room for what is hashed after it. */
function padded(key: Uint8Array, pad: number, room: number): Buffer {
  const bytes = Buffer.alloc(BLOCK_BYTES + room, pad);
  for (const [index, byte] of key.entries()) bytes[index] = byte ^ pad;
  return bytes;
}

/** A key for one purpose, derived from one of the server's secrets. */
interface DerivedKey {
  /** Identifies the key, and with it the secret, and reveals nothing about either. */
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
