import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { type LiveInstance, type LiveInstances, openLiveInstances } from '../support/live-instances.ts';
import { type Machine, machineOf } from '../support/live-service.ts';
import { createShop } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';

describe('two API processes and two workers on one PostgreSQL', () => {
  let live: LiveInstances;
  let world: Sandbox;
  let receiver: WebhookReceiver;
  let apis: [Machine, Machine];
  let workers: LiveInstance[];
  let key: string;

  beforeAll(async () => {
    live = await openLiveInstances();
    ({ world, receiver } = live);
    const database = { DATABASE_URL: await live.postgres.createDatabase() };
    // All at once, on an empty database.
    const instances = await Promise.all(
      (['api', 'api', 'worker', 'worker'] as const).map((role) => live.start(role, database)),
    );
    const [one, other] = instances.map((instance) => machineOf(instance, world, receiver));
    [apis, workers] = [[one as Machine, other as Machine], instances.slice(2)];
    ({ apiKey: key } = await createShop(apis[0].environment));
  });

  afterAll(() => live?.stop(), 60_000);

  /** Creates a payment at one instance, whose customer pays with a click at the other. */
  async function sell(creating: Machine, paying: Machine): Promise<string> {
    const { payment_id: id } = await creating.create(key, { address: world.merchantWallet });
    await paying.pay(id);
    return id;
  }

  function untilPaid({ readStatus }: Machine, id: string): Promise<true> {
    return waitFor('the payment to be paid', 60_000, async () => {
      const { body } = await readStatus(key, `payment_id=${id}`);
      return body['status'] === 'paid';
    });
  }

  const isWatching = ({ process }: LiveInstance) => /"lease":"watcher"[^\n]*"taken"/.test(process.output());

  it('share payments: created at one, begun at the other, released and reported once by whoever does it', async () => {
    const id = await sell(apis[0], apis[1]);
    await untilPaid(apis[1], id);
    await waitFor('the webhook', 60_000, () => receiver.received.some(({ rawBody }) => rawBody.includes(id)));
    expect(workers.filter(isWatching)).toHaveLength(1);
  });

  it('tell their health and the age of the newest scanned block on the admin port, workers too', async () => {
    for (const { environment } of [apis[0], workers[0], workers[1]] as LiveInstance[]) {
      const admin = `http://127.0.0.1:${environment['ADMIN_PORT']}`;
      await waitFor('the age of a scanned block', 20_000, async () => {
        const ready = (await (await fetch(`${admin}/health/ready`)).json()) as Record<string, unknown>;
        const metrics = await (await fetch(`${admin}/metrics`)).text();
        const age = /^card_checkout_scanned_block_age_seconds (\S+)$/m.exec(metrics)?.[1];
        return (
          ready['status'] === 'ready' && Number(ready['scanned_block_age_seconds']) < 60 && Number(age) < 60
        );
      });
      const script = join(import.meta.dirname, '../../bin/healthcheck.js');
      expect(spawnSync(process.execPath, [script], { env: environment }).status).toBe(0);
    }
  });

  it('go on within ten seconds after the watching worker was killed', async () => {
    const id = await sell(apis[1], apis[0]);
    const [watching, standby] = workers.toSorted(
      (one, other) => Number(isWatching(other)) - Number(isWatching(one)),
    );
    await watching?.process.end('SIGKILL');
    await waitFor('the other worker to take over', 60_000, () => isWatching(standby as LiveInstance));
    await untilPaid(apis[0], id);
    await waitFor('the webhook', 60_000, () => receiver.received.some(({ rawBody }) => rawBody.includes(id)));
    const events = receiver.received.map(
      ({ rawBody }) => (JSON.parse(rawBody) as { paymentId: string }).paymentId,
    );
    expect(new Set(events).size).toBe(events.length);
  });
});
