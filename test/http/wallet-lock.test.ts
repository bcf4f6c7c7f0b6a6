import { expect, it } from 'vitest';
import { type ApiService, PAYOUT_ADDRESS, useFreshApi, validRequest } from '../support/api-service.ts';

const OTHER_ADDRESS = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';

let service = {} as ApiService;
useFreshApi((api) => (service = api));

const lock = (isWalletLocked: boolean) =>
  service.store.accounts.updateAccount(service.account.id, { wallet: PAYOUT_ADDRESS, isWalletLocked });
const to = (address: string) => ({ ...validRequest, address });

it('lets a locked account pay out to its own wallet only, with the next request', async () => {
  await lock(false);
  expect((await service.post(to(OTHER_ADDRESS))).statusCode).toBe(200);
  await lock(true);
  const refused = await service.post(to(OTHER_ADDRESS));
  expect([refused.statusCode, refused.json()]).toEqual([
    400,
    { error: "address must be the account's own payout wallet, to which payouts are locked" },
  ]);
  expect((await service.get(to(OTHER_ADDRESS))).statusCode).toBe(400);
  expect((await service.post(to(PAYOUT_ADDRESS))).statusCode).toBe(200);
  expect((await service.post(to(PAYOUT_ADDRESS.toLowerCase()))).statusCode, 'the same wallet').toBe(200);
  await lock(false);
  expect((await service.post(to(OTHER_ADDRESS))).statusCode).toBe(200);
});

it('still tells whoever repeats a request what came of it before the lock', async () => {
  const headers = { 'idempotency-key': 'order 1' };
  const first = await service.post(to(OTHER_ADDRESS), headers);
  await lock(true);
  expect((await service.post(to(OTHER_ADDRESS), headers)).json()).toEqual(first.json());
  expect((await service.post(to(OTHER_ADDRESS), { 'idempotency-key': 'order 2' })).statusCode).toBe(400);
});
