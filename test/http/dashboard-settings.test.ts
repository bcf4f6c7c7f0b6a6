import { describe, expect, it } from 'vitest';
import { eraseOldData } from '../../src/accounts/erase-old-data.ts';
import { createPasswordLink } from '../../src/accounts/password-links.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { newPayment } from '../store/fixtures.ts';
import { PASSWORD, withoutNonces } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';
import { jpegBomb, onePixel } from '../support/pictures.ts';
import { waitFor } from '../support/wait-for.ts';

const SETTINGS = '/dashboard/settings';
const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

let { dashboard, account, user: owner, browser } = {} as TestShop;
useShop((shop) => ({ dashboard, account, user: owner, browser } = shop));

const shop = {
  name: 'Café <Tortuga>',
  brand_color: '#A01830',
  support_link: 'help@shop.example',
  terms_link: 'https://shop.example/terms',
  return_link: 'https://shop.example/back',
  default_callback: 'https://shop.example/hook',
  time_zone: 'Asia/Tokyo',
  base_currency: 'EUR',
};
/** The pages, each with the fields of its form. */
const pages = {
  '': /name|brand_color|_link/,
  '/payouts': /callback|percent|cent/,
  '/account': /time_zone|currency|retention|mails/,
};
const save = (path: string, fields: Record<string, string>) =>
  browser.post(SETTINGS + path, { password: PASSWORD, ...fields });
async function saveAll(fields: Record<string, string>): Promise<void> {
  for (const path of Object.keys(pages)) expect((await save(path, fields)).statusCode).toBe(303);
}
const readAll = async () => {
  const answers = await Promise.all(Object.keys(pages).map((path) => browser.get(SETTINGS + path)));
  return answers.map(({ payload }) => payload).join();
};
const stored = () => dashboard.store.accounts.findAccount(account.id);

/** The fields that are marked as wrong, each with an error that it is described by. */
function wrongFieldsIn(page: string): string[] {
  const fields = [...page.matchAll(/<(?:input|select) id="(\w+)"[^>]*aria-invalid="true"[^>]*>/g)];
  return fields.map(([field, id = '']) => {
    const isDescribed = new RegExp(`aria-describedby="[^"]*\\b${id}-error\\b`).test(field);
    return isDescribed && errorIn(page, id) !== undefined ? id : `${id} is not described`;
  });
}
const errorIn = (page: string, id: string) =>
  new RegExp(`<p class="error" id="${id}-error">([^<]+)`).exec(page)?.[1];
const valueIn = (page: string, id: string) =>
  new RegExp(`<input id="${id}"[^>]* value="([^"]*)"`).exec(page)?.[1];

