import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, takeScreenshot } from '../support/browser.ts';
import { goBy, headingOf, payWith, SETTLED_MS } from '../support/browser-customer.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { waitFor } from '../support/wait-for.ts';

let service: EndToEndService;
let browser: Browser;
beforeAll(async () => {
  service = await startEndToEndService();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

async function payBy(means: string, javaScriptEnabled: boolean): Promise<void> {
  const context = await browser.newContext({
    javaScriptEnabled,
    ...(means === 'Apple Pay' ? { userAgent: iphone } : {}),
  });
  const page = await context.newPage();
  const currency = means === 'Klarna' ? 'EUR' : 'USD';
  const terms = { amount: '25.00', currency, passFeeToCustomer: true };
  const { payment_id: id, checkout_url: url } = await service.create(terms);
  const picture = (name: string) =>
    takeScreenshot(page, `journey/${name}-${means}-${javaScriptEnabled}.png`.replace(' ', ''));

  await page.goto(url);
  expect(await page.textContent('body')).toContain('Demo shop');
  await picture('1-choose');
  await goBy(page, means);
  await picture('2-onramp');
  await payWith(page, '4242 4242 4242 4242');
  // Until it delivered, the on-ramp's page loads itself anew, which may end a click.
  await page.locator('#result').waitFor();
  await page.locator('meta[http-equiv=refresh]').waitFor({ state: 'detached', timeout: SETTLED_MS });
  await page.locator('#back').click();
  await picture('3-progress');

  // The page reaches its final state by its script, or without one by refreshing.
  await waitFor(`the page of ${means} to be paid`, 2 * SETTLED_MS, async () =>
    /^Paid\b/.test(await headingOf(page)),
  );
  await picture('4-paid');
  const body = (await page.textContent('body')) ?? '';
  const status = await service.readStatus(`payment_id=${id}`);
  for (const words of [status['txid_in'], status['txid_out']]) expect(body).toContain(words);
  await waitFor('the webhook', 60_000, () =>
    service.receiver.received.some(({ rawBody }) => rawBody.includes(id)),
  );
  await context.close();
}

it.each([true, false])(
  'a customer pays by each means from the checkout_url to the receipt (script: %s)',
  async (javaScriptEnabled) => {
    const means = ['Card', 'Apple Pay', 'Google Pay', 'PayPal', 'Klarna'];
    await Promise.all(means.map((each) => payBy(each, javaScriptEnabled)));
  },
  400_000,
);
