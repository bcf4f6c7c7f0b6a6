import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBalancer } from '../support/balancer.ts';
import { missing, startLoad } from '../support/checkout-load.ts';
import { type LiveInstance, type LiveInstances, openLiveInstances } from '../support/live-instances.ts';
import { createShop } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

const unlimited = { RATE_LIMIT_CREATE_PER_MINUTE: '1000000' };

describe('a restart under load', () => {
  let live: LiveInstances;

  beforeAll(async () => {
    live = await openLiveInstances();
  });
  afterAll(() => live?.stop(), 60_000);

  /** As an operator would: SIGTERM, wait for the end, start again. */
  async function restart(instance: LiveInstance): Promise<void> {
    expect(await instance.process.end('SIGTERM')).toBe(0);
    await live.startAgain('all', instance);
  }

  /** Restarts one instance after the other behind a balancer, under load; nothing may fail and nothing be lost. */
  async function restartAllUnderLoad(instances: readonly LiveInstance[]): Promise<void> {
    const { environment } = instances[0] as LiveInstance;
    const { apiKey: key } = await createShop(environment);
    const balancer = await startBalancer(
      instances.map(({ url }) => url),
      { checkIntervalMs: instances.length === 1 ? 100 : 500 },
    );
    const load = startLoad(balancer.url, key);
    try {
      await load.untilMoreAnswers(200);
      for (const instance of instances) {
        await restart(instance);
        await waitFor('the balancer to use it again', 60_000, () => balancer.isReady(instance.url));
        await load.untilMoreAnswers(200);
      }
    } finally {
      await load.stop();
    }
    const unserved = await missing(balancer.url, key, load.created);
    await balancer.stop();
    expect(load.failures.slice(0, 10)).toEqual([]);
    expect(unserved).toEqual([]);
    expect(load.created.length).toBeGreaterThan(100);
    for (const { url } of instances) expect(balancer.answered.get(url)).toBeGreaterThan(100);
  }

  it('of one PostgreSQL instance after the other lets no request fail and loses no payment', async () => {
    const database = { ...unlimited, DATABASE_URL: await live.postgres.createDatabase() };
    await restartAllUnderLoad(await Promise.all([1, 2].map(() => live.start('all', database))));
  });

  it('of the only instance on SQLite makes requests wait behind the balancer, and none fail', async () => {
    await restartAllUnderLoad([await live.start('all', unlimited)]);
  });
});
