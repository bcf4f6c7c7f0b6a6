import { createHash } from 'node:crypto';
import { imageSize } from 'image-size';
import { invalidField } from './errors.ts';

/** The picture of a shop. It is served by us: a customer's browser asks nobody else. */
export interface ShopLogo {
  /** The first 32 hex digits of the SHA-256 of `bytes`. */
  readonly hash: string;
  readonly type: LogoType;
  readonly bytes: Uint8Array;
}

/** Pictures that cannot hold a script. */
const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
type LogoType = (typeof logoTypes)[number];

/** Small enough that it does not make a light page heavy. */
export const MAXIMUM_LOGO_BYTES = 64 * 1024;
/** Wide and high: a few bytes can unfold to an enormous picture in the customer's browser. */
export const MAXIMUM_LOGO_PIXELS = 1024;

/** Judges a picture that a merchant uploaded, by its bytes alone. Throws `invalid_request`. */
export function parseShopLogo(bytes: Uint8Array): ShopLogo {
  if (bytes.length > MAXIMUM_LOGO_BYTES) {
    throw invalidField('logo', `must have at most ${MAXIMUM_LOGO_BYTES / 1024} KiB`);
  }
  const type = typeOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const { width, height } = measure(bytes);
  if (!(width >= 1 && height >= 1)) throw notAPicture();
  if (Math.max(width, height) > MAXIMUM_LOGO_PIXELS) {
    throw invalidField('logo', `must be at most ${MAXIMUM_LOGO_PIXELS} pixels wide and high`);
  }
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  return { hash, type, bytes };
}

/** Whether a stored logo is of a type that this version serves. */
export function isLogoType(name: string): name is LogoType {
  return (logoTypes as readonly string[]).includes(name);
}

/** By its first bytes, before anything takes it apart: what the uploader called it says nothing. */
function typeOf(bytes: Buffer): LogoType {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff') return 'image/jpeg';
  const isRiff = bytes.subarray(0, 4).toString('latin1') === 'RIFF';
  if (isRiff && bytes.subarray(8, 12).toString('latin1') === 'WEBP') return 'image/webp';
  throw notAPicture();
}

function measure(bytes: Uint8Array) {
  try {
    // A copy: the library reads past the end of bytes that share their memory with others.
    return imageSize(Uint8Array.from(bytes));
  } catch {
    // The library throws plain errors of many kinds for what it cannot read.
    throw notAPicture();
  }
}

function notAPicture() {
  return invalidField('logo', 'must be a PNG, JPEG or WebP picture');
}
