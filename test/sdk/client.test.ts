import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../sdk/src/client.ts';
import { newEntry } from '../store/people.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';

let service: ApiService;
let baseUrl: string;

beforeAll(async () => {
  service = await createApiService();
  baseUrl = await service.server.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => service.close());

it('sends the key in clear text to this machine alone, unless it is told to', () => {
  const apiKey = 'service_live_x';
  expect(() => createClient({ apiKey, baseUrl: 'http://10.0.0.1:3000' })).toThrow(/or set allowInsecureHttp/);
  createClient({ apiKey, baseUrl: 'http://checkout:3000', allowInsecureHttp: true });
  const options = { apiKey, baseUrl: 'ftp://10.0.0.1', allowInsecureHttp: true };
  expect(() => createClient(options)).toThrow('must begin with https://');
});

const clientOf = (apiKey = service.apiKey) => createClient({ apiKey, baseUrl, maximumRetries: 0 });

describe('the SDK and the real service', () => {
  it('create one direct payment of an order', async () => {
    const client = clientOf();
    const { address, callback } = validRequest;
    const create = () =>
      client.directPayments.create(
        { address, callback, amount: '40.00' },
        { idempotencyKey: 'direct-order-1' },
      );
    const first = await create();
    expect(first).toMatchObject({ provider: 'direct', usdc_amount: '40.000000' });
    expect((await create()).payment_id).toBe(first.payment_id);
  });

  it('read the journal of a month', async () => {
    const client = clientOf();
    expect(await client.journal.csv('2026-11')).toMatch(/^date,payment_id,account,debit_usd,credit_usd,/);
    await expect(client.journal.csv('November')).rejects.toMatchObject({ status: 400 });
  });

  it('read the audit log page by page', async () => {
    const { account, apiKey } = await service.addAccount();
    for (const atMs of [1, 2, 3]) await service.store.audit.appendEntry(newEntry(account.id, { atMs }));
    const client = clientOf(apiKey);
    const { entries, next } = await client.audit.list({ limit: 2 });
    const last = await client.audit.list({ limit: 2, before: next ?? 0 });
    expect([...entries, ...last.entries].map(({ position }) => position)).toEqual([3, 2, 1]);
    expect(last.next).toBeNull();
  });
});
