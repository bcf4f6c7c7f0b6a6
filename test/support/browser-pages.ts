import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import type { Browser } from 'playwright-core';
import { providerIds } from '../../src/payment/provider-catalog.ts';
import { launchBrowser } from './browser.ts';
import { type CheckoutPages, createCheckoutPages } from './checkout-pages.ts';

/** The pages of checkouts in the sandbox, with a browser, and providers at another origin that send customers on. */
export async function openPages(): Promise<{
  readonly browser: Browser;
  readonly pages: CheckoutPages;
  readonly baseUrl: string;
  close(): Promise<void>;
}> {
  const browser = await launchBrowser();
  const provider = fastify();
  provider.get('/visit', (request, reply) => {
    const { referer = 'none' } = request.headers;
    return reply.type('text/html').send(`<title>Provider</title><p id="referer">${referer}</p>`);
  });
  provider.get('/arrive', (_request, reply) => reply.redirect('/visit', 302));
  await provider.listen({ host: '127.0.0.1', port: 0 });
  const redirectUrl = `http://127.0.0.1:${(provider.server.address() as AddressInfo).port}/arrive`;
  const pages = createCheckoutPages({ isTestMode: true, redirectUrl, checksReferrer: 'transak' });
  for (const [index, id] of providerIds.entries()) {
    const deliveryUnits = 25_340_000n - BigInt(index % 4) * 310_000n - BigInt(index) * 10_000n;
    pages.quoteAnswers.set(id, async () => ({ deliveryUnits, minimumUsdCents: null }));
  }
  const baseUrl = await pages.server.listen({ host: '127.0.0.1', port: 0 });
  return {
    browser,
    pages,
    baseUrl,
    async close() {
      await browser.close();
      await pages.server.close();
      await provider.close();
    },
  };
}
