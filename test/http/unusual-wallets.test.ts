import { expect, it, onTestFinished } from 'vitest';
import { createApiService, validRequest } from '../support/api-service.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { createTestConsole } from '../support/operator.ts';
import { expectSays, textOf } from '../support/page-text.ts';

const BRIDGED_USDC = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
const BURN_ADDRESS = '0x000000000000000000000000000000000000dEaD';
const TICK = 'Pay out to this address anyway';

let { browser } = {} as TestShop;
const open = useShop((shop) => ({ browser } = shop), { account: { wallet: null } });

const link = { amount: '10', currency: 'EUR', provider: 'multi' };
const dashboardForms = [
  ['/links', 'address', link],
  ['/links/direct', 'address', link],
  ['/pages/new', 'address', { title: 'Tea', ...link }],
  ['/settings/wallet', 'wallet', {}],
] as const;

it.each(dashboardForms)(
  '%s asks once more before it pays out where USDC is lost',
  async (path, field, fields) => {
    const send = (changes: Record<string, string>) =>
      browser.post(`/dashboard${path}`, { ...fields, password: PASSWORD, ...changes });
    for (const [address, doubt] of [
      [BRIDGED_USDC, 'is the contract of the token USDC.e'],
      [BURN_ADDRESS, 'is an address without an owner'],
    ] as const) {
      const refused = await send({ [field]: address });
      expectSays(refused, 400, doubt);
      expect(textOf(refused.payload)).toContain(TICK);
      expect((await send({ [field]: address, is_meant: '1' })).statusCode).toBe(303);
    }
    const other = await send({ [field]: '0x12' });
    expect(other.statusCode).toBe(400);
    expect(textOf(other.payload)).not.toContain(TICK);
  },
);

it('the settings keep a wallet that was meant when only its lock changes', async () => {
  await open({ account: { wallet: BURN_ADDRESS } });
  const fields = { wallet: BURN_ADDRESS, locked: '1', password: PASSWORD };
  const saved = await browser.post('/dashboard/settings/wallet', fields);
  expect(saved.statusCode).toBe(303);
});

it('the console asks once more before it creates an account with such a wallet', async () => {
  const console = await createTestConsole();
  onTestFinished(console.close);
  const browser = await console.signIn(await console.giveOperator());
  const fields = { name: 'Shop', fee: '2.5', password: PASSWORD, wallet: BRIDGED_USDC };
  const refused = await browser.post('/operator/accounts/new', fields);
  expect([refused.statusCode, textOf(refused.payload).includes(TICK)]).toEqual([400, true]);
  expect((await browser.post('/operator/accounts/new', { ...fields, is_meant: '1' })).statusCode).toBe(303);
});

it('the API takes every address that the specification allows', async () => {
  const service = await createApiService();
  onTestFinished(service.close);
  for (const address of [BRIDGED_USDC, BURN_ADDRESS])
    expect((await service.post({ ...validRequest, address })).statusCode).toBe(200);
});
