import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInvited } from '../../src/accounts/invitations.ts';
import type { User } from '../../src/accounts/person.ts';
import { newKey } from '../store/fixtures.ts';
import { PASSWORD, type TestBrowser } from '../support/dashboard.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';
import { expectSays, textOf } from '../support/page-text.ts';

let console: TestConsole;
let operator: User;
let browser: TestBrowser;

beforeAll(async () => {
  console = await createTestConsole();
  operator = await console.giveOperator();
  browser = await console.signIn(operator);
});
afterAll(() => console.close());

const pageOf = async (path: string) => textOf((await browser.get(path)).payload);

describe('the list of accounts', () => {
  it('shows the newest first, and leads on where there are more than a page', async () => {
    for (let index = 0; index < 51; index++) await console.giveAccount({ name: `Shop ${index}!` });
    const first = await browser.get('/operator/accounts');
    expect(textOf(first.payload)).toContain('Shop 50!');
    expect(textOf(first.payload)).not.toContain('Shop 0!');
    const older = /href="([^"]+before[^"]+)"/.exec(first.payload)?.[1]?.replaceAll('&#61;', '=') ?? '';
    const second = await pageOf(older);
    expect(second).toContain('Shop 0!');
    expect(second).not.toContain('Shop 50!');
  });

  it('finds by name, and says so when it finds nothing', async () => {
    await console.giveAccount({ name: '<b>Bücher & Söhne</b>' });
    const answer = await browser.get(`/operator/accounts?search=${encodeURIComponent('Söhne')}`);
    expect(answer.payload).not.toContain('<b>Bücher');
    expect(textOf(answer.payload)).toContain('<b>Bücher & Söhne</b>');
    expect(await pageOf('/operator/accounts?search=nobody')).toContain('No account matches');
  });
});

describe('creating an account', () => {
  const create = (fields: Record<string, string>) =>
    browser.post('/operator/accounts/new', { fee: '2.5', password: PASSWORD, ...fields });

  it('makes it, and writes down who did', async () => {
    const answer = await create({ name: 'Flower shop', email: 'rose@shop.example', fee: '1.75' });
    expect(answer.statusCode).toBe(303);
    const id = /accounts.(acc_\w+)/.exec(String(answer.headers['location']))?.[1] ?? '';
    expect(await console.dashboard.store.accounts.findAccount(id)).toMatchObject({
      name: 'Flower shop',
      email: 'rose@shop.example',
      feeBasisPoints: 175,
      suspended: false,
    });
    expect(await console.dashboard.store.audit.listEntries(id, null, 10)).toMatchObject([
      { action: 'account.created', actor: operator.email, target: 'Flower shop', address: '192.0.2.20' },
    ]);
    expect(await pageOf(`/operator/audit?account=${id}`)).toContain('created the account');
  });

  it.each([
    ['name', { name: ' ' }],
    ['fee', { name: 'x', fee: '11' }],
    ['fee', { name: 'x', fee: 'much' }],
    ['email', { name: 'x', email: 'nobody' }],
    ['wallet', { name: 'x', wallet: '0x12' }],
  ])('refuses a wrong %s, and shows again what was typed', async (what, fields) => {
    const answer = await create(fields);
    expect(answer.statusCode).toBe(400);
    expect(textOf(answer.payload)).toMatch(/Nothing was saved. Check:\s+\w/);
    expect(answer.payload).toMatch(new RegExp(`<input id="${what}"[^>]*aria-invalid="true"`));
    for (const value of Object.values(fields)) expect(answer.payload).toContain(`value="${value}"`);
  });
});

