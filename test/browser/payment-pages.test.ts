import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { desktop, takePictures, takeScreenshot } from '../support/browser.ts';
import { type BrowserShop, useBrowserShop } from '../support/browser-shop.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { cellsOutOfSight, overflowOf, violationsOf } from '../support/page-checks.ts';

const wallet = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
let { browser, dashboard, baseUrl, cookies } = {} as BrowserShop;
useBrowserShop((shop) => ({ browser, dashboard, baseUrl, cookies } = shop), {
  role: 'developer',
  account: { name: 'Café Tortuga', brandColor: '#a01830', wallet },
});

async function requireGood(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, `payment-pages-${name}.png`);
  const found = [await overflowOf(page), await violationsOf(page), await cellsOutOfSight(page)];
  expect([name, ...found]).toEqual([name, 0, [], []]);
}

const phone = { viewport: { width: 390, height: 844 } };

it.each([
  ['phone', 'light', phone],
  ['phone', 'dark', phone],
  ['desktop', 'light', desktop],
  ['desktop', 'dark', desktop],
] as const)(
  'a merchant creates a page and a customer pays on it, on a %s in %s',
  async (device, colorScheme, size) => {
    const look = `${device}-${colorScheme}`;
    const merchant = await browser.newContext({ ...size, colorScheme, reducedMotion: 'reduce' });
    await merchant.addCookies(cookies);
    const page = await merchant.newPage();
    await page.goto(`${baseUrl}/dashboard/pages`);
    await page.getByRole('link', { name: 'New payment page' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Tea tasting on Friday');
    expect(await page.getByLabel('Minimum').isVisible()).toBe(false);
    await page.getByText('Customer chooses').click();
    expect(await page.getByLabel('Amount', { exact: true }).isVisible()).toBe(false);
    await page.getByLabel('Minimum').fill('1');
    const preview = page.frameLocator('.preview iframe:last-child');
    await preview.getByRole('heading', { name: 'Tea tasting on Friday' }).waitFor();
    await preview.getByLabel('Amount in USD').waitFor();
    await page.getByText('Options').click();
    await page.getByLabel('Address', { exact: true }).fill('no good');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create page' }).click();
    await page.getByText('Must be 3 to 64 letters').waitFor();
    await requireGood(page, `new-${look}`);
    await page.getByLabel('Address', { exact: true }).fill(`tea-${look}`);
    await page.getByLabel('Number of payments').fill('20');
    await page.getByLabel('Question to the customer').fill('Which tea do you like?');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create page' }).click();
    await page.getByRole('img', { name: 'QR code of the page' }).waitFor();
    await requireGood(page, `page-${look}`);
    const link = await page.getByLabel('Link', { exact: true }).inputValue();

    const customer = await browser.newContext({
      ...size,
      colorScheme,
      javaScriptEnabled: device === 'desktop',
    });
    const visit = await customer.newPage();
    await visit.goto(link);
    await visit.getByLabel('Amount in USD').fill('12.50');
    await visit.getByLabel('Which tea do you like?').fill('Sencha');
    if (look === 'desktop-light') {
      await visit.setViewportSize({ width: 1120, height: 484 });
      await takePictures(visit, 'payment-page');
      await visit.setViewportSize(size.viewport);
    }
    await visit.getByLabel('Amount in USD').fill('0');
    await visit.getByRole('button', { name: 'Continue to payment' }).click();
    await visit.getByText('Enter an amount from').waitFor();
    await takeScreenshot(visit, `payment-pages-public-${look}.png`);
    if (device === 'desktop') await requireGood(visit, `public-${look}`);
    await visit.getByLabel('Amount in USD').fill('12,50');
    await visit.getByRole('button', { name: 'Continue to payment' }).click();
    await visit.waitForURL(/\/pay\//);
    await visit.getByText('$12.50').first().waitFor();
    await customer.close();

    await page.goto(`${baseUrl}/dashboard/pages`);
    await requireGood(page, `list-${look}`);
    await page.getByRole('link', { name: 'Tea tasting on Friday' }).first().click();
    await page.locator('section', { hasText: 'Newest payments' }).getByRole('link').first().click();
    await page.getByText('Sencha').waitFor();
    await merchant.close();
  },
);

it('the public page is accessible and fits on a phone, with text at 200 %, and when it is sold out', async () => {
  const context = await browser.newContext({ ...phone, colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(`${baseUrl}/p/tea-phone-light`);
  await requireGood(page, 'public-phone');
  await page.addStyleTag({ content: 'html { font-size: 200% }' }).catch(() => {});
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  await requireGood(page, 'public-phone-large');
  const found = await dashboard.store.paymentPages.findPageBySlug('tea-phone-light', dashboard.nowMs());
  const { accountId = '', id = '' } = found?.page ?? {};
  await dashboard.store.paymentPages.changePage(accountId, id, { stock: 1 });
  await page.goto(`${baseUrl}/p/tea-phone-light`);
  await page.getByText('Sold out for now').waitFor();
  await requireGood(page, 'public-phone-reserved');
  await context.close();
});
