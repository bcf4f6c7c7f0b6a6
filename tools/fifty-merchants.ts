/**
 * `npm run drills -- merchants`: fifty merchants for an hour in live mode. Each creates a payment a minute on average, most customers
 * pay, and the merchant asks for the status and lists its payments. Fails unless each paid payment is sent on and told exactly once.
 *   node tools/fifty-merchants.ts [MINUTES] [--postgres]
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openLiveInstances } from '../test/support/live-instances.ts';
import { createShop, runJson } from '../test/support/service-process.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { countedAddress } from './bench/counted-address.ts';

const MERCHANTS = 50;
const PAID_SHARE = 0.7;
/** Polygon's, without the test chain's hurry. */
const BLOCK_MS = 1_750;
const minutes = Number(process.argv[2] ?? 60);
const hasPostgres = process.argv.includes('--postgres');

const world = await openLiveInstances({ hasPostgres, blockIntervalMs: BLOCK_MS });
const database = hasPostgres ? { DATABASE_URL: await world.postgres.createDatabase() } : {};
const service = await world.start('all', database);
const { url, environment, process: server } = service;

const createMs: number[] = [];
const statusMs: number[] = [];
const listMs: number[] = [];
const failed: string[] = [];
const paidAtMs = new Map<string, number>();
let created = 0;

async function ask(times: number[], apiKey: string, path: string, body?: unknown): Promise<unknown> {
  const startedMs = performance.now();
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { headers, ...sent });
  const answer = await response.json();
  times.push(performance.now() - startedMs);
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function sell(apiKey: string, address: string): Promise<void> {
  const order = { address, callback: world.receiver.url, amount: '80', provider: 'moonpay' };
  const { payment_id: id } = (await ask(createMs, apiKey, '/api/v1/wallet', order)) as { payment_id: string };
  created++;
  if (Math.random() < PAID_SHARE) {
    const click = await fetch(`${url}/pay/${id}/providers/moonpay`, { method: 'POST', redirect: 'manual' });
    await world.world.pay({ order: click.headers.get('location') ?? '' });
    paidAtMs.set(id, Date.now());
  }
  await ask(statusMs, apiKey, `/api/v1/payment-status?payment_id=${id}`);
  await ask(listMs, apiKey, '/merchant/v1/payments');
}

/** Sells once a minute on average, at random times. */
async function trade(apiKey: string, index: number, endMs: number): Promise<void> {
  for (;;) {
    const pauseMs = -Math.log(1 - Math.random()) * 60_000;
    if (performance.now() + pauseMs > endMs) return;
    await delay(pauseMs);
    await sell(apiKey, countedAddress(index)).catch((error: unknown) => failed.push(String(error)));
  }
}

const share = (times: readonly number[], part: number) =>
  [...times].sort((one, other) => one - other)[Math.floor(times.length * part)] ?? 0;
const spread = (times: readonly number[]) =>
  `p50 ${share(times, 0.5).toFixed(0)}, p99 ${share(times, 0.99).toFixed(0)} ms`;

function usageOf(pid: number): string {
  const [, residentKb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // Fields 14 and 15 of proc(5), in hundredths of a second.
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
  return `memory ${(Number(residentKb) / 1_000).toFixed(0)} MB, processor ${cpuSeconds.toFixed(0)} s`;
}

try {
  const shops = [];
  for (let index = 1; index <= MERCHANTS; index++) shops.push(await createShop(environment, `Shop ${index}`));
  console.log(`${MERCHANTS} merchants on ${hasPostgres ? 'PostgreSQL' : 'SQLite'}: ${usageOf(server.pid)}`);
  const endMs = performance.now() + minutes * 60_000;
  const trading = Promise.all(shops.map(({ apiKey }, index) => trade(apiKey, index + 1, endMs)));
  const report = setInterval(
    () => console.log(`${created} created, ${paidAtMs.size} paid, ${usageOf(server.pid)}`),
    300_000,
  );
  await trading;
  clearInterval(report);

  const told = () =>
    world.receiver.received.map(({ rawBody, atMs }) => {
      const { paymentId: id } = JSON.parse(rawBody) as { paymentId: string };
      return { id, atMs };
    });
  await waitFor('the last webhooks', 120_000, () => told().length >= paidAtMs.size);
  const webhooks = told();
  const missing = [...paidAtMs.keys()].filter((id) => !webhooks.some((each) => each.id === id));
  const settledMs = webhooks.map(({ id, atMs }) => atMs - (paidAtMs.get(id) ?? atMs));
  const { discrepancy_count: found } = await runJson<{ discrepancy_count: number }>(environment, 'verify');
  console.log(`${minutes} minutes: ${created} created, ${paidAtMs.size} paid, ${failed.length} failed`);
  console.log(`create ${spread(createMs)}; status ${spread(statusMs)}; list ${spread(listMs)}`);
  console.log(`transfer to webhook ${spread(settledMs)}`);
  console.log(`${webhooks.length} webhooks, ${missing.length} missing; verify found ${found}`);
  console.log(usageOf(server.pid));
  for (const reason of failed.slice(0, 5)) console.log(reason);
  if (missing.length > 0 || webhooks.length !== paidAtMs.size || failed.length > 0 || found > 0)
    process.exitCode = 1;
} finally {
  await world.stop();
}