describe('inviting a person', () => {
  const invite = (accountId: string, fields: Record<string, string>) =>
    browser.post(`/operator/accounts/${accountId}/invite`, {
      email: 'new@shop.example',
      role: 'owner',
      password: PASSWORD,
      ...fields,
    });

  it('mails the link to the dashboard, and writes down who did', async () => {
    const { id, name } = await console.giveAccount();
    expect((await invite(id, {})).headers['location']).toBe(`/operator/accounts/${id}?flash=invited`);
    const mail = console.dashboard.mails.at(-1);
    expect(mail).toMatchObject({ to: 'new@shop.example', subject: 'Invitation to a dashboard' });
    expect(mail?.text).toContain(`${operator.email} invites you to the dashboard of ${name}`);
    const token = /https:\/\/pay\.example\.com\/dashboard\/invitation\/(\S+)/.exec(mail?.text ?? '')?.[1];
    const invited = await findInvited(console.dashboard.context, token ?? '');
    expect(invited).toMatchObject({ link: { accountId: id, role: 'owner' } });
    expect(await console.dashboard.store.audit.listEntries(id, null, 10)).toMatchObject([
      { action: 'invitation.created', actor: operator.email, target: 'new@shop.example (owner)' },
    ]);
  });

  it('shows the link once where no email is configured', async () => {
    const other = await createTestConsole({ hasMail: false });
    const { id } = await other.giveAccount();
    const own = await other.signIn(await other.giveOperator());
    const path = `/operator/accounts/${id}`;
    const fields = { email: 'new@shop.example', role: 'viewer', password: PASSWORD };
    const answer = await own.post(`${path}/invite`, fields);
    expect(answer.headers['location']).toBe(`${path}/invited`);
    expect((await own.get(`${path}/invited`)).payload).toContain(
      'https://pay.example.com/dashboard/invitation/',
    );
    expect((await own.get(`${path}/invited`)).headers['location']).toBe(path);
    await other.close();
  });

  it.each([
    ['email', { email: 'nobody' }],
    ['password', { password: 'wrong' }],
  ])('refuses a wrong %s at the field, and keeps what was typed', async (field, fields) => {
    const { id } = await console.giveAccount();
    const answer = await invite(id, { role: 'developer', ...fields });
    expect(answer.statusCode).toBe(400);
    expect(answer.payload).toMatch(new RegExp(`<input id="${field}"[^>]*aria-invalid="true"`));
    expect(answer.payload).toMatch(/<option[^>]*value="developer" selected/);
    expect(answer.payload).not.toContain('value="wrong"');
    expect(await console.dashboard.store.sessions.listInvitations(id, 0)).toEqual([]);
  });

  it('refuses a member of the account at the field, and an unknown account', async () => {
    const { id } = await console.giveAccount();
    const { email } = await console.dashboard.giveUser({ accountId: id, role: 'viewer' });
    const answer = await invite(id, { email });
    expectSays(answer, 400, 'a member already');
    expect(answer.payload).toMatch(/<input id="email"[^>]*aria-invalid="true"/);
    expect((await browser.get('/operator/accounts/acc_none/invite')).statusCode).toBe(404);
  });
});

