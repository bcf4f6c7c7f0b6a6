import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { BlockReference } from '../settlement/settlement-store.ts';
import { createBaseServer } from '../web/server.ts';
import { registerHealth } from '../web/well-known.ts';
import { createHealth, isFineAt } from './health.ts';
import { createMetrics } from './metrics.ts';

/** An instance whose clock and database a test moves. */
function createInstance({
  isShared = true,
  isFineElsewhere = async () => false,
  isFactoryVerified = (): boolean => true,
} = {}) {
  const state = { nowMs: 1_000_000, isDown: false, scannedAtMs: 990_000 as number | null, isLeaving: false };
  const logged: string[] = [];
  const log = (_: unknown, text?: string) => void logged.push(text ?? String(_));
  const metrics = createMetrics();
  const health = createHealth({
    store: {
      shared: isShared ? {} : null,
      observations: {
        async readCursor() {
          if (state.isDown) throw new Error('could not connect to the database');
          const { scannedAtMs: timestampMs } = state;
          return timestampMs === null ? null : ({ number: 1, hash: '0x1', timestampMs } as BlockReference);
        },
      },
    },
    clock: { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs },
    metrics,
    log: { error: log, info: log } as never,
    isLeaving: () => state.isLeaving,
    isFineElsewhere,
    isFactoryVerified,
  });
  /** Checks as often as in this time. */
  const pass = async (ms: number) => {
    for (const endMs = state.nowMs + ms; state.nowMs < endMs; state.nowMs += 2_000) await health.check();
  };
  return { ...health, state, logged, metrics, pass };
}

it('says how old the newest scanned block is, and that no worker scans, and stays ready', async () => {
  const instance = createInstance();
  await instance.check();
  expect(instance.isReady()).toEqual({ ready: true, degraded: [], scannedAgeMs: 10_000 });
  await instance.pass(240_000);
  expect(instance.isReady()).toEqual({ ready: true, degraded: ['scan_late'], scannedAgeMs: 250_000 });
  const metrics = await instance.metrics.registry.metrics();
  expect(metrics).toMatch(/^card_checkout_scanned_block_age_seconds \d+/m);
});

it('says that endpoints do not confirm the deposit factory, and stays ready', async () => {
  const instance = createInstance({ isFactoryVerified: () => false });
  await instance.check();
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: ['factory_unverified'] });
});

it('has no age in its metrics before the first scan', async () => {
  const instance = createInstance();
  instance.state.scannedAtMs = null;
  await instance.check();
  expect(instance.isReady()).toEqual({ ready: true, degraded: [], scannedAgeMs: null });
  expect(await instance.metrics.registry.metrics()).not.toMatch(/^card_checkout_scanned_block_age_seconds /m);
});

it('leaves with a lost database while another instance has one, and comes back with it', async () => {
  const instance = createInstance({ isFineElsewhere: async () => true });
  await instance.check();
  instance.state.isDown = true;
  await instance.pass(8_000);
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: [] });
  await instance.pass(6_000);
  expect(instance.isReady()).toEqual({
    ready: false,
    reason: 'it has lost its database, which another instance reaches',
  });
  instance.state.isDown = false;
  await instance.check();
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: [] });
  expect(instance.logged).toEqual([
    'the database has not answered for ten seconds',
    'the database answers again',
  ]);
});

it('stays with a lost database where it is the only instance, whatever its address answers', async () => {
  const instance = createInstance({ isShared: false, isFineElsewhere: async () => true });
  await instance.check();
  instance.state.isDown = true;
  await instance.pass(20_000);
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: ['database_lost'] });
});

it('of all instances that lose the database, in whatever order they notice, one at least stays', async () => {
  for (let turns = 0; turns < 20; turns++) {
    // As a balancer does: it asks one after the other of those that are ready.
    const instances: ReturnType<typeof createInstance>[] = [];
    let turn = turns;
    const isFineElsewhere = async () => {
      const ready = instances.map((each) => each.isReady()).filter((each) => each.ready);
      const answering = ready[turn++ % ready.length];
      return answering?.ready === true && !answering.degraded?.includes('database_lost');
    };
    for (let index = 0; index < 3; index++) instances.push(createInstance({ isFineElsewhere }));
    for (const instance of instances) await instance.check();
    for (let step = 0; step < 60; step++) {
      for (const [index, instance] of instances.entries()) {
        instance.state.isDown = step >= (index * turns) % 7;
        await instance.pass(2_000);
        expect(
          instances.some((each) => each.isReady().ready),
          `step ${step}`,
        ).toBe(true);
      }
    }
    expect(instances.map((each) => each.isReady().ready)).toEqual([true, true, true]);
  }
});

it('believes only an instance that says it is ready and has its database', async () => {
  const found: unknown[] = [];
  for (const degraded of [[], ['scan_late'], ['database_lost']] as const) {
    const server = createBaseServer({ trustProxy: [] });
    registerHealth(server, { isReady: () => ({ ready: true, degraded }) });
    found.push(await isFineAt(await server.listen({ port: 0, host: '127.0.0.1' })));
    await server.close();
  }
  const other = createServer((_request, response) => response.end('<p>OK</p>'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  found.push(await isFineAt(`http://127.0.0.1:${port}`));
  await new Promise((resolve) => other.close(resolve));
  found.push(await isFineAt(`http://127.0.0.1:${port}`));
  expect(found).toEqual([true, true, false, false, false]);
});
