import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { assumedDeliveryUnits } from '../../src/payment/provider-catalog.ts';
import { freePorts } from '../support/free-ports.ts';
import {
  callNode,
  countTransfers,
  createRecordingLog,
  makeFolder,
  payWithCard,
  readBalance,
  readResultState,
  someAddress,
  startFastSandbox,
  startSessionAt,
  WAIT,
  waitForFinalBalance,
  waitUntilDelivered,
} from './fixture.ts';

const DELIVERY_UNITS = assumedDeliveryUnits('wert', 100_000_000n);

let folder: Awaited<ReturnType<typeof makeFolder>>;
let sandbox: Sandbox;
let log: ReturnType<typeof createRecordingLog>;

beforeEach(async () => {
  folder = await makeFolder();
  log = createRecordingLog();
  await start();
});

afterEach(async () => {
  await sandbox.stop();
  await folder.remove();
});

async function start(): Promise<void> {
  sandbox = await startFastSandbox({ dataDir: folder.path, log, slowDeliveryMs: 2_000 });
}

async function restart(): Promise<void> {
  await sandbox.stop();
  await start();
}

it('a sandbox that has stopped leaves nothing running, and starts again', async () => {
  const { rpcUrl, anvilUrl, onrampBaseUrl } = sandbox;
  const pid = sandbox.chainProcessId();
  await sandbox.stop();
  // The system takes a moment to forget a process that has ended.
  await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
  for (const url of [rpcUrl, anvilUrl, onrampBaseUrl])
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  await start();
  expect(sandbox.chainProcessId()).not.toBe(pid);
});

it('takes the ports that it prefers where they are free, else free ones, and says so', async () => {
  const [onramps = 0, chain = 0] = await freePorts(2);
  const preferredPorts = { onramps, chain };
  const portsOf = ({ onrampBaseUrl, anvilUrl }: Sandbox) => ({
    onramps: Number(new URL(onrampBaseUrl).port),
    chain: Number(new URL(anvilUrl).port),
  });
  const [one, two] = [await makeFolder(), await makeFolder()];
  const first = await startFastSandbox({ dataDir: one.path, log, preferredPorts });
  expect(portsOf(first)).toEqual(preferredPorts);
  expect(log.lines).toEqual([]);
  const second = await startFastSandbox({ dataDir: two.path, log, preferredPorts });
  expect(Object.values(portsOf(second))).not.toContain(onramps);
  expect(Object.values(portsOf(second))).not.toContain(chain);
  expect(log.lines).toEqual([
    "warn the local chain's port is taken and a free one is used",
    expect.stringContaining("warn the on-ramps' port is taken and a free one is used"),
  ]);
  for (const running of [first, second]) await running.stop();
  for (const made of [one, two]) await made.remove();
});

it('a restart keeps contracts, balances, keys and the addresses of open sessions', async () => {
  const deposit = someAddress('1');
  const { usdc, factory, implementation, providerValues, onrampBaseUrl } = sandbox;
  const paid = await startSessionAt(sandbox, deposit);
  await payWithCard(paid, '4242424242424242');
  await waitUntilDelivered(paid);
  const open = await startSessionAt(sandbox, deposit);
  await restart();
  expect(sandbox).toMatchObject({ usdc, factory, implementation, providerValues, onrampBaseUrl });
  expect(await readBalance(sandbox, deposit)).toBe(DELIVERY_UNITS);
  expect(await readResultState(paid)).toBe('delivered');
  await payWithCard(open, '4242424242424242');
  await waitForFinalBalance(sandbox, deposit, 2n * DELIVERY_UNITS);
  expect(log.lines).toEqual([]);
});

it('what the chain calls final is on disk: no kill takes it back', async () => {
  // The first order takes the block producer past its first look, with which everything is saved anyway.
  const first = await startSessionAt(sandbox, someAddress('2'));
  await payWithCard(first, '4242424242424242');
  await waitUntilDelivered(first);
  const deposit = someAddress('1');
  const session = await startSessionAt(sandbox, deposit);
  await payWithCard(session, '4242424242424242');
  await waitUntilDelivered(session);
  const finalBlock = (await callNode(sandbox, 'eth_getBlockByNumber', ['finalized', false])) as {
    number: string;
    hash: string;
  };
  const killed = sandbox.chainProcessId();
  process.kill(killed, 'SIGKILL');
  await vi.waitFor(async () => {
    expect(sandbox.chainProcessId()).not.toBe(killed);
    const block = await callNode(sandbox, 'eth_getBlockByNumber', [finalBlock.number, false]);
    expect(block).toMatchObject({ hash: finalBlock.hash });
  }, WAIT);
  expect(await countTransfers(sandbox, deposit)).toBe(1);
  expect(log.lines.some((line) => line.includes('lost a delivery'))).toBe(false);
});
