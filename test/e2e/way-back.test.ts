import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startBalancer } from '../support/balancer.ts';
import { missing, startLoad } from '../support/checkout-load.ts';
import { type LiveInstance, openLiveInstances } from '../support/live-instances.ts';
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

it.runIf(hasRelease)(
  'instances of 0.1.0 are upgraded in turn and rolled back in turn, without losing a request or a payment',
  async () => {
    const release = { program: unpackRelease() };
    const changes = {
      DATABASE_URL: await live.postgres.createDatabase(),
      RATE_LIMIT_CREATE_PER_MINUTE: '1000000',
    };
    const first = await live.start('all', changes, release);
    const instances: LiveInstance[] = [first, await live.start('all', changes, release)];
    const { apiKey } = await createShop(first.environment);
    const balancer = await startBalancer(
      instances.map(({ url }) => url),
      { checkIntervalMs: 500 },
    );
    const load = startLoad(balancer.url, apiKey);
    async function restartAll(options: object): Promise<void> {
      for (const [index, instance] of instances.entries()) {
        await load.untilMoreAnswers(100);
        expect(await instance.process.end('SIGTERM')).toBe(0);
        instances[index] = await live.startAgain('all', instance, options);
        await waitFor('the balancer to use it again', 60_000, () => balancer.isReady(instance.url));
      }
    }
    await restartAll({});
    expect(await runCommand(first.environment, 'verify')).toMatch(/^discrepancy_count +0$/m);
    await restartAll(release);
    await load.untilMoreAnswers(100);
    await load.stop();
    expect(load.failures.slice(0, 5)).toEqual([]);
    expect(await missing(balancer.url, apiKey, load.created)).toEqual([]);
    expect(await runCommand(first.environment, 'verify')).toMatch(/^discrepancy_count +0$/m);
    await balancer.stop();
  },
);

it.runIf(hasRelease)(
  'a SQLite database that this version has migrated is served by 0.1.0 again',
  async () => {
    const release = { program: unpackRelease() };
    const before = await live.start('all', {}, release);
    const { apiKey } = await createShop(before.environment);
    await before.process.end('SIGTERM');
    const upgraded = await live.startAgain('all', before);
    const load = startLoad(upgraded.url, apiKey);
    await load.untilMoreAnswers(50);
    await load.stop();
    await upgraded.process.end('SIGTERM');
    const back = await live.startAgain('all', before, release);
    expect(load.failures).toEqual([]);
    expect(await missing(back.url, apiKey, load.created)).toEqual([]);
    await back.process.end('SIGTERM');
  },
);
