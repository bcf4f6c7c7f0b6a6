import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, takeScreenshot } from '../support/browser.ts';
import { chooseMeans, goBy, headingOf, payWith, SETTLED_MS } from '../support/browser-customer.ts';
import { type EndToEndService, SOMEBODY, startEndToEndService } from '../support/e2e-service.ts';
import { runCommand, runJson } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

/** Chooses a provider, also one of the list of all. */
async function choose(page: Page, provider: string): Promise<void> {
  const button = page.locator('button', { hasText: provider });
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

  it('buys in the demo shop and pays in a dialog over the order, with a window for the provider', async () => {
    const shopUrl = /Shop +(http:\S+)/.exec(service.process().output())?.[1] ?? '';
    const page = await browser.newPage();
    await page.goto(shopUrl);
    await page.getByRole('button', { name: 'Buy A tin of tea' }).click();
    await page.getByRole('link', { name: 'Go to the checkout' }).click();
    const opened = page.waitForEvent('popup');
    await chooseMeans(page.frameLocator('dialog iframe'), 'Card');
    const provider = await opened;
    await payWith(provider, '4242 4242 4242 4242');
    await provider.locator('#back').click();
    await provider.getByText('Your card is approved').waitFor();
    await page.locator('dialog').waitFor({ state: 'detached', timeout: SETTLED_MS });
    await page.getByText('Paid. Your order is on its way.').waitFor({ timeout: SETTLED_MS });
    await page.close();
  }, 180_000);

  it('comes back to the page of a platform that its checkout names, until the host is removed', async () => {
    const shop = createServer((request, response) => void response.end(`At the shop: ${request.url}`));
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(shop.address() as AddressInfo).port}`;
    const allow = async (hosts: string) => {
      const [account] = await runJson<{ account_id: string }[]>(service.environment, 'account list');
      await runCommand(
        service.environment,
        `account update ${account?.account_id}`,
        `--return-hosts=${hosts}`,
      );
    };
    const post = async (path: string, body: object) => {
      const headers = { 'x-api-key': service.process().demoKey(), 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${service.url}/merchant/v1${path}`, sent)).json() as Promise<
        Record<string, string>
      >;
    };
    const order = {
      address: SOMEBODY,
      callback: service.receiver.url,
      amount: '25.00',
      items: [{ name: 'Tea', quantity: 2, amount: '25.00' }],
      return_url: `http://${host}/thanks/{payment_id}`,
      cancel_url: `http://${host}/cart`,
    };
    expect((await post('/checkouts', order))['error']).toContain(`return_url leads to ${host}`);
    await allow(host);
    const page = await browser.newPage();
    const canceled = await post('/checkouts', order);
    await waitFor('the cancellation', SETTLED_MS, async () => {
      return (await post(`/payments/${canceled['payment_id']}/cancel`, {}))['status'] === 'canceled';
    });
    await page.goto(canceled['checkout_url'] ?? '');
    await page.getByRole('link', { name: /^Back to/ }).click();
    await page.getByText('At the shop: /cart').waitFor();
    const paid = await post('/checkouts', order);
    await page.goto(paid['checkout_url'] ?? '');
    await page.locator('.bill').getByText('2 × Tea').waitFor();
    await goBy(page, 'Card');
    await payWith(page, '4242 4242 4242 4242');
    await page.locator('#back').click();
    await page.getByText(`At the shop: /thanks/${paid['payment_id']}`).waitFor({ timeout: SETTLED_MS });
    await allow('');
    for (const { checkout_url: url = '' } of [canceled, paid]) {
      await page.goto(url);
      expect(await page.locator(`a[href*="${host}"]`).count()).toBe(0);
    }
    await page.close();
    shop.close();
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
    await waitFor('both arrivals', SETTLED_MS, async () => {
      await headingAfterReload(page);
      return (await page.getByText('Arrived with transaction').count()) === 2;
    });
    expect(await page.textContent('main')).toContain('Ask Demo shop to refund the duplicate');
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
});
