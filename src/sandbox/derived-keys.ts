import { createECDH, createHmac, createPrivateKey, type KeyObject } from 'node:crypto';

/** 32 bytes for one purpose, as 64 hex digits, that tell nothing of the key they come from. */
export function deriveHex(key: string, purpose: string): string {
  return createHmac('sha256', key).update(purpose).digest('hex');
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const ED25519_PREFIX = '302e020100300506032b657004220420';

/** The Ed25519 key with this seed. */
export function ed25519KeyOf(seedHex: string): KeyObject {
  const der = Buffer.from(ED25519_PREFIX + seedHex, 'hex');
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** The key on secp256k1 with this number, which nearly every number of 32 bytes is. */
export function secp256k1KeyOf(numberHex: string): KeyObject {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(numberHex, 'hex');
  const point = curve.getPublicKey();
  const encoded = (bytes: Buffer) => bytes.toString('base64url');
  return createPrivateKey({
    format: 'jwk',
    key: {
      ...{ kty: 'EC', crv: 'secp256k1', d: encoded(Buffer.from(numberHex, 'hex')) },
      ...{ x: encoded(point.subarray(1, 33)), y: encoded(point.subarray(33)) },
    },
  });
}
