import { beforeEach, describe, expect, it } from 'vitest';
import { failedResult, pay } from '../store/fixtures.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { textOf } from '../support/page-text.ts';

const PATH = '/dashboard/webhook-check';
const URL_TYPED = 'https://shop.example.com/hook?<secret>';

let checked: string[];
beforeEach(() => {
  checked = [];
});
let { dashboard, account, browser, give, signIn } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser, give, signIn } = shop), {
  role: 'developer',
  account: { defaultCallbackUrl: 'https://shop.example.com/default' },
  async checkEndpoint(url) {
    checked.push(url);
    return url.startsWith('https:')
      ? [
          { name: 'URL', level: 'ok', detail: 'The URL is allowed.' },
          { name: 'Answer', level: 'warn', detail: 'It answered <200>.' },
        ]
      : [{ name: 'URL', level: 'fail', detail: 'The URL must begin with https:// and a host name.' }];
  },
});

describe('the page that tests an endpoint', () => {
  it('is filled in with the default webhook URL, and shows each step', async () => {
    expect((await browser.get(PATH)).payload).toContain('value="https://shop.example.com/default"');
    const answer = await browser.post(PATH, { url: ` ${URL_TYPED} ` });
    expect(answer.statusCode).toBe(200);
    expect(checked).toEqual([URL_TYPED]);
    expect(textOf(answer.payload)).toContain('Webhooks to this endpoint may fail.');
    expect(textOf(answer.payload)).toContain('Answer warning It answered <200>.');
    expect(answer.payload).toContain('It answered &#60;200&#62;.');
    expect(textOf(answer.payload)).toContain('Test endpoint');
  });

  it('refuses another URL at its field, and keeps what was typed', async () => {
    const answer = await browser.post(PATH, { url: 'http://shop' });
    expect(answer.statusCode).toBe(400);
    for (const words of ['value="http://shop"', 'id="url-error"']) expect(answer.payload).toContain(words);
  });

  it('is linked from a webhook that failed, and filled in with its URL', async () => {
    const payment = await give();
    await dashboard.store.payments.decidePayment(payment.id, pay);
    const [claimed] = await claimOldest(dashboard.store.webhooks, 1, 1);
    await dashboard.store.webhooks.recordWebhookResult(claimed as never, failedResult);
    const link = `${PATH}?payment=${payment.id}`;
    expect((await browser.get(`/dashboard/payments/${payment.id}`)).payload).toContain(`href="${link}"`);
    expect((await browser.get(link)).payload).toContain('https://shop.example.com/hook?order&#61;1');
    browser = await signIn('viewer');
    expect((await browser.get(`/dashboard/payments/${payment.id}`)).payload).not.toContain(link);
    browser = await signIn('owner', (await dashboard.giveAccount()).id);
    expect((await browser.get(link)).statusCode).toBe(404);
  });

  it('is for developers and owners, and ten times in ten minutes', async () => {
    for (let count = 0; count < 10; count++)
      expect((await browser.post(PATH, { url: URL_TYPED })).statusCode).toBe(200);
    expect((await browser.post(PATH, { url: URL_TYPED })).statusCode).toBe(429);
    dashboard.advance(10 * 60_000);
    expect((await browser.post(PATH, { url: URL_TYPED })).statusCode).toBe(200);
    browser = await signIn('viewer');
    expect((await browser.get(PATH)).statusCode).toBe(403);
    expect((await browser.post(PATH, { url: URL_TYPED })).statusCode).toBe(403);
    expect(checked).toHaveLength(11);
  });
});

describe('the signing secret of Standard Webhooks', () => {
  const secrets = async () => (await dashboard.store.accounts.findAccount(account.id))?.webhookSecrets ?? [];
  /** Fields of the page's form as it is now. */
  async function shown() {
    const page = (await browser.get(PATH)).payload;
    const mark = /name="secrets" value="([^"]+)"/.exec(page)?.[1] ?? '';
    return { password: PASSWORD, secrets: mark };
  }
  const post = async (name: string, form: Record<string, string> = {}) =>
    browser.post(`${PATH}/${name}`, { ...(await shown()), ...form });

  it('is shown once behind the password, stored sealed, and replaced by a second one before the first is removed', async () => {
    expect((await post('create', { password: 'wrong' })).statusCode).toBe(400);
    expect(await secrets()).toEqual([]);
    const made = await post('create');
    const page = (await browser.get(made.headers['location'] as string)).payload;
    const secret = /whsec_[A-Za-z0-9+/]{43}=/.exec(
      page.replaceAll('&#x3D;', '=').replaceAll('&#61;', '='),
    )?.[0];
    expect(Buffer.from(secret?.slice(6) ?? '', 'base64')).toHaveLength(32);
    expect((await browser.get(made.headers['location'] as string)).statusCode).toBe(303);
    const [sealed] = await secrets();
    expect(`${sealed}${dashboard.logLines.join('')}`).not.toContain(secret);
    await post('create');
    const both = await secrets();
    expect([both.length, both[0]]).toEqual([2, sealed]);
    expect((await post('create')).statusCode).toBe(400);
    expect(await secrets()).toEqual(both);
    expect((await post('remove', { password: 'wrong' })).statusCode).toBe(400);
    expect((await post('remove')).statusCode).toBe(303);
    expect(await secrets()).toEqual(both.slice(1));
    const [entry] = await dashboard.store.audit.listEntries(account.id, null, 1);
    expect(entry?.action).toBe('webhook_secret.removed');
  });

  it('is created or removed once by a form that is sent twice, and either of two can be removed', async () => {
    const twice = async (name: string, more = {}) => {
      const form = { ...(await shown()), ...more };
      const both = await Promise.all([1, 2].map(() => browser.post(`${PATH}/${name}`, form)));
      const refused = both.find(({ statusCode }) => statusCode === 400);
      expect(textOf(refused?.payload ?? '')).toContain(
        'The secrets have changed since this page was opened.',
      );
      return secrets();
    };
    const [first] = await twice('create');
    const [, second] = await twice('create');
    expect(await twice('remove', { secret: 'newer' })).toEqual([first]);
    const [, third] = await twice('create');
    expect(await twice('remove', { secret: 'older' })).toEqual([third]);
    expect(new Set([first, second, third, undefined]).size).toBe(4);
  });
});