describe('settings', () => {
  it.each(['terms_link', 'support_link', 'return_link', 'failure_link'])(
    'take no %s that only this machine or a private network can open, except in the sandbox',
    async (field) => {
      const locals = 'localhost 127.0.0.1 [::1] 10.0.0.7 shop.local intranet 0x7f.1 [fd00::1]';
      const links = [
        ...locals.split(' ').map((host) => `https://${host}/back`),
        'http://localhost:3000/back',
      ];
      for (const link of links) {
        const refused = await save('', { ...shop, [field]: link });
        expect([link, refused.statusCode]).toEqual([link, 400]);
        expect(errorIn(refused.payload, field)).toContain('Must lead to a public host');
      }
      Object.assign(dashboard.context, { isTestMode: true });
      for (const link of links) expect((await save('', { ...shop, [field]: link })).statusCode).toBe(303);
    },
  );

  it('say how the shop appears, and are shown again as they were saved', async () => {
    await saveAll(shop);
    expect((await save('/account', shop)).headers['location']).toBe(`${SETTINGS}/account?flash=saved`);
    expect(await stored()).toMatchObject({
      name: 'Café <Tortuga>',
      brandColor: '#a01830',
      supportUrl: 'mailto:help@shop.example',
      termsUrl: 'https://shop.example/terms',
      returnUrl: 'https://shop.example/back',
      defaultCallbackUrl: 'https://shop.example/hook',
      timeZone: 'Asia/Tokyo',
      baseCurrency: 'EUR',
    });
    const page = await readAll();
    expect(await stored()).toMatchObject({ receivesAlerts: false, toleratesMissingCent: false });
    await saveAll({ ...shop, trouble_mails: '1', missing_cent: '1' });
    expect(await stored()).toMatchObject({ receivesAlerts: true, toleratesMissingCent: true });
    expect(await readAll()).toMatch(/<input id="missing_cent"[^>]* checked/);
    await saveAll({ ...shop, trouble_mails: '1' });
    expect((await stored())?.toleratesMissingCent).toBe(false);
    expect(page).toContain('value="help@shop.example"');
    expect(page).toContain('<option selected>Asia/Tokyo</option>');
    expect(page).toContain('<option selected>EUR</option>');
    expect(page).not.toContain('<Tortuga>');
    expect(textOf(page)).toContain('Card fee 2.5%');
    expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
      { action: 'settings.changed' },
    ]);
  });

  it.each([
    ['name', ''],
    ['brand_color', 'red'],
    ['support_link', 'javascript:alert(1)'],
    ['terms_link', 'help@shop.example'],
    ['return_link', 'http://shop.example'],
    ['failure_link', 'https://shop.example/?mail={email}'],
    ['return_hosts', '*.shop.example'],
    ['return_hosts', 'shop.example user@evil.example'],
    ['return_hosts', 'https://shop.example/'],
    ['return_hosts', 'shop.example.'],
    ['return_hosts', 'localhost:3005'],
    ['time_zone', 'Mars/Olympus'],
    ['base_currency', 'GBP'],
    ['default_callback', 'http://shop.example'],
    ['email_retention', '0'],
  ])('refuse %s %j on the page itself, and save nothing', async (field, value) => {
    const [path = ''] = Object.entries(pages).find(([, names]) => names.test(field)) ?? [];
    const answer = await save(path, { ...shop, [field]: value });
    expectSays(answer, 400, 'Nothing was saved');
    expect(await stored()).toEqual(account);
    expect(wrongFieldsIn(answer.payload)).toEqual([field]);
  });

  it('show the checkout with what is typed, in a frame of the dashboard only, without script, and store nothing', async () => {
    const typed = { name: 'Tea & <b>Co</b>', brand_color: '#ff6a00', support_link: 'help@shop.example' };
    const unsafe = { ...typed, support_link: 'javascript:alert(1)' };
    expect((await save('/preview', unsafe)).statusCode).toBe(204);
    const answer = await save('/preview', typed);
    expectSays(answer, 200, 'Tea & <b>Co</b>');
    expect(answer.payload).toContain('--accent:#c75300');
    expect(answer.payload).not.toMatch(/<script|javascript:|<b>Co/);
    expect(answer.headers).toMatchObject({
      'x-frame-options': 'SAMEORIGIN',
      'content-security-policy': expect.stringMatching(
        /form-action 'none'.*frame-ancestors 'self'; sandbox allow-same-origin$/,
      ),
    });
    const foreign = {
      page: SETTINGS,
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    };
    expect((await browser.post(`${SETTINGS}/preview`, typed, foreign)).statusCode).toBe(403);
    expect(await stored()).toEqual(account);
    expect(await dashboard.store.payments.listPayments({ accountId: account.id }, null, 1)).toEqual([]);
  });

  it('offer the nearest readable color in place of one that is not, and save it with the next click', async () => {
    const refused = await save('', { ...shop, brand_color: '#ff6a00' });
    expect(wrongFieldsIn(refused.payload)).toEqual(['brand_color']);
    expect(refused.payload).toMatch(/name="use_color" value="#c75300" formnovalidate/);
    const used = await save('', { ...shop, brand_color: '#ff6a00', use_color: '#c75300' });
    expect([used.statusCode, valueIn(used.payload, 'brand_color')]).toEqual([200, '#c75300']);
    expect([valueIn(used.payload, 'support_link'), wrongFieldsIn(used.payload)]).toEqual([
      shop.support_link,
      [],
    ]);
    expect(await stored()).toEqual(account);
  });

  it('take a tolerance and a maximum provider fee, and say in money what they mean', async () => {
    const sentence = async () => textOf(await readAll());
    expect(await sentence()).toContain(
      'a $100.00 payment counts as paid from 98.00 USDC, and from 68.60 USDC once',
    );
    await saveAll({ ...shop, tolerance_percent: '1', max_provider_fee_percent: '10' });
    expect(await stored()).toMatchObject({ toleranceBasisPoints: 100, maxProviderFeeBasisPoints: 1_000 });
    expect(await sentence()).toContain(
      'a $100.00 payment counts as paid from 99.00 USDC, and from 89.10 USDC once',
    );
    const refused = await save('/payouts', {
      ...shop,
      tolerance_percent: '60',
      max_provider_fee_percent: '0',
    });
    expect(refused.statusCode).toBe(400);
    expect(wrongFieldsIn(refused.payload)).toEqual(['tolerance_percent', 'max_provider_fee_percent']);
    await saveAll({ ...shop, tolerance_percent: '', max_provider_fee_percent: '' });
    expect(await stored()).toMatchObject({ toleranceBasisPoints: null, maxProviderFeeBasisPoints: null });
  });

  it('pin a provider and exclude others, which the page shows again and the audit log tells', async () => {
    const fields = { pinned: 'wert', provider_moonpay: '1', provider_stripe: '1' };
    expect((await save('/providers', fields)).headers['location']).toBe(`${SETTINGS}/payouts?flash=saved`);
    expect(await stored()).toMatchObject({
      pinnedProvider: 'wert',
      excludedProviders: ['moonpay', 'stripe'],
      name: account.name,
    });
    const payload = await readAll();
    expect(payload).toContain('<option value="wert" selected>Wert</option>');
    expect(payload).toMatch(/id="provider-moonpay"[^>]* checked/);
    expect(payload).not.toMatch(/id="provider-wert"[^>]* checked/);
    const [entry] = await dashboard.store.audit.listEntries(account.id, null, 1);
    expect(entry).toMatchObject({
      action: 'settings.changed',
      target: 'pinned provider from not set to wert; excluded providers from none to moonpay stripe',
    });
    await save('/providers', { pinned: 'nobody' });
    expect(await stored()).toMatchObject({ pinnedProvider: null, excludedProviders: [] });
  });

  it('keep the wallet and its lock that were typed when one of them or the password is wrong', async () => {
    const wrong = await save('/wallet', { wallet: '0x12', locked: '1', password: 'wrong' });
    expect([wrong.statusCode, wrongFieldsIn(wrong.payload)]).toEqual([400, ['wallet', 'password']]);
    expect(valueIn(wrong.payload, 'wallet')).toBe('0x12');
    expect(wrong.payload).toMatch(/<input id="locked"[^>]* checked/);
    expect(errorIn(wrong.payload, 'password')).toBe('This is incorrect.');
    expect(valueIn(wrong.payload, 'password')).toBe('');
    const lonely = await save('/wallet', { wallet: '', locked: '1', password: PASSWORD });
    expect(wrongFieldsIn(lonely.payload)).toEqual(['locked']);
    expect(lonely.payload).toMatch(/<input id="locked"[^>]* aria-describedby="locked-error locked-hint"/);
    expect(await stored()).toEqual(account);
  });

  it('say for how long customers’ email addresses are kept, which is then done', async () => {
    const made: Payment[] = [];
    for (const ageDays of [31, 29]) {
      const createdAtMs = dashboard.nowMs() - ageDays * 86_400_000;
      const id = createPaymentIdGenerator(() => createdAtMs)();
      const payment = newPayment(account.id, { id, createdAtMs });
      await dashboard.store.payments.createPayment(payment, null);
      made.push(payment);
    }
    const emails = () =>
      Promise.all(made.map(async ({ id }) => (await dashboard.store.payments.findPaymentById(id))?.email));
    const context = { ...dashboard.store, nowMs: dashboard.nowMs };
    await eraseOldData(context, { auditDays: null, customerDataDays: null });
    expect(await emails()).toEqual(['customer@example.com', 'customer@example.com']);
    await saveAll({ ...shop, email_retention: '30' });
    expect(await readAll()).toContain('value="30"');
    expect(await eraseOldData(context, { auditDays: null, customerDataDays: null })).toBe(false);
    expect(await emails()).toEqual([null, 'customer@example.com']);
    await saveAll({ ...shop, email_retention: '' });
    expect((await stored())?.emailRetentionDays).toBeNull();
  });

  describe('of the logo', () => {
    it('with a cut-off body are a bad request, and no error of the service', async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      const file = '--x\r\ncontent-disposition: form-data; name="logo"; filename="a.png"\r\n\r\nabc';
      for (const body of ['--x\r\n', file])
        expect((await browser.sendBody(`${SETTINGS}/logo`, Buffer.from(body), headers)).statusCode).toBe(400);
      expect(dashboard.logLines.join('')).not.toContain('"level":50');
    });

    async function upload(bytes: Uint8Array, fields: Record<string, string> = {}, from = browser) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('logo', new Blob([Uint8Array.from(bytes)], { type: 'image/png' }), 'logo.png');
      const encoded = new Response(form);
      const body = Buffer.from(await encoded.arrayBuffer());
      return from.sendBody(`${SETTINGS}/logo`, body, {
        'content-type': encoded.headers.get('content-type') ?? '',
        'content-length': String(body.length),
      });
    }

    it('take a picture, show it, and take it away again', async () => {
      expect((await upload(onePixel)).headers['location']).toBe(`${SETTINGS}?flash=saved`);
      const hash = (await stored())?.logoHash ?? '';
      expect(await dashboard.store.accounts.findLogo(hash)).toMatchObject({ hash });
      const shown = await browser.get(`/logos/${hash}`);
      expect([shown.headers['content-type'], shown.statusCode]).toEqual(['image/png', 200]);
      expect((await browser.get(SETTINGS)).payload).toContain(`src="/logos/${hash}"`);
      expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
        { action: 'settings.changed', target: `logo ${hash}` },
      ]);
      await upload(new Uint8Array(), { remove: '1' });
      expect((await stored())?.logoHash).toBeNull();
    });

    it('refuse what is no picture, too large or missing', async () => {
      const large = Buffer.concat([onePixel, Buffer.alloc(64 * 1024)]);
      const answers = [
        await upload(Buffer.from('<svg onload="alert(1)"/>')),
        await upload(jpegBomb()),
        await upload(large),
        await upload(new Uint8Array()),
      ];
      for (const answer of answers) {
        expectSays(answer, 400, /Nothing was saved\. Check:\s+Picture/);
      }
      expect((await upload(Buffer.alloc(200_000))).statusCode).toBe(413);
      expect((await stored())?.logoHash).toBeNull();
    });
  });

  it('change the wallet and its lock with the password only', async () => {
    const wallet = { wallet: WALLET, locked: '1' };
    expect((await save('/wallet', { ...wallet, password: 'wrong' })).statusCode).toBe(400);
    const mixed = { wallet: WALLET.toLowerCase().replace('a', 'A') };
    expect((await save('/wallet', mixed)).statusCode).toBe(400);
    expect(await stored()).toEqual(account);
    expect((await save('/wallet', wallet)).statusCode).toBe(303);
    expect(await stored()).toMatchObject({ wallet: WALLET, isWalletLocked: true });
    expect(await readAll()).toContain('checked');
    expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
      { action: 'wallet.changed', target: `${WALLET}, locked` },
    ]);
  });
});

