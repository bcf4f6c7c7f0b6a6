import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../sdk/src/client.ts';
import { type EventCursor, EventGapError, followEvents } from '../../sdk/src/follow-events.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let service: ApiService;
let baseUrl: string;
const folder = temporaryFolder(afterAll);

beforeAll(async () => {
  service = await createApiService({ requestsPerMinute: 1_000_000 });
  baseUrl = await service.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await service.close();
});

type Work = Parameters<EventCursor['advance']>[2];

/** An account whose payments were paid; each payment also has an event that is not to be fulfilled. */
async function startShop(payments: number) {
  const { apiKey } = await service.addAccount();
  const client = createClient({ apiKey, baseUrl, maximumRetries: 0 });
  const ids: string[] = [];
  for (let index = 0; index < payments; index++) {
    const { payment_id: id } = await client.checkouts.create(validRequest);
    const { payments: store } = service.store;
    await store.decidePayment(id as never, () => ({ change: { forwardStatus: 'ready' } }));
    const paid = { status: 'paid', forwardStatus: 'completed', paidAtMs: Date.now() } as const;
    await store.decidePayment(id as never, () => ({ change: paid }));
    ids.push(id);
  }
  while ((await service.store.events.numberEvents(100)) > 0);
  return { client, apiKey, ids };
}

function runShop(
  apiKey: string,
  file: string,
  killAt: number,
): Promise<{ code: number | null; signal: string | null }> {
  const script = new URL('./following-shop.ts', import.meta.url).pathname;
  const shop = spawn(process.execPath, [script, baseUrl, apiKey, file, String(killAt)], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    shop.on('error', reject);
    shop.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Steps of the shop in which it can be killed: two payments, two events each. */
const STEPS = 22;

async function killAndRestart(apiKey: string, killAt: number): Promise<unknown[]> {
  const file = join(folder, `shop-${killAt}.sqlite`);
  expect((await runShop(apiKey, file, killAt)).signal).toBe('SIGKILL');
  expect(await runShop(apiKey, file, 0)).toEqual({ code: 0, signal: null });
  const database = new DatabaseSync(file);
  const fulfilled = database.prepare('SELECT payment_id FROM fulfilments').all();
  database.close();
  return fulfilled.map(({ payment_id: id }) => id);
}

it('fulfills each payment once, although the shop is killed at each of its steps', async () => {
  const { apiKey, ids } = await startShop(2);
  const waiting = Array.from({ length: STEPS }, (_, index) => index + 1);
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let killAt = waiting.pop(); killAt !== undefined; killAt = waiting.pop())
        expect(await killAndRestart(apiKey, killAt)).toEqual(ids);
    }),
  );
  expect((await runShop(apiKey, join(folder, 'whole.sqlite'), STEPS + 1)).code).toBe(0);
}, 120_000);

it('processes each event once with two processes at a time, in order', async () => {
  const { client, ids } = await startShop(5);
  let number = 0;
  const seen: string[] = [];
  const cursor = {
    read: () => number,
    async advance(previous: number, next: number, work: Work) {
      if (number !== previous) return false;
      number = next;
      await work();
      return true;
    },
    skipTo() {
      throw new Error('there is no gap');
    },
  };
  const follow = () => {
    const ending = new AbortController();
    return followEvents({
      client,
      cursor,
      onEvent: (_, { type, payment }) => void (type === 'payment.paid' && seen.push(payment.payment_id)),
      signal: ending.signal,
      wait: async () => ending.abort(),
    });
  };
  await Promise.all([follow(), follow()]);
  expect(seen).toEqual(ids);
});

it('says when events no longer exist, and goes on after the gap', async () => {
  const { client, ids } = await startShop(1);
  await service.store.events.deleteEvents(Date.now() + 1_000, 1_000);
  let number = 0;
  const cursor = {
    read: () => number,
    advance: async () => false,
    skipTo(next: number) {
      number = next;
    },
  };
  await expect(followEvents({ client, cursor, onEvent: () => {} })).rejects.toThrow(EventGapError);
  const gaps: number[] = [];
  const ending = new AbortController();
  await followEvents({
    client,
    cursor,
    onEvent: () => {},
    onGap: (after) => void gaps.push(after),
    signal: ending.signal,
    wait: async () => ending.abort(),
  });
  const { next_after: newest } = await client.events.list();
  expect({ gaps, number, payments: ids.length }).toEqual({ gaps: [0], number: newest, payments: 1 });
});

it('waits after an error as long as the service asks, and tries the same event again', async () => {
  const { client, ids } = await startShop(1);
  let number = 0;
  let isBroken = true;
  const seen: number[] = [];
  const errors: unknown[] = [];
  const ending = new AbortController();
  await followEvents({
    client,
    cursor: {
      read: () => number,
      async advance(_previous, next, work: Work) {
        await work();
        number = next;
        return true;
      },
      skipTo: () => {},
    },
    onEvent(_, event) {
      if (isBroken) throw new Error('the database is down');
      seen.push(event.number);
    },
    onError: (error) => errors.push((error as Error).message),
    signal: ending.signal,
    async wait(ms) {
      if (isBroken) expect(ms).toBe(10_000);
      else ending.abort();
      isBroken = false;
    },
  });
  expect({ seen, errors, payments: ids.length }).toEqual({
    seen: (await client.events.list()).events.map((event) => event.number),
    errors: ['the database is down'],
    payments: 1,
  });
  expect(seen).toHaveLength(2);
});
