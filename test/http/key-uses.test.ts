import { expect, it } from 'vitest';
import { createApiService, validRequest } from '../support/api-service.ts';
import { createTestDatabase } from '../support/test-store.ts';

it('writes down which keys were used when the server closes, and those alone', async () => {
  const database = await createTestDatabase();
  const api = await createApiService({ database: { open: database.open, remove: async () => {} } });
  const unused = await api.addAccount();
  const beganMs = Date.now();
  expect((await api.post(validRequest)).statusCode).toBe(200);
  expect((await api.post(validRequest, { 'x-api-key': 'service_live_wrong' })).statusCode).toBe(401);
  const { account } = api;
  await api.close();
  const store = await database.open();
  const [key] = await store.accounts.listKeys(account.id);
  expect(key?.lastUsedAtMs).toBeGreaterThanOrEqual(beganMs);
  expect(await store.accounts.listKeys(unused.account.id)).toMatchObject([{ lastUsedAtMs: null }]);
  await store.close();
  await database.remove();
});
