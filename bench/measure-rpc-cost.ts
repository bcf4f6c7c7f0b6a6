/**
 * `node bench/measure-rpc-cost.ts [OPEN…]`: what the watcher asks of RPC endpoints in a day, with so many open payments
 * of 5,000 or more, while no money arrives. The real tasks run over a prepared store against stub nodes, by a clock of
 * their own: twenty minutes of it, multiplied. The balance sweep and the relayer are left out. Prints calls, and bytes
 * in both directions without HTTP headers, for one and for three hosts. `QUIET_MS` is the pause between two passes while
 * payments wait for money, `MAXIMUM_RANGE` the number of blocks that a node grants in one `eth_getLogs`.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createWatchTasks } from '../src/app/watch-tasks.ts';
import type { WorkerParts } from '../src/app/worker-parts.ts';
import { createChainReader } from '../src/chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../src/chain/endpoint-rotation.ts';
import { createKnownAddresses } from '../src/payments/known-addresses.ts';
import { openSqliteStore } from '../src/store/sqlite/open-store.ts';
import { fillStore } from './fill-store.ts';
import { addresses } from './servers/stub-world.ts';

const MEASURED_MS = 20 * 60_000;
const DAY_MS = 24 * 3_600_000;
const BLOCK_MS = 1_750;
const START_BLOCK = 10_000;
const FINAL_AFTER_BLOCKS = 3;
const TRANSFERS_A_BLOCK = 40;
const TRANSACTIONS_A_BLOCK = 100;
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** As in live mode. */
const intervals = {
  watchIntervalMs: Number(process.env['WATCH_MS'] ?? 1_000),
  quietWatchIntervalMs: Number(process.env['QUIET_MS'] ?? 6_000),
  idleWatchIntervalMs: 45_000,
  finalityIntervalMs: 60_000,
  rescanIntervalMs: 5 * 60_000,
  rescanDepthBlocks: 2_000,
  rescanLagBlocks: 32,
  sweepIntervalMs: 10 * 60_000,
  deepRescanBlocks: 50_000,
};