describe('one account', () => {
  const entriesOf = async (accountId: string) =>
    (await console.dashboard.store.audit.listEntries(accountId, null, 20)).map(
      ({ action, target, actor }) => `${actor === operator.email ? '' : actor}${action} ${target}`,
    );
  const findAccount = async (id: string) => console.dashboard.store.accounts.findAccount(id);

  it('is suspended and resumed, and each is written down', async () => {
    const { id } = await console.giveAccount();
    const path = `/operator/accounts/${id}`;
    expect((await browser.get(path)).payload).toMatch(
      /<details><summary>Suspend…(?:(?!<\/details>)[\s\S])*New checkouts are refused/,
    );
    for (const [button, suspended] of [
      ['suspend', true],
      ['resume', false],
    ] as const) {
      const answer = await browser.post(`${path}/state`, { [button]: '1' });
      expect(answer.headers['location']).toBe(`${path}?flash=saved`);
      expect(await findAccount(id)).toMatchObject({ suspended });
    }
    expect(await entriesOf(id)).toEqual([
      'account.changed suspended from on to off',
      'account.changed suspended from off to on',
    ]);
  });

  it('has a fee whose preview changes nothing, and which is saved then', async () => {
    const { id } = await console.giveAccount();
    const path = `/operator/accounts/${id}`;
    const shown = await pageOf(path);
    expect(shown).toContain('$102.57 2.56 100.01');
    expect(shown).toContain('$100.00 2.50 97.50');
    const preview = await browser.post(`${path}/fee`, { fee: '5', preview: '1' });
    expect(textOf(preview.payload)).toContain('$105.27');
    expect(await findAccount(id)).toMatchObject({ feeBasisPoints: 250 });
    await browser.post(`${path}/fee`, { fee: '5', password: PASSWORD });
    expect(await findAccount(id)).toMatchObject({ feeBasisPoints: 500 });
    expect(await entriesOf(id)).toEqual(['account.changed fee from 2.5 % to 5 %']);
    for (const [button, fee] of [
      ['preview', '10.01'],
      ['save', '10.01'],
      ['preview', '200'],
    ] as const) {
      const refused = await browser.post(`${path}/fee`, { fee, [button]: '1' });
      expect([button, fee, refused.statusCode]).toEqual([button, fee, 400]);
      expect(refused.payload).toMatch(/<input id="fee"[^>]* value="(?:10\.01|200)"[^>]*aria-invalid="true"/);
      expect(textOf(refused.payload)).toContain('Must be from 0 to 10');
    }
    expect(await findAccount(id)).toMatchObject({ feeBasisPoints: 500 });
  });

  it('has features and providers', async () => {
    const { id } = await console.giveAccount();
    const path = `/operator/accounts/${id}`;
    const send = (name: string, fields: Record<string, string>) => browser.post(`${path}/${name}`, fields);
    expect(await pageOf(path)).toContain('Switch off… : Fees can be passed on to the customer');
    await send('feature', { disable: 'fee_pass_through' });
    expect(await findAccount(id)).toMatchObject({ features: ['card_checkout'] });
    await send('feature', { enable: 'fee_pass_through' });
    expect(await findAccount(id)).toMatchObject({ features: ['card_checkout', 'fee_pass_through'] });
    expect((await send('feature', { enable: 'everything' })).statusCode).toBe(400);
    await send('providers', { which: 'some', provider_wert: '1', provider_moonpay: '1', provider_x: '1' });
    expect(await findAccount(id)).toMatchObject({ providers: ['moonpay', 'wert'] });
    await send('providers', { which: 'all', provider_wert: '1' });
    expect(await findAccount(id)).toMatchObject({ providers: null });
    expect(await entriesOf(id)).toHaveLength(4);
  });

  it('has people and keys, of which one is revoked by a folded form, and none of another account', async () => {
    const [account, other] = [await console.giveAccount(), await console.giveAccount()];
    const member = await console.dashboard.giveUser({ accountId: account.id, role: 'developer' });
    const key = newKey(account.id, { name: 'Web shop' });
    await console.dashboard.store.accounts.createKey(key, 10);
    const path = `/operator/accounts/${account.id}`;
    const shown = await pageOf(path);
    for (const words of [`${member.email} off Nov 20, 2026, 00:00 UTC developer`, 'Web shop'])
      expect(shown).toContain(words);
    expect((await browser.get(path)).payload).not.toContain(key.hash);
    const foreign = `/operator/accounts/${other.id}/keys/${key.id}/revoke`;
    expect((await browser.post(foreign)).statusCode).toBe(404);
    expect(shown).toContain('Revoke… Web shop All further requests with it are refused');
    const answer = await browser.post(`${path}/keys/${key.id}/revoke`, {});
    expect(answer.headers['location']).toBe(`${path}?flash=revoked`);
    expect((await console.dashboard.store.accounts.listKeys(account.id))[0]?.revokedAtMs).not.toBeNull();
    expect(await entriesOf(account.id)).toEqual([expect.stringContaining('key.revoked Web shop')]);
  });

  it('that never was answers 404, forms too', async () => {
    const path = '/operator/accounts/acc_never';
    expect((await browser.get(path)).statusCode).toBe(404);
    for (const name of ['state', 'feature', 'providers', 'fee']) {
      const answer = await browser.post(`${path}/${name}`, { fee: '1', save: '1', enable: 'card_checkout' });
      expect([name, answer.statusCode]).toEqual([name, 404]);
    }
  });
});
