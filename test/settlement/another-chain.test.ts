import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import type { AlteringProxy } from '../chain/altering-proxy.ts';
import { useSettlement } from './harness.ts';
import { useReadThrough } from './proxies.ts';

const stage = useSettlement();
const { settlement } = stage;
const hosts = useReadThrough(stage);
const { readThrough } = hosts;

/** Answers like a node of another chain, so many blocks ahead, without a log of ours. */
function showOtherChain(proxy: AlteringProxy, { chainId, ahead }: { chainId: number | null; ahead: number }) {
  proxy.alter = async (call, ask) => {
    if (call.method === 'eth_chainId' && chainId !== null) return { result: `0x${chainId.toString(16)}` };
    if (call.method === 'eth_getLogs') return { result: [] };
    if (call.method !== 'eth_getBlockByNumber') return ask(call);
    const [tag] = call.params as [string];
    const own = tag.startsWith('0x') ? `0x${Math.max(1, Number(tag) - ahead).toString(16)}` : tag;
    const { result } = await ask({ ...call, params: [own, false] });
    if (result === null) return { result };
    const block = result as { number: string; hash: string };
    const number = tag.startsWith('0x') ? tag : `0x${(Number(block.number) + ahead).toString(16)}`;
    return { result: { ...block, number, hash: `0x${'ab'.repeat(28)}${number.slice(2).padStart(8, '0')}` } };
  };
}

/** Passes with a block in between; the messages of those that failed. */
async function passes(count: number): Promise<string[]> {
  const failures: string[] = [];
  for (let pass = 0; pass < count; pass++) {
    await settlement.mine();
    await settlement.watchOnce().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

const entries = () => settlement.store.observations.listEntries(0, 100);

async function rowsOf(payment: Payment) {
  const { deposits, releases } = await settlement.observations(payment);
  return { deposits, releases };
}

async function payOne() {
  const payment = await settlement.createSettled();
  expect(await settlement.state(payment)).toBe('paid/completed');
  return { payment, seen: await rowsOf(payment) };
}

it.each([
  ['with another chain id', 1, 0, /serves chain 1, not/],
  ['with another chain id, and blocks far above', 1, 5_000, /serves chain 1, not/],
  ['with the same chain id', null, 0, /the only host has lost block \d+, which was final/],
])(
  'one endpoint %s behind it takes nothing back, and goes on when it is right again',
  async (_what, chainId, ahead, refusal) => {
    const proxy = await readThrough(1);
    const { payment, seen } = await payOne();
    const before = await settlement.store.observations.readCursor();
    const journal = await entries();
    showOtherChain(proxy, { chainId, ahead });
    const failures = await passes(4);
    expect(failures).toHaveLength(4);
    expect(failures.at(-1)).toMatch(refusal);
    expect(await settlement.store.observations.readCursor()).toEqual(before);
    expect(await entries()).toEqual(journal);
    expect(await rowsOf(payment)).toEqual(seen);
    proxy.alter = null;
    // A head that falls back far is believed after a minute.
    await passes(ahead === 0 ? 3 : 35);
    expect(await rowsOf(payment)).toEqual(seen);
    expect((await settlement.store.observations.readCursor())?.number).toBeGreaterThan(before?.number ?? 0);
    await payOne();
  },
);

it('several endpoints that are all moved to another chain take nothing back', async () => {
  await readThrough(2);
  const { payment, seen } = await payOne();
  for (const proxy of hosts.proxies) showOtherChain(proxy, { chainId: 1, ahead: 0 });
  expect((await passes(3)).at(-1)).toMatch(/serves chain 1, not/);
  expect(await rowsOf(payment)).toEqual(seen);
});

it('one host that lost final blocks is believed while no payment rests on them', async () => {
  await readThrough(1);
  const { payment, seen } = await payOne();
  await settlement.mineAndWatch(3);
  const before = await settlement.store.observations.readCursor();
  await settlement.reorganize(5);
  await passes(4);
  expect((await settlement.store.observations.readCursor())?.hash).not.toBe(before?.hash);
  expect(settlement.rewinds).toHaveLength(1);
  expect(await rowsOf(payment)).toEqual(seen);
});

it('an operator goes back from a cursor on another chain, and everything is found again', async () => {
  await readThrough(1);
  const { payment, seen } = await payOne();
  const right = await settlement.store.observations.readCursor();
  if (right === null) throw new Error('nothing was scanned');
  const foreign = { ...right, number: right.number + 5_000, hash: `0x${'cd'.repeat(32)}` };
  await settlement.store.observations.recordScan(
    { from: right, final: foreign, scannedTo: foreign.number, deposits: [], releases: [], rescues: [] },
    () => null,
  );
  expect((await passes(1))[0]).toMatch(/does not have block \d+, which was scanned/);
  const { from, to } = await settlement.rewindByHand(null);
  expect([from.number, to.number]).toEqual([foreign.number, right.number]);
  expect(await passes(3)).toEqual([]);
  await settlement.rewindByHand(right.number - 8);
  expect((await settlement.observations(payment)).releases).toEqual([]);
  expect(await settlement.state(payment)).toBe('paid/completed');
  await passes(3);
  expect(await rowsOf(payment)).toEqual(seen);
  await expect(settlement.rewindByHand(10 ** 9)).rejects.toThrow(/must be below/);
});
