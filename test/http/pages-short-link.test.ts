import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { checkoutStates, createCheckoutPages, pagePayment, pageView } from '../support/checkout-pages.ts';

const pages = createCheckoutPages({ account: { name: 'Café "Tortuga" & Co' } });

const put = (change: Partial<Payment> = {}) => pages.put(pageView(pagePayment(change)));
const open = (id: string, headers: Record<string, string> = {}) =>
  pages.server.inject({ url: `/s/${shortCodeOf(id)}`, headers });

describe('a short link', () => {
  it('tells previews shop, amount and note', async () => {
    const id = put({ note: 'Table 4 <b>& more</b>' });
    const { statusCode, body } = await open(id);
    expect(statusCode).toBe(200);
    const shop = 'Café &#34;Tortuga&#34; &#38; Co';
    const note = 'Table 4 &#60;b&#62;&#38; more&#60;/b&#62;';
    for (const [name, content] of [
      ['og:title', `Pay $26.10\u00a0USD to ${shop}`],
      ['og:description', note],
      ['og:site_name', shop],
      ['og:url', `http://localhost:3000/s/${shortCodeOf(id)}`],
    ]) {
      expect(body).toContain(`<meta property="${name}" content="${content}">`);
    }
    expect(body).toContain('<meta name="twitter:card" content="summary_large_image">');
    const image = `http://localhost:3000/s/${shortCodeOf(id)}/preview.png`;
    expect(body).toContain(`<meta property="og:image" content="${image}">`);
    expect(body).toContain(`<meta name="twitter:description" content="${note}">`);
    expect(body).not.toContain('<b>& more');
  });

  it('goes on to the checkout by script, by a link, and without script by itself', async () => {
    const id = put();
    const { body } = await open(id);
    expect(body).toContain(`id="continue" href="/pay/${id}"`);
    expect(body).toContain('location.replace(');
    expect(body).toContain(`<noscript><meta http-equiv="refresh" content="1; url=/pay/${id}"></noscript>`);
  });

  it('leads where the checkout_url leads', async () => {
    const id = put({ provider: 'moonpay', email: 'jane@example.com' });
    const { body } = await open(id);
    // ghtml escapes the equals sign as well.
    expect(body).toContain(`href="/pay/${id}?auto&#61;1"`);
    expect(body).not.toContain('jane');
  });

  it('does not send a preview on', async () => {
    const { body } = await open(put(), { 'user-agent': 'Twitterbot/1.0' });
    for (const words of ['location.replace', 'http-equiv']) expect(body).not.toContain(words);
    expect(body).toContain('og:title');
  });

  it('says what has become of a payment that is over', async () => {
    for (const [name, heading] of [
      ['paid', 'Paid'],
      ['canceled', 'This checkout was canceled'],
      ['expired', 'This checkout has expired'],
    ] as const) {
      const { body } = await open(pages.put(checkoutStates[name]()));
      expect(body).toContain(`<meta property="og:title" content="${heading} – $26.10\u00a0USD to`);
      expect(body).toContain('See the payment');
    }
  });

  it('shows neither callback nor token nor email', async () => {
    const { body } = await open(put({ note: null, email: 'jane@example.com' }));
    expect(body).not.toMatch(/canary|ipn_|jane/i);
  });
});
