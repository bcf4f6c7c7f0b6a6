import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../src/domain/person.ts';
import { type TestBrowser, textOf } from '../support/dashboard.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';

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
    expect(await pageOf('/operator/accounts?search=nobody')).toContain('No account is found by this');
  });
});

describe('creating an account', () => {
  const create = (fields: Record<string, string>) =>
    browser.post('/operator/accounts/new', { fee: '2.5', ...fields });

  it('makes it, and writes down who did', async () => {
    const answer = await create({ name: 'Flower shop', email: 'rose@shop.example', fee: '1.75' });
    expect(answer.statusCode).toBe(303);
    const id = /search=(acc_\w+)/.exec(String(answer.headers['location']))?.[1] ?? '';
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
    ['e-mail', { name: 'x', email: 'nobody' }],
    ['wallet', { name: 'x', wallet: '0x12' }],
  ])('refuses a wrong %s, and shows again what was typed', async (what, fields) => {
    const answer = await create(fields);
    expect(answer.statusCode).toBe(400);
    expect(textOf(answer.payload)).toMatch(new RegExp(`Nothing was made: (?:The )?${what}`));
    for (const value of Object.values(fields)) expect(answer.payload).toContain(`value="${value}"`);
  });
});
