import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startBalancer } from '../support/balancer.ts';
import { missing, startLoad } from '../support/checkout-load.ts';
import { type LiveInstance, openLiveInstances } from '../support/live-instances.ts';
import { machineOf } from '../support/live-service.ts';
import { createShop, runCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const root = join(import.meta.dirname, '../..');
const [, commit = ''] =
  /`v0\.1\.0` \| `([0-9a-f]{40})`/.exec(readFileSync(join(root, 'docs/versioning.md'), 'utf8')) ?? [];

const hasRelease = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0;
if (!hasRelease)
  console.error('not checked: this clone lacks the commit of 0.1.0; run git fetch --unshallow');

/** Release 0.1.0 from the history, with the packages of this version. */
function unpackRelease(): string {
  const folder = temporaryFolder();
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const live = await openLiveInstances();
afterAll(() => live.stop(), 60_000);

it.runIf(hasRelease).each(['SQLite', 'PostgreSQL'])(
  'an upgrade of 0.1.0 and the way back, on %s, lose no request and no payment, and report each payment once',
  async (engine) => {
    const release = { program: unpackRelease() };
    const isSqlite = engine === 'SQLite';
    const changes = {
      ...(isSqlite ? {} : { DATABASE_URL: await live.postgres.createDatabase() }),
      RATE_LIMIT_CREATE_PER_MINUTE: '1000000',
    };
    const first = await live.start('all', changes, release);
    const instances: LiveInstance[] = isSqlite ? [first] : [first, await live.start('all', changes, release)];
    const { apiKey } = await createShop(first.environment);
    const balancer = await startBalancer(
      instances.map(({ url }) => url),
      { checkIntervalMs: isSqlite ? 100 : 500 },
    );
    const ids: string[] = [];
    /** Creates a payment at this instance, and returns the customer's order at the provider. */
    async function begin(instance: LiveInstance): Promise<string> {
      const machine = machineOf(instance, live.world, live.receiver);
      const { payment_id: id } = await machine.create(apiKey, { address: live.world.merchantWallet });
      ids.push(id);
      return machine.beginSession(id);
    }
    const deliveriesOf = (id: string) =>
      live.receiver.received.filter(({ rawBody }) => rawBody.includes(id)).length;
    async function payAndSettle(order: string): Promise<void> {
      await live.world.pay({ order });
      const { readStatus } = machineOf(first, live.world, live.receiver);
      for (const id of ids)
        await waitFor(`${id} to be paid and reported`, 60_000, async () => {
          const { body } = await readStatus(apiKey, `payment_id=${id}`);
          return body['status'] === 'paid' && deliveriesOf(id) > 0;
        });
    }
    /** One customer pays when all are restarted, and one at each instance just before its end. */
    async function restartAll(options: object): Promise<void> {
      const order = await begin(first);
      const load = startLoad(balancer.url, apiKey);
      for (const [index, instance] of instances.entries()) {
        await load.untilMoreAnswers(100);
        await live.world.pay({ order: await begin(instance) });
        expect(await instance.process.end('SIGTERM')).toBe(0);
        instances[index] = await live.startAgain('all', instance, options);
        await waitFor('the balancer to use it again', 60_000, () => balancer.isReady(instance.url));
      }
      await load.untilMoreAnswers(100);
      await load.stop();
      expect(load.failures.slice(0, 5)).toEqual([]);
      expect(await missing(balancer.url, apiKey, load.created)).toEqual([]);
      await payAndSettle(order);
      expect(await runCommand(first.environment, 'verify')).toMatch(/^discrepancy_count +0$/m);
    }
    await payAndSettle(await begin(first));
    await restartAll({});
    await restartAll(release);
    await payAndSettle(await begin(first));
    expect(await runCommand(first.environment, 'verify')).toMatch(/^discrepancy_count +0$/m);
    await balancer.stop();
    for (const { process } of instances) await process.end('SIGTERM');
    expect(ids.map(deliveriesOf)).toEqual(ids.map(() => 1));
  },
);