const time = { nowMs: 0 };
const total = { calls: 0, logCalls: 0, bytes: 0 };
/** Blocks that the stub grants in one request for logs. */
const maximumRange = Number(process.env['MAXIMUM_RANGE'] ?? 2_000);
const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;
const quantity = (count: number) => `0x${count.toString(16)}`;
const latestNumber = () => START_BLOCK + Math.floor(time.nowMs / BLOCK_MS);
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '7')}`;
const startedAtS = Math.floor(Date.now() / 1_000);

/** A prepared block's logs as text, one for all blocks but for the number. */
const templates = Array.from({ length: 20 }, () =>
  Array.from({ length: TRANSFERS_A_BLOCK }, (_, index) =>
    JSON.stringify({
      address: addresses.token.toLowerCase(),
      topics: [
        TRANSFER_TOPIC,
        `0x${'0'.repeat(24)}${hex(20).slice(2)}`,
        `0x${'0'.repeat(24)}${hex(20).slice(2)}`,
      ],
      data: `0x${randomBytes(4).toString('hex').padStart(64, '0')}`,
      blockNumber: 'NUMBER',
      transactionHash: hex(32),
      transactionIndex: quantity(index),
      blockHash: 'HASH',
      logIndex: quantity(index * 3),
      removed: false,
    }),
  ).join(','),
);
const transactions = Array.from({ length: TRANSACTIONS_A_BLOCK }, () => hex(32));

function blockOf(number: number): unknown {
  return {
    number: quantity(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: quantity(startedAtS + Math.floor(((number - START_BLOCK) * BLOCK_MS) / 1_000)),
    logsBloom: hex(256),
    transactions,
  };
}

interface Filter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly address: string | readonly string[];
  readonly topics: readonly unknown[];
}

function answerOf(method: string, params: readonly unknown[]): string | null {
  if (method === 'eth_chainId') return '"0x89"';
  if (method === 'eth_getBlockByNumber') {
    const [tag] = params;
    const final = latestNumber() - FINAL_AFTER_BLOCKS;
    const number = tag === 'latest' ? latestNumber() : tag === 'finalized' ? final : Number(tag);
    return number > latestNumber() ? 'null' : JSON.stringify(blockOf(number));
  }
  if (method !== 'eth_getLogs') throw new Error(`the stub does not know ${method}`);
  total.logCalls++;
  const filter = params[0] as Filter;
  if (Number(filter.toBlock) - Number(filter.fromBlock) >= maximumRange) return null;
  if (Array.isArray(filter.address) || filter.topics[2] !== undefined) return '[]';
  const from = filter.fromBlock === undefined ? latestNumber() : Number(filter.fromBlock);
  const to = filter.toBlock === undefined ? from : Number(filter.toBlock);
  const blocks: string[] = [];
  for (let number = from; number <= to; number++) {
    const template = templates[number % templates.length] as string;
    blocks.push(template.replaceAll('NUMBER', quantity(number)).replaceAll('HASH', hashOf(number)));
  }
  return `[${blocks.join(',')}]`;
}

async function startNode() {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = Buffer.concat(chunks);
    const body = JSON.parse(asked.toString());
    const answer = (call: { id: number; method: string; params: unknown[] }) => {
      total.calls++;
      const result = answerOf(call.method, call.params);
      const outcome = result === null ? '"error":{"code":-32602,"message":"range"}' : `"result":${result}`;
      return `{"jsonrpc":"2.0","id":${call.id},${outcome}}`;
    };
    const text = Array.isArray(body) ? `[${body.map(answer).join(',')}]` : answer(body);
    const isCompressed = String(request.headers['accept-encoding']).includes('gzip');
    const sent = isCompressed ? gzipSync(text, { level: 1 }) : Buffer.from(text);
    total.bytes += asked.length + sent.length;
    response.writeHead(200, isCompressed ? { 'content-encoding': 'gzip' } : {}).end(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

async function measure(dataDir: string, hosts: number) {
  const nodes = await Promise.all(Array.from({ length: hosts }, startNode));
  const endpoints = createChainEndpoints({ urls: nodes.map(({ url }) => url), chainId: 137 });
  const store = await openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') });
  const metric = { inc() {}, set() {} };
  const parts = {
    store,
    external: {
      chain: createChainReader({
        endpoints,
        sources: { token: addresses.token, factories: [addresses.factory] },
      }),
      sweepBalances: async (asked: readonly string[]) => asked.map(() => 0n),
      intervals,
    },
    known: createKnownAddresses(store.payments, store.addressPages),
    nowMs: Date.now,
    monotonicMs: () => time.nowMs,
    log: { error: console.error, warn: console.error, info() {}, debug() {} },
    metrics: {
      scannedBlock: metric,
      latestBlock: metric,
      missedLogs: metric,
      chainRewinds: metric,
      unexplainedBalances: metric,
    },
    wake() {},
  } as unknown as WorkerParts;
  const tasks = createWatchTasks(parts).filter(({ name }) => name === 'watch' || name === 'rescan');
  const { signal } = new AbortController();
  const runDue = async (stepMs: number, untilMs: number) => {
    for (; time.nowMs < untilMs; time.nowMs += stepMs) {
      for (const { intervalMs, run } of tasks) {
        if (time.nowMs % intervalMs >= stepMs) continue;
        while (await run(signal));
      }
    }
  };
  // The rescan of the time before the start is no part of a day, and neither is a database's first cursor.
  time.nowMs = 2_100 * BLOCK_MS;
  await runDue(250, time.nowMs + 5 * 60_000);
  Object.assign(total, { calls: 0, logCalls: 0, bytes: 0 });
  await runDue(250, time.nowMs + MEASURED_MS);
  const factor = DAY_MS / MEASURED_MS;
  const result = {
    calls: Math.round(total.calls * factor),
    logCalls: Math.round(total.logCalls * factor),
    bytes: Math.round(total.bytes * factor),
  };
  await closeChainEndpoints(endpoints);
  await store.close();
  for (const node of nodes) node.close();
  return result;
}

const counts = process.argv.slice(2).map(Number);
for (const open of counts.length > 0 ? counts : [0, 5, 2_000, 100_000]) {
  for (const hosts of [1, 3]) {
    const dataDir = mkdtempSync(join(tmpdir(), 'rpc-cost-'));
    try {
      await fillStore(dataDir, Math.max(5_000, open), open);
      const { calls, logCalls, bytes } = await measure(dataDir, hosts);
      const gigabytes = (bytes / 1e9).toFixed(2);
      console.log(
        `${open} open, hosts: ${hosts}, calls a day: ${calls} (eth_getLogs: ${logCalls}), GB a day: ${gigabytes}`,
      );
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  }
}
