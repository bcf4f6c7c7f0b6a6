/**
 * `npm run drills -- disk`: loses the disk of a service under load, and brings its database back from the continuous copy. The client
 * names what was lost, and counts deliveries. Copies to DATABASE_COPY_URL if it is set. Needs `npm install --no-save @flydotio/litestream@1.0.1`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CreatedPayment } from '../test/support/e2e-service.ts';
import { type Machine, startLiveWorld } from '../test/support/live-service.ts';
import { createShop, runCommand, runJson } from '../test/support/service-process.ts';
import { waitFor } from '../test/support/wait-for.ts';

const [LANES, LOAD_MS, LIMIT_MS] = [8, 6_000, 1_000];
const address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

const world = await startLiveWorld();
const { folder, receiver } = world;
const deliveriesOf = ({ payment_id: id }: CreatedPayment) =>
  receiver.received.filter(({ rawBody }) => rawBody.includes(id)).length;

/** Creates from all lanes until `isOver`; `refused` is what failed before. */
async function load(machine: Machine, apiKey: string, isOver: () => boolean) {
  const [created, durationsMs, refused] = [
    [] as { id: string; atMs: number }[],
    [] as number[],
    [] as unknown[],
  ];
  const lane = async () => {
    while (!isOver()) {
      const startedMs = performance.now();
      try {
        const { payment_id: id } = await machine.create(apiKey, { address });
        created.push({ id, atMs: Date.now() });
        durationsMs.push(performance.now() - startedMs);
      } catch (error) {
        if (!isOver()) refused.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const p99Ms = durationsMs.sort((one, other) => one - other)[Math.floor(durationsMs.length * 0.99)] ?? 0;
  return { created, p99Ms, refused };
}

const say = (what: string, { created, p99Ms, refused }: Awaited<ReturnType<typeof load>>) =>
  console.log(
    `${what}: ${created.length} creates in ${LOAD_MS / 1000} s, p99 ${p99Ms.toFixed(1)} ms, ${refused.length} failed`,
  );

try {
  mkdirSync(join(folder, 'disk'));
  const settings = { SECRET_KEY: 'x'.repeat(40), RATE_LIMIT_CREATE_PER_MINUTE: '1000000' };
  const { DATABASE_COPY_URL = `file://${folder}/copy` } = process.env;
  const place = { DATA_DIR: join(folder, 'disk/data'), DATABASE_COPY_URL };
  const copied = { ...settings, ...place };
  const script = join(import.meta.dirname, '../deploy/continuous-copy.sh');
  const options = { env: { ...process.env, ...place }, stdio: 'inherit' as const };
  const plain = await world.startMachine(settings);
  const first = await world.startMachine(copied);
  const copier = spawn('sh', [script], options);
  const [{ apiKey: plainKey }, { apiKey }] = [
    await createShop(plain.environment),
    await createShop(first.environment),
  ];
  const paid = await first.create(apiKey, { address });
  await first.pay(paid.payment_id);
  await waitFor('the delivery', 60_000, () => (deliveriesOf(paid) > 0 ? true : undefined));
  const timed = () => {
    const endMs = performance.now() + LOAD_MS;
    return () => performance.now() >= endMs;
  };
  for (const round of [1, 2]) {
    say(`round ${round} without a copy`, await load(plain, plainKey, timed()));
    say(`round ${round} with a copy   `, await load(first, apiKey, timed()));
  }
  let lostAtMs = Number.POSITIVE_INFINITY;
  const loading = load(first, apiKey, () => lostAtMs < Number.POSITIVE_INFINITY);
  await delay(LOAD_MS);
  lostAtMs = Date.now();
  // As when the machine is lost: nothing is copied after the service has ended.
  copier.kill('SIGKILL');
  const killed = first.process.end('SIGKILL');
  rmSync(copied.DATA_DIR, { recursive: true, force: true });
  await killed;
  const { created, refused } = await loading;

  const startedMs = performance.now();
  execFileSync('sh', [script, 'restore'], options);
  await runCommand(first.environment, 'restore');
  const second = await world.startMachine(copied);
  console.log(`restored and ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  const lost: number[] = [];
  for (const { id, atMs } of created)
    if ((await second.readStatus(apiKey, `payment_id=${id}`)).status === 404) lost.push(lostAtMs - atMs);
  const oldestMs = Math.max(0, ...lost);
  const after = await second.create(apiKey, { address });
  await second.pay(after.payment_id);
  await waitFor('a delivery after the restore', 60_000, () => (deliveriesOf(after) > 0 ? true : undefined));
  const counts = [paid, after].map(deliveriesOf);
  const { discrepancy_count: found } = await runJson<{ discrepancy_count: number }>(
    second.environment,
    'verify',
  );
  console.log(
    `lost ${lost.length} of ${created.length} creates, the oldest ${oldestMs} ms before; ${refused.length} failed under load`,
  );
  console.log(`deliveries: ${counts.join(', ')}; verify found ${found}`);
  if (oldestMs > LIMIT_MS || counts.some((count) => count !== 1) || found > 0 || refused.length > 0)
    process.exitCode = 1;
} finally {
  await world.stop();
}
