import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKeys } from './keyed-hash.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

export type SecretBox = ReturnType<typeof createSecretBox>;

/** Creates a box that seals texts with AES-256-GCM and a key per purpose, so that a leaked database reveals no text. */
export function createSecretBox(purpose: string, secret: string, previousSecrets: readonly string[] = []) {
  const keys = deriveKeys(purpose, secret, previousSecrets);
  return {
    /** Encrypts a text with the current secret and a random nonce. Only `open` with the same owner can decrypt it. */
    seal(text: string, owner: string): string {
      const [{ fingerprint, key }] = keys;
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${fingerprint}.${sealed.toString('base64url')}`;
    },
    knows: (fingerprint: string) => keys.some((key) => key.fingerprint === fingerprint),
    isCurrent: (sealed: string) => sealed.startsWith(`${keys[0].fingerprint}.`),
    /** Decrypts a text. Returns null if its secret is unknown, its owner differs, or it was modified. */
    open(sealed: string, owner: string): string | null {
      const [fingerprint, text = ''] = sealed.split('.');
      const known = keys.find((candidate) => candidate.fingerprint === fingerprint);
      const bytes = Buffer.from(text, 'base64url');
      if (known === undefined || bytes.length < IV_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv('aes-256-gcm', known.key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return (
          decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
        );
      } catch {
        return null;
      }
    },
  };
}
