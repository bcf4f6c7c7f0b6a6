import { beforeAll, describe, expect, it } from 'vitest';
import { newEntry } from '../store/people.ts';
import { desktop, phone, takeScreenshot } from '../support/browser.ts';
import { type BrowserShop, useBrowserShop } from '../support/browser-shop.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { cellsOutOfSight, overflowOf, statelessControlsOf, violationsOf } from '../support/page-checks.ts';

let { browser, dashboard, baseUrl, account, user: owner, giveCredentials } = {} as BrowserShop;
useBrowserShop((shop) => ({ browser, dashboard, baseUrl, account, user: owner, giveCredentials } = shop), {
  account: { name: 'Café Tortuga' },
  checkEndpoint: async () => [
    { name: 'DNS', level: 'fail', detail: 'DNS has no address for the host name.' },
  ],
});

beforeAll(async () => {
  for (const role of ['developer', 'viewer'] as const)
    await dashboard.giveUser({ accountId: account.id, role });
  for (const action of ['key.created', 'key.revoked', 'member.added'] as const)
    await dashboard.store.audit.appendEntry(newEntry(account.id, { action, target: 'Web shop' }));
});

/** Both sizes and both themes, in half the time of all four together. */
const looks = [
  ['phone', 'light', phone],
  ['desktop', 'dark', desktop],
] as const;

describe.each(looks)('on a %s in %s', (device, colorScheme, options) => {
  it('every page can be reached and used, by everybody', async () => {
    const page = await browser.newPage({ ...options, colorScheme, reducedMotion: 'reduce' });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    const kinds = new Set<string>();
    const look = async (name: string) => {
      await takeScreenshot(page, `dashboard-${name}-${device}-${colorScheme}.png`);
      for (const violation of await violationsOf(page)) complaints.push(`${name} ${violation}`);
      const overflow = await overflowOf(page);
      if (overflow > 0) complaints.push(`${name} is ${overflow} px too wide`);
      for (const text of await cellsOutOfSight(page)) complaints.push(`${name} hides ${text}`);
      const hasOneStep = (await page.locator('main .primary:visible').count()) < 2;
      if (!hasOneStep) complaints.push(`${name} has several next steps`);
      if (device !== 'desktop') return;
      for (const text of await statelessControlsOf(page, kinds)) complaints.push(`${name}: ${text}`);
    };
    await page.goto(`${baseUrl}/dashboard/keys`);
    await look('sign-in');
    await page.getByLabel('Email address').fill(owner.email);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await page.getByLabel('Name').fill(`Shop on a ${device} in ${colorScheme}`);
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { level: 1, name: 'Your new key' }).waitFor();
    await look('new-key');
    await page.getByRole('link', { name: 'I have saved it' }).click();
    await page
      .getByText(/^Revoke…/)
      .first()
      .click();
    await look('keys');
    for (const name of ['Home', 'Settings', 'Notifications', 'People', 'Security', 'Audit log']) {
      if (device === 'phone') await page.getByText('Menu').click();
      await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await look(name.toLowerCase().replace(' ', '-'));
    }
    await page.goto(`${baseUrl}/dashboard/notifications/add/telegram`);
    await page.getByLabel('Bot token').fill('123');
    await page.getByLabel('Chat ID').fill('me');
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('alert').getByRole('link', { name: 'Bot token' }).click();
    await look('notification-refused');
    await page.goto(`${baseUrl}/dashboard/notifications/add/mail`);
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('status').filter({ hasText: 'The channel is added.' }).waitFor();
    await look('notification-added');
    await page.goto(`${baseUrl}/dashboard/webhook-check`);
    await page.getByLabel('Webhook URL').fill('https://shop.example.com/hook');
    await page.getByRole('button', { name: 'Test endpoint' }).click();
    await page.getByRole('heading', { level: 2, name: 'Result' }).waitFor();
    await look('webhook-check');
    await page.goto(`${baseUrl}/dashboard/settings`);
    await page.getByLabel('Name', { exact: true }).fill('Café Lagarto');
    await page.getByLabel('Support').fill('https://user:p@x.com');
    await page.getByLabel('Brand color').fill('#ff6a00');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByRole('link', { name: 'Support' }).click();
    await look('settings-refused');
    await page.getByRole('button', { name: 'Use #c75300' }).click();
    await page.getByRole('link', { name: 'Customer data' }).click();
    await page.getByLabel('Customer’s email address').first().fill('nobody@example.com');
    await page.getByRole('button', { name: 'Export as JSON' }).click();
    await page.getByText('is in no payment of this account').first().waitFor();
    await look('customers');
    await page.getByRole('link', { name: 'Payouts & providers' }).click();
    await page.getByLabel('Wallet on Polygon').fill('0x12');
    await page.getByLabel('Lock payouts to this wallet').check();
    await page.locator('#password').fill('wrong');
    await page.getByRole('button', { name: 'Save wallet' }).click();
    await page.getByRole('alert').getByRole('link', { name: 'Wallet on Polygon' }).click();
    await page.goto(`${baseUrl}/dashboard/people`);
    await page.getByLabel('Email address').fill(`new-${device}@shop.example`);
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('status').filter({ hasText: 'The invitation is sent.' }).waitFor();
    await look('invited');
    await page.goto(
      /https?:\S+\/dashboard\/invitation\/\S+/.exec(dashboard.mails.at(-1)?.text ?? '')?.[0] ?? '',
    );
    await page.getByRole('heading', { level: 1, name: 'You are invited' }).waitFor();
    await look('invitation');
    await page.goto(`${baseUrl}/dashboard/nothing`);
    await look('nothing');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});

it('shows the current section on one line of a phone, and values as whole words at 200 % text', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${baseUrl}/dashboard/audit`);
  await giveCredentials(page);
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  const navigation = page.getByRole('navigation', { name: 'Dashboard' });
  await navigation.getByText('Menu · Audit log').waitFor();
  expect((await navigation.boundingBox())?.height).toBeLessThan(60);
  await page.goto(`${baseUrl}/dashboard/people`);
  const badge = page.locator('tbody .badge', { hasText: 'off' }).first();
  const height = (await badge.boundingBox())?.height ?? 0;
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  // One line of text that is twice as high.
  expect((await badge.boundingBox())?.height).toBeLessThan(height * 2.5);
  await page.close();
});

it.each([true, false])(
  'the checkout beside the settings follows the fields (script: %s)',
  async (hasScript) => {
    const page = await browser.newPage({ javaScriptEnabled: hasScript, ...desktop });
    await page.goto(`${baseUrl}/dashboard/settings`);
    await giveCredentials(page);
    const frame = page.frameLocator('.preview iframe:last-child');
    if (hasScript) await frame.getByText('$49.00').first().waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Tea house');
    await page.getByLabel('Brand color').fill('#123456');
    const button = page.getByRole('button', { name: 'Preview' });
    expect(await button.isVisible()).toBe(!hasScript);
    if (!hasScript) await button.click();
    await frame.getByText('Tea house').first().waitFor();
    const colorOfButton = "getComputedStyle(document.querySelector('.button.primary')).backgroundColor";
    const color = () => frame.locator('body').evaluate(colorOfButton);
    await expect.poll(color).toBe('rgb(18, 52, 86)');
    expect(await page.getByLabel('Brand color').inputValue()).toBe('#123456');
    await page.close();
  },
);
