import sharp from 'sharp';
import { expect, it } from 'vitest';
import { jpegBomb, onePixel } from '../../test/support/pictures.ts';
import { createPictures, PictureLimitError, type Pictures } from '../platform/pictures.ts';
import { encodeLogo, readLogo } from './shop-logo.ts';

/** An account store with one logo, as an earlier version stored it. */
function storeWith(bytes: Uint8Array, pictures: Pictures = createPictures()) {
  let logo: { hash: string; bytes: Uint8Array; isEncoded: boolean } | null = {
    hash: 'old',
    bytes,
    isEncoded: false,
  };
  const accounts = {
    findLogo: async () => logo,
    replaceLogo: async (hash: string, encoded: Uint8Array | null) => {
      logo = encoded === null ? null : { hash, bytes: encoded, isEncoded: true };
    },
  };
  return { context: { accounts, pictures }, stored: () => logo };
}

it('a logo that was stored as it was uploaded is encoded anew once, under its name', async () => {
  const { context, stored } = storeWith(Buffer.concat([onePixel, Buffer.from('<script>')]));
  const logo = await readLogo(context, 'old');
  expect(logo).toMatchObject({ hash: 'old' });
  expect(Buffer.from(logo?.bytes ?? []).includes('<script>')).toBe(false);
  expect(await sharp(logo?.bytes).metadata()).toMatchObject({ format: 'png', width: 1 });
  expect(stored()).toEqual({ ...logo, isEncoded: true });
  expect(await readLogo(context, 'old')).toBe(stored());
});

it('a stored logo that unfolds is removed, and one that met a limit is kept and not shown', async () => {
  const bomb = storeWith(jpegBomb());
  expect(await readLogo(bomb.context, 'old')).toBeNull();
  expect(bomb.stored()).toBeNull();
  const failing = { ...createPictures(), encode: () => Promise.reject(new PictureLimitError()) };
  const slow = storeWith(onePixel, failing);
  expect(await readLogo(slow.context, 'old')).toBeNull();
  expect(slow.stored()).toMatchObject({ isEncoded: false });
});

it('an upload is refused at its field, and asked for again while another one of the account is encoded', async () => {
  const pictures = createPictures();
  const first = encodeLogo(pictures, 'shop', onePixel);
  await expect(encodeLogo(pictures, 'shop', onePixel)).rejects.toMatchObject({
    errorName: 'rate_limited',
    retryAfterSeconds: 5,
  });
  expect((await first).hash).toMatch(/^[0-9a-f]{32}$/);
  await expect(encodeLogo(pictures, 'shop', jpegBomb())).rejects.toThrow('logo must be at most 1024 pixels');
  await expect(encodeLogo(pictures, 'shop', Buffer.alloc(65_537))).rejects.toThrow(
    'logo must have at most 64 KiB',
  );
});