describe('a forgotten password', () => {
  const ask = (email: string, address = '198.51.100.1') =>
    dashboard.newBrowser(address).post('/dashboard/forgotten', { email });

  it('is set anew by a link in an email', async () => {
    expect((await dashboard.newBrowser().get('/dashboard/sign-in')).payload).toContain(
      '/dashboard/forgotten',
    );
    expect((await ask(owner.email)).statusCode).toBe(200);
    await waitFor('the email', 60_000, () => dashboard.mails.length === 1);
    expect(dashboard.mails[0]?.to).toBe(owner.email);
    const link = /https:\/\/pay\.example\.com(\/dashboard\/password\/[\w-]{43})/.exec(
      dashboard.mails[0]?.text ?? '',
    )?.[1];
    const next = dashboard.newBrowser();
    expect((await next.post(link as string, { new_password: 'a new password 1' })).statusCode).toBe(303);
    expect((await next.get('/dashboard')).statusCode).toBe(200);
    const signedIn = await dashboard
      .newBrowser()
      .post('/dashboard/sign-in', { email: owner.email, password: 'a new password 1' });
    expect(signedIn.statusCode).toBe(303);
  });

  it('asked for by a stranger ends no link that the operator gave', async () => {
    const given = `/dashboard/password/${await createPasswordLink(dashboard.context, owner)}`;
    await ask(owner.email);
    await waitFor('the email', 60_000, () => dashboard.mails.length === 1);
    expect((await dashboard.newBrowser().get(given)).statusCode).toBe(200);
    await ask(owner.email, '198.51.100.2');
    await waitFor('another email', 60_000, () => dashboard.mails.length === 2);
    for (const { text } of dashboard.mails) {
      const [link = ''] = /\/dashboard\/password\/[\w-]{43}/.exec(text) ?? [];
      expect((await dashboard.newBrowser().get(link)).statusCode).toBe(200);
    }
  });

  it('of nobody is answered the same, and nothing is sent', async () => {
    const [known, unknown, none] = [
      await ask(owner.email),
      await ask('nobody@shop.example'),
      await ask('no address'),
    ];
    const pages = [known, unknown, none].map(({ payload }) => withoutNonces(payload));
    expect(new Set(pages).size).toBe(1);
    await waitFor('the email', 60_000, () => dashboard.mails.length > 0);
    expect(dashboard.mails.map(({ to }) => to)).toEqual([owner.email]);
  });

  it('is asked for three times an hour at most', async () => {
    const statuses = [];
    for (let index = 0; index < 4; index++)
      statuses.push((await ask(owner.email, `198.51.100.${index}`)).statusCode);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});
