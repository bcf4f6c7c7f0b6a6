/**
 * `node tools/rpc-calls.ts [HOURS]`: JSON-RPC calls that a live worker makes in a day, by method and host. Its own tasks run at
 * the intervals of live mode in simulated time, on blocks that hold nothing of ours.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERIFIED_AGAIN_MS } from '../src/app/deployment-check.ts';
import { openSqliteStore } from '../src/app/store/sqlite-store.ts';
import type { WorkerTask } from '../src/app/worker-parts.ts';
import { createWorkerTasks } from '../src/app/worker-tasks.ts';
import { createPaymentIdGenerator } from '../src/payment/payment-id.ts';
import type { LatestBlock } from '../src/settlement/chain/chain.ts';
import { verifyDeployment } from '../src/settlement/chain/verify-deployment.ts';
import { benchAccount, benchPayment } from './bench/bench-payment.ts';
import { countedAddress } from './bench/counted-address.ts';
import { settlementParts } from './bench/measurements/settlement-world.ts';
import { BLOCK_MS, blockOf, newestBlock } from './bench/servers/stub-node.ts';
import { addresses, createStubWorld } from './bench/servers/stub-world.ts';

const hours = Number(process.argv[2] ?? 3);
const asking = ['watch', 'rescan', 'sweep', 'expire', 'gas', 'refunds', 'relay'];
const range = { maximumBlockRange: 10 };

const folder = mkdtempSync(join(tmpdir(), 'rpc-calls-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
console.log(
  '|  | hosts | calls a day | compute units | by method and host |\n| --- | --- | --- | --- | --- |',
);
for (const hosts of [1, 3]) {
  await printDay('idle', { hosts, open: 0 });
  await printDay('5 open, announced', { hosts, open: 5, isAnnounced: true });
  await printDay('5 open, polled', { hosts, open: 5 });
  await printDay('idle, 10 blocks a call', { hosts, open: 0, ...range });
  await printDay('5 open, polled, 10 blocks a call', { hosts, open: 5, ...range });
}

interface Day {
  readonly hosts: number;
  readonly open: number;
  readonly isAnnounced?: boolean;
  readonly maximumBlockRange?: number;
}

async function printDay(name: string, { open, isAnnounced, ...nodes }: Day): Promise<void> {
  const startMs = Date.now();
  let currentMs = startMs;
  const nowMs = () => currentMs;
  const counts = new Map<string, number[]>();
  const onCall = (method: string, host: number) => {
    const count = counts.get(method) ?? Array<number>(nodes.hosts).fill(0);
    counts.set(method, count.with(host, (count[host] ?? 0) + 1));
  };
  const world = createStubWorld({ ...nodes, nowMs, onCall });
  let announce: (block: LatestBlock) => void = () => {};
  const subscribeToHeads = (onHead: typeof announce) => {
    if (isAnnounced) announce = onHead;
  };
  const store = await openSqliteStore({ file: join(folder, `${name} ${nodes.hosts}.sqlite`) });
  await store.accounts.createAccount(benchAccount());
  const newPaymentId = createPaymentIdGenerator(nowMs);
  for (let index = 0; index < open; index++) {
    const own = { payoutAddress: countedAddress(0), depositAddress: countedAddress(index), email: null };
    const paymentId = newPaymentId();
    await store.payments.createPayment(
      benchPayment({ ...own, paymentId, callbackUrl: 'https://a.example' }),
      null,
    );
  }
  const dueAtMs = new Map<WorkerTask, number>();
  const wake = (...names: string[]) => {
    for (const task of dueAtMs.keys()) if (names.includes(task.name)) dueAtMs.set(task, currentMs);
  };
  const deliver = () => Promise.reject(new Error('nothing is paid here'));
  const parts = settlementParts(store, { ...world, subscribeToHeads }, { deliver, wake });
  const { watching, sending, shared } = createWorkerTasks({ ...parts, nowMs, monotonicMs: nowMs });
  const run = async () => {
    const number = newestBlock(currentMs);
    announce({ ...blockOf(number), number, timestampMs: currentMs });
  };
  // The stub has no factory, which is found only after all calls.
  const verify = () =>
    verifyDeployment(world.endpoints, { chainId: 137, ...addresses }).catch(() => undefined);
  const tasks = [
    { name: 'head', intervalMs: BLOCK_MS, run },
    { name: 'deployment', intervalMs: VERIFIED_AGAIN_MS, run: async () => void (await verify()) },
    ...[...watching, ...sending, ...shared].filter((task) => asking.includes(task.name)),
  ];
  for (const task of tasks) dueAtMs.set(task as WorkerTask, startMs);
  for (;;) {
    const [task, atMs] = [...dueAtMs].reduce((one, other) => (other[1] < one[1] ? other : one));
    if (atMs >= startMs + hours * 3_600_000) break;
    currentMs = atMs;
    const hasMore = await task.run(new AbortController().signal);
    dueAtMs.set(task, atMs + (hasMore ? 0 : task.intervalMs));
  }
  await store.close();
  print(name, nodes.hosts, counts);
}

function print(name: string, hosts: number, counts: ReadonlyMap<string, readonly number[]>): void {
  const aDay = (count: number) => Math.round((count * 24) / hours);
  let [calls, units] = [0, 0];
  for (const [method, count] of counts) {
    const sum = aDay(count.reduce((all, one) => all + one));
    calls += sum;
    // Alchemy's list (2026-11-30, a stored copy): 10 to 26 for the other methods that are asked.
    units += sum * (method === 'eth_getLogs' ? 60 : 20);
  }
  const details = [...counts].map(([method, count]) => `${method} ${count.map(aDay).join(' + ')}`).join(', ');
  const cells = [name, hosts, calls.toLocaleString('en'), `${(units / 1e6).toFixed(2)} million`, details];
  console.log(`| ${cells.join(' | ')} |`);
}
