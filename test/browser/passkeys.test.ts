import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Passkey } from '../../src/accounts/person.ts';
import { takeScreenshot } from '../support/browser.ts';
import { type BrowserShop, useBrowserShop } from '../support/browser-shop.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { appCode } from '../support/operator.ts';

const SECRET = 'JBSWY3DPEHPK3PXP';

let { browser, dashboard, baseUrl, account, user: owner, giveCredentials } = {} as BrowserShop;
useBrowserShop((shop) => ({ browser, dashboard, baseUrl, account, user: owner, giveCredentials } = shop), {
  host: 'localhost',
});

async function signIn(page: Page, user = owner): Promise<void> {
  await page.goto(`${baseUrl}/dashboard/sign-in?next=/dashboard/security`);
  await giveCredentials(page, user);
}

async function giveAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

it('a real browser adds a passkey and signs in with it, under the strict policy', async () => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await giveAuthenticator(page);

  await signIn(page);
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Laptop');
  await page.locator('#password-for-passkey').fill(PASSWORD);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await takeScreenshot(page, 'passkeys-new.png');
  await page.getByRole('button', { name: 'Create the passkey' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  await page.getByRole('link', { name: 'I have saved them' }).click();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(`${baseUrl}/dashboard/sign-in?next=/dashboard/security`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL(`${baseUrl}/dashboard/security`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(`${baseUrl}/dashboard/security`);
  await page.getByRole('link', { name: 'Manage passkeys' }).click();
  await page.getByRole('cell', { name: 'Laptop' }).waitFor();
  const [passkey] = await dashboard.store.people.listPasskeys(owner.id);
  expect(passkey?.lastUsedAtMs).not.toBeNull();

  const looks = [
    ['light-desktop', { width: 1280, height: 900 }],
    ['dark-phone', { width: 390, height: 844 }],
  ] as const;
  for (const [name, viewport] of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: name.startsWith('dark') ? 'dark' : 'light' });
    await page.goto(`${baseUrl}/dashboard/security/passkeys`);
    await takeScreenshot(page, `passkeys-asked-${name}.png`);
  }
  await page.getByText('Remove…').click();
  await page.locator('#password-for-passkey-0').fill(PASSWORD);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('The passkey is removed.').waitFor();
  expect(await dashboard.store.people.listPasskeys(owner.id)).toEqual([]);
  expect(complaints).toEqual([]);
  await dashboard.store.people.addPasskey(passkey as Passkey);
  await page.close();
});

it('a member with an authenticator app adds a passkey with one of its codes', async () => {
  const member = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
  const page = await browser.newPage();
  await giveAuthenticator(page);
  await signIn(page, member);
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).waitFor();
  const totpSecret = dashboard.context.secondFactor.box.seal(SECRET, member.id);
  await dashboard.store.people.updateUser(member.id, { totpSecret });
  await page.reload();
  await page.getByLabel('Name', { exact: true }).fill('Laptop');
  await page.locator('#password-for-passkey').fill(PASSWORD);
  await page.locator('#code-to-confirm-for-passkey').fill(appCode(SECRET, dashboard.nowMs()));
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Create the passkey' }).click();
  await page.getByText('The passkey is added.').waitFor({ timeout: 8_000 });
  await page.close();
});

it('without JavaScript no passkey is asked for, and a recovery code still is', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page);
  await page.getByLabel('Recovery code').waitFor();
  expect(await page.getByRole('button', { name: 'Use a passkey' }).isVisible()).toBe(false);
  await page.goto(`${baseUrl}/dashboard/sign-in`);
  expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false);
  await context.close();
});
