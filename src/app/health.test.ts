import { expect, it } from 'vitest';
import type { BlockReference } from '../settlement/settlement-store.ts';
import { createHealth } from './health.ts';
import { createMetrics } from './metrics.ts';

/** Creates an instance with a clock and a database that the test controls. */
function createInstance({
  isFactoryVerified = (): boolean => true,
  signerFailure = (): string | null => null,
} = {}) {
  const state = {
    nowMs: 1_000_000,
    isDown: false,
    scannedAtMs: 990_000 as number | null,
    leaving: { aborted: false },
  };
  const logged: string[] = [];
  const log = (_: unknown, text?: string) => void logged.push(text ?? String(_));
  const metrics = createMetrics();
  const health = createHealth({
    store: {
      shared: { countCalls: () => ({ running: 9, waiting: 4 }) },
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
    leaving: state.leaving,
    external: { isFactoryVerified, relayers: [{ signerFailure }] },
  });
  /** Advances the clock and runs the checks that are due in this time. */
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
  expect(metrics).toMatch(/^card_checkout_database_calls\{state="waiting"\} 4$/m);
});

it('says that endpoints do not confirm the factory, and that the signer fails, and stays ready', async () => {
  const instance = createInstance({ isFactoryVerified: () => false, signerFailure: () => 'it is down' });
  await instance.check();
  const degraded = ['factory_unverified', 'signer_failing'];
  expect(instance.isReady()).toMatchObject({ ready: true, degraded });
});

it('has no age in its metrics before the first scan', async () => {
  const instance = createInstance();
  instance.state.scannedAtMs = null;
  await instance.check();
  expect(instance.isReady()).toEqual({ ready: true, degraded: [], scannedAgeMs: null });
  expect(await instance.metrics.registry.metrics()).not.toMatch(/^card_checkout_scanned_block_age_seconds /m);
});

it('stays ready with a lost database, so that an outage takes out no instance, and says so', async () => {
  const instance = createInstance();
  await instance.check();
  instance.state.isDown = true;
  await instance.pass(8_000);
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: [] });
  await instance.pass(6_000);
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: ['database_lost'] });
  instance.state.isDown = false;
  await instance.check();
  expect(instance.isReady()).toMatchObject({ ready: true, degraded: [] });
  expect(instance.logged).toEqual([
    'the database has not answered for ten seconds',
    'the database answers again',
  ]);
});
