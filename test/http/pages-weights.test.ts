import { beforeAll, describe, expect, it } from 'vitest';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { languages } from '../../src/web/checkout-layout/languages.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  PAGES_BASE_URL,
  pagePayment,
  pageView,
} from '../support/checkout-pages.ts';
import { addressLinkTokens, newRefund } from '../support/refunds.ts';

const MAXIMUM_BYTES = 14 * 1024;

let pages: CheckoutPages;
beforeAll(() => {
  const account = {
    brandColor: '#a01830',
    supportUrl: 'mailto:help@shop.example',
    termsUrl: 'https://shop.example/terms',
    returnUrl: 'https://shop.example/orders/{payment_id}',
    returnHosts: ['shop.example', 'www.shop.example'],
  };
  pages = createCheckoutPages({ needsCountry: 'revolut', account });
});

type Fetch = (headers: Record<string, string>) => Promise<{ statusCode: number; rawPayload: Buffer }>;

/** The heaviest answer of a page in all languages. */
async function heaviest(coding: string, fetch: Fetch): Promise<number> {
  const weights: number[] = [];
  for (const { code } of languages) {
    const answer = await fetch({ 'accept-encoding': coding, 'accept-language': code });
    expect(answer.statusCode).toBe(200);
    weights.push(answer.rawPayload.length);
  }
  return Math.max(...weights);
}

const open =
  (url: string, place = 'document'): Fetch =>
  (headers) =>
    pages.server.inject({ url, headers: { ...headers, 'sec-fetch-dest': place } });

describe.each(['br', 'gzip'])(
  'with %s, in the language that needs most, at most 14 kB are sent of',
  (coding) => {
    it.each(Object.keys(checkoutStates) as (keyof typeof checkoutStates)[])(
      'a checkout that is %s',
      async (name) => {
        const id = pages.put(checkoutStates[name]());
        // Browsers that frame pages over HTTPS take Brotli.
        for (const place of coding === 'br' ? ['document', 'iframe'] : ['document'])
          expect(await heaviest(coding, open(`/pay/${id}`, place))).toBeLessThanOrEqual(MAXIMUM_BYTES);
      },
    );

    it('the question for the country', async () => {
      const id = pages.put(checkoutStates.choose());
      const ask: Fetch = (headers) =>
        pages.server.inject({
          method: 'POST',
          url: `/pay/${id}/providers/revolut`,
          headers: {
            ...headers,
            origin: PAGES_BASE_URL,
            'content-type': 'application/x-www-form-urlencoded',
          },
          payload: '',
        });
      expect((await ask({})).rawPayload.toString()).toContain('<select id="country"');
      expect(await heaviest(coding, ask)).toBeLessThanOrEqual(MAXIMUM_BYTES);
    });

    it('the link of a refund and a short link', async () => {
      const id = pages.put(checkoutStates.choose());
      const payment = pagePayment();
      pages.put(pageView(payment));
      const refund = newRefund(payment, {
        status: 'awaiting_address',
        destination: null,
        createdAtMs: NOW_MS,
      });
      pages.refunds.set(refund.id, refund);
      for (const url of [
        `/refund/${refund.id}/${addressLinkTokens.of(refund.id)}`,
        `/s/${shortCodeOf(id as never)}`,
      ]) {
        expect(await heaviest(coding, open(url))).toBeLessThanOrEqual(MAXIMUM_BYTES);
      }
    });
  },
);

it('the script for pages of shops has at most 3 kB, works from any of them, and is asked for once an hour', async () => {
  const { rawPayload, headers } = await pages.server.inject('/checkout.js');
  expect(rawPayload.length).toBeLessThanOrEqual(3_000);
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
  });
});

it('a page has the rules of its kind, and no token without a use', async () => {
  const styleOf = async (url: string) =>
    /<style[^>]*>([^<]*)<\/style>/.exec((await pages.server.inject(url)).body)?.[1] ?? '';
  const choice = await styleOf(`/pay/${pages.put(checkoutStates.choose())}`);
  const transfer = await styleOf(`/pay/${pages.put(checkoutStates.direct())}`);
  expect(choice).toContain('.offers{');
  expect(choice).not.toMatch(/\.copies|\.sandbox|\.badge|\.danger/);
  expect(transfer).toContain('.copies dd{');
  expect(transfer).not.toContain('.offers{');
  for (const style of [choice, transfer]) {
    expect(style).not.toMatch(/\/\*|\n|;\}/);
    for (const [, token] of style.matchAll(/(--[\w-]+):/g)) expect(style).toContain(`var(${token})`);
    // What a minifier must not join: texts, sums and selectors of descendants.
    for (const words of ["content:'! '/''", 'calc(100% - 2 * min(']) expect(style).toContain(words);
    expect(style).toContain('.page bdi,.page code{');
  }
});
