import { expect, it } from 'vitest';
import { createCheckoutPages, shopLogo } from '../support/checkout-pages.ts';
import { onePixel } from '../support/pictures.ts';

const pages = createCheckoutPages();

it('serves the logo of a shop by its hash, as a picture and nothing else, to be kept', async () => {
  const answer = await pages.server.inject({ url: `/logos/${shopLogo.hash}` });
  expect([answer.statusCode, answer.rawPayload.equals(onePixel)]).toEqual([200, true]);
  expect(answer.headers).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
});

it.each(['f'.repeat(32), shopLogo.hash.toUpperCase(), `${shopLogo.hash}.png`, 'x', '%00', 'a'.repeat(500)])(
  'answers 404 to a logo that there is not: %s',
  async (hash) => {
    const answer = await pages.server.inject({ url: `/logos/${hash}` });
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([404, 'no-store']);
  },
);
