import { expect, it } from 'vitest';
import { jpegBomb, onePixel } from '../../test/support/pictures.ts';
import { createPictures } from '../platform/pictures.ts';
import { encodeLogo } from './manage-accounts.ts';

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
