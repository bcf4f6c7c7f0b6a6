import { invalidField, ServiceError } from '../payment/errors.ts';
import {
  PictureLimitError,
  PictureRefusedError,
  type Pictures,
  PicturesBusyError,
} from '../platform/pictures.ts';
import {
  MAXIMUM_LOGO_BYTES,
  MAXIMUM_LOGO_PIXELS,
  type ShopLogo,
  STORED_LOGO_PIXELS,
  shopLogoOf,
} from './shop-profile.ts';

const BUSY_SECONDS = 5;

/** Re-encodes a picture as a logo. Throws `invalid_request`, or `rate_limited` while others are processed. */
export async function encodeLogo(pictures: Pictures, owner: string, bytes: Uint8Array): Promise<ShopLogo> {
  if (bytes.length > MAXIMUM_LOGO_BYTES)
    throw invalidField('logo', `must have at most ${MAXIMUM_LOGO_BYTES / 1024} KiB`);
  try {
    return shopLogoOf(await pictures.encode(owner, bytes, MAXIMUM_LOGO_PIXELS, STORED_LOGO_PIXELS));
  } catch (error) {
    if (error instanceof PictureRefusedError || error instanceof PictureLimitError)
      throw invalidField('logo', error.message);
    if (!(error instanceof PicturesBusyError)) throw error;
    const text = 'Another picture is being processed. Retry shortly.';
    throw new ServiceError('rate_limited', text, { retryAfterSeconds: BUSY_SECONDS });
  }
}
