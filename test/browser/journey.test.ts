import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, takeScreenshot } from '../support/browser.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { waitFor } from '../support/wait-for.ts';

/** From the click at the on-ramp to a final release on the local chain. */
const SETTLED_MS = 120_000;

/** Chooses a provider, also one of the list of all. */
async function choose(page: Page, provider: string): Promise<void> {
  const button = page.locator(`button[data-provider="${provider}"]`);
  if (!(await button.isVisible())) await page.getByRole('link', { name: /^All \d+ services$/ }).click();
  await button.click();
}

describe('a customer with a browser', () => {
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

  /** Goes to the provider behind a means, which may need the country. */
  async function goBy(page: Page, means: string): Promise<void> {
    await page.getByRole('radio', { name: means }).check();
    const country = page.getByLabel('Where do you live?');
    if (await country.isVisible()) await country.selectOption('DE');
    await page.getByRole('button', { name: /^Pay \$/ }).click();
    await page.locator('#back, a[href^="?card="]').first().waitFor();
  }

  async function payWith(page: Page, card: string): Promise<void> {
    await page.locator(`a[href="?card=${encodeURIComponent(card)}"]`).click();
    await page.locator('form[method=post] button[type=submit]').first().click();
  }

  it.each([
    ['Google Pay', true],
    ['PayPal', false],
  ])(
    'pays by %s from the checkout_url to the paid page (script: %s)',
    async (means, javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await context.newPage();
      const { payment_id: id, checkout_url: url } = await service.create({
        amount: '25.00',
        passFeeToCustomer: true,
      });

      await page.goto(url);
      expect(await page.textContent('body')).toContain('Demo shop');
      await takeScreenshot(page, `journey/1-choose-${javaScriptEnabled}.png`);
      await goBy(page, means);
      await takeScreenshot(page, `journey/2-onramp-${javaScriptEnabled}.png`);
      await payWith(page, '4242 4242 4242 4242');
      await page.locator('#back').click();
      await page.waitForURL(new RegExp(`/pay/${id}`));
      await takeScreenshot(page, `journey/3-progress-${javaScriptEnabled}.png`);

      // The page comes to its end by itself: by its script, or by refreshing itself where there is none.
      await waitFor('the paid page', SETTLED_MS, async () => /^Paid\b/.test(await headingOf(page)));
      await takeScreenshot(page, `journey/4-paid-${javaScriptEnabled}.png`);
      const body = (await page.textContent('body')) ?? '';
      const status = await service.readStatus(`payment_id=${id}`);
      for (const words of [status['txid_in'], status['txid_out']]) expect(body).toContain(words);
      await waitFor('the webhook', 60_000, () =>
        service.receiver.received.some(({ rawBody }) => rawBody.includes(id)),
      );
      await context.close();
    },
    120_000,
  );

  it('buys in the demo shop, pays, and is brought back to the order, which is paid', async () => {
    const shopUrl = /Shop +(http:\S+)/.exec(service.process().output())?.[1] ?? '';
    const page = await browser.newPage();
    await page.goto(shopUrl);
    await page.getByRole('button', { name: 'Buy A tin of tea' }).click();
    const order = page.url();
    // In the same tab: a customer with two of them does not know where the order is.
    await page.getByRole('link', { name: 'Go to the checkout' }).click();
    await goBy(page, 'Card');
    await payWith(page, '4242 4242 4242 4242');
    await page.locator('#back').click();
    await page.waitForURL(order, { timeout: SETTLED_MS });
    await page.getByText('Paid. Your order is on its way.').waitFor({ timeout: SETTLED_MS });
    await page.close();
  }, 180_000);

  it('plays outcomes with the panel of the sandbox, without JavaScript', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const { payment_id: id, checkout_url: url } = await service.create({ amount: '25.00' });
    await page.goto(url);
    await takeScreenshot(page, 'journey/panel.png');
    /** Until the page that the form leads to is there: its address is that of the page before. */
    const press = async (name: string) => {
      const loaded = page.waitForEvent('load');
      await page.getByRole('button', { name }).click();
      await loaded;
      await page.waitForURL(new RegExp(`/pay/${id}$`));
    };
    await press('Card declined');
    await waitFor('the refusal', 60_000, async () => {
      return (await headingAfterReload(page)).startsWith('Payment declined');
    });
    for (const name of [/^Try another card at /, /^Pay with .* instead$/])
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(1);
    await press('Too little arrives');
    await waitFor('the part', SETTLED_MS, async () => {
      return (await headingAfterReload(page)).startsWith('Almost there: pay ');
    });
    expect(await page.getByRole('button', { name: 'Paid' }).count(), 'nothing to play any more').toBe(0);

    const other = await service.create({ amount: '25.00' });
    await page.goto(other.checkout_url);
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Paid twice' }).click();
    await loaded;
    await waitFor('the paid page', SETTLED_MS, async () => /^Paid\b/.test(await headingAfterReload(page)));
    await context.close();
  });

  it('is told how much is missing when too little arrived, and pays the rest at a provider', async () => {
    const page = await browser.newPage();
    const { payment_id: id, checkout_url: url } = await service.create({ amount: '25.00' });
    await page.goto(url);
    await choose(page, 'Wert');
    await payWith(page, '4000 0000 0000 9995');
    await page.locator('#back').click();
    await waitFor('the page about the missing rest', SETTLED_MS, async () =>
      /incomplete/i.test(await headingOf(page)),
    );
    // Not before the provider reports that the first delivery is complete.
    await page.getByRole('button', { name: /^Pay \$/ }).waitFor({ timeout: SETTLED_MS });
    await takeScreenshot(page, 'journey/5-underpaid.png');

    const owed = /Pay \$([\d.]+)/.exec((await page.textContent('main')) ?? '')?.[1] ?? '';
    expect(Number(owed)).toBeGreaterThan(1);
    expect(Number(owed)).toBeLessThan(25);
    await choose(page, 'Wert');
    expect(await page.textContent('body')).toContain(owed);
    await payWith(page, '4242 4242 4242 4242');
    await page.locator('#back').click();
    await waitFor('the paid page', SETTLED_MS, async () => /^Paid\b/.test(await headingOf(page)));
    expect((await service.readStatus(`payment_id=${id}`))['status']).toBe('paid');
    await page.close();
  });

  /** Without a script, the page also loads itself anew at times, which may end a reload. */
  async function headingAfterReload(page: Page): Promise<string> {
    await page.reload().catch(() => null);
    return headingOf(page);
  }

  /** The heading of the page; empty while the page is loading anew. */
  async function headingOf(page: Page): Promise<string> {
    return ((await page.textContent('h1', { timeout: 1_000 }).catch(() => '')) ?? '').trim();
  }
});
