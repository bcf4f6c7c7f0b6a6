import { beforeAll, describe, expect, it } from 'vitest';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { languages } from '../../src/web/checkout-frame/languages.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  PAGES_BASE_URL,
  pagePayment,
  pageView,
} from '../support/checkout-pages.ts';
import { newRefund, refundLinks } from '../support/refunds.ts';

const MAXIMUM_BYTES = 14 * 1024;

let pages: CheckoutPages;
beforeAll(() => {
  const account = {
    brandColor: '#a01830',
    supportUrl: 'mailto:help@shop.example',
    termsUrl: 'https://shop.example/terms',
    returnUrl: 'https://shop.example/orders/{payment_id}',
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
  (url: string): Fetch =>
  (headers) =>
    pages.server.inject({ url, headers });

describe.each(['br', 'gzip'])(
  'with %s, in the language that needs most, at most 14 kB are sent of',
  (coding) => {
    it.each(Object.keys(checkoutStates) as (keyof typeof checkoutStates)[])(
      'a checkout that is %s',
      async (name) => {
        const id = pages.put(checkoutStates[name]());
        expect(await heaviest(coding, open(`/pay/${id}`))).toBeLessThanOrEqual(MAXIMUM_BYTES);
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
        `/refund/${refund.id}/${refundLinks.of(refund.id)}`,
        `/s/${shortCodeOf(id as never)}`,
      ]) {
        expect(await heaviest(coding, open(url))).toBeLessThanOrEqual(MAXIMUM_BYTES);
      }
    });
  },
);

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
    for (const words of ["content:'! ' / ''", 'calc(100% - 2 * min(']) expect(style).toContain(words);
    expect(style).toContain('.page bdi,.page code{');
  }
});
