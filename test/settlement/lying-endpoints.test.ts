import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { ChainUnavailableError } from '../../src/settlement/chain/chain.ts';
import { fabricate, halveTransfers, omitLogsOf } from '../chain/endpoint-faults.ts';
import { EXPECTED_UNITS, EXPIRY_MS, HOUR_MS, useSettlement } from './harness.ts';
import { useReadThrough } from './proxies.ts';

const stage = useSettlement();
const { chain, settlement } = stage;
const hosts = useReadThrough(stage);
const { proxy, readThrough } = hosts;

const PRICE_UNITS = 100_000_000n;

const named = () => new Set(hosts.seen.doubts.map(({ kind, endpoint }) => `${kind} ${endpoint}`));
const kinds = () => new Set(hosts.seen.doubts.map(({ kind }) => kind));
const cursor = async () => (await settlement.store.observations.readCursor())?.number;

/** So many passes with a block in between, of which an endpoint may fail some, as the worker repeats them. */
async function watchBlocks(passes: number): Promise<void> {
  for (let pass = 0; pass < passes; pass++) {
    await settlement.mine();
    await settlement.watchOnce().catch((error: unknown) => {
      expect(error).toBeInstanceOf(ChainUnavailableError);
    });
  }
}

/** Relays and watches until the payment is paid, in a bounded number of blocks. */
async function expectPaid(payment: Payment): Promise<void> {
  for (let round = 0; round < 12 && (await settlement.state(payment)) !== 'paid/completed'; round++) {
    await settlement.relay();
    await watchBlocks(1);
  }
  expect(await settlement.state(payment)).toBe('paid/completed');
}

async function lieAbout(payment: Payment, place: number, isReleased: boolean): Promise<number> {
  const blockNumber = (await chain.anvil.blockNumber()) + 1;
  const lie = { deposit: payment.depositAddress, units: PRICE_UNITS, blockNumber, isReleased };
  fabricate(proxy(place), lie);
  return blockNumber;
}

/** Nothing was paid, no final row is in the books, and no webhook is due. */
async function expectNothingBooked(payment: Payment): Promise<void> {
  expect((await settlement.read(payment)).status).toBe('unpaid');
  expect(await settlement.webhooks(payment)).toEqual([]);
  expect(await settlement.store.observations.listEntriesOf(payment.id)).toEqual([]);
}

describe('an endpoint that invents a payment under honest block hashes', () => {
  it.each([
    ['card', 0],
    ['card', 1],
    ['card', 2],
    ['direct', 0],
  ] as const)('makes no %s payment paid and delays no other, as number %i of three', async (kind, liar) => {
    await readThrough(3);
    const invented = kind === 'card' ? await settlement.create() : await settlement.createDirect();
    const real = await settlement.create();
    await lieAbout(invented, liar, kind === 'card');
    await settlement.deposit(real, EXPECTED_UNITS);
    await watchBlocks(8);
    await settlement.rescan(100).catch(() => {});
    await settlement.rescanAtEach(100);
    await expectNothingBooked(invented);
    await expectPaid(real);
    await expectNothingBooked(invented);
    expect(await cursor()).toBeGreaterThan((await chain.anvil.blockNumber()) - 6);
    // Only what the liar shows is refuted.
    expect(hosts.seen.doubts.length).toBeGreaterThan(0);
    expect(named()).toEqual(new Set([`refuted ${new URL(proxy(liar).url).host}`]));
  });

  it('makes no payment paid while a second look asks it, as the second of two', async () => {
    await readThrough(2);
    const invented = await settlement.create();
    await lieAbout(invented, 1, true);
    await watchBlocks(6);
    expect(hosts.seen.doubts).toEqual([]);
    expect(await settlement.rescan(100)).toBe(0);
    expect(await settlement.rescanAtEach(100)).toBe(0);
    expect(kinds()).toEqual(new Set(['disputed']));
    await expectNothingBooked(invented);
  });

  it('takes back nothing with a forged hash of a block that was final, as the first of three', async () => {
    await readThrough(3);
    const payment = await settlement.createSettled();
    const [at, entries] = [await cursor(), await settlement.store.observations.listEntriesOf(payment.id)];
    proxy(0).alter = async (call, ask) => {
      const answer = await ask(call);
      const [block] = call.params as [unknown];
      if (call.method !== 'eth_getBlockByNumber' || Number(block) !== at) return answer;
      return { result: { ...(answer.result as object), hash: `0x${'ef'.repeat(32)}` } };
    };
    await watchBlocks(3);
    expect(settlement.rewinds).toEqual([]);
    expect(await settlement.store.observations.listEntriesOf(payment.id)).toEqual(entries);
    expect(await cursor()).toBeGreaterThan(at as number);
  });
});

describe('an endpoint that lies about finality', () => {
  it('does not hold up the others with a final transaction in another block that is not final, as the first of three', async () => {
    await readThrough(3);
    const [known, real] = [await settlement.create(), await settlement.create()];
    const transactionHash = await settlement.deposit(known, EXPECTED_UNITS);
    await settlement.settleDown();
    const { depositAddress: deposit } = known;
    const lie = { deposit, units: EXPECTED_UNITS, isReleased: false, transactionHash };
    fabricate(proxy(0), { ...lie, blockNumber: 'newest' });
    await settlement.deposit(real, EXPECTED_UNITS);
    await watchBlocks(3);
    await expectPaid(real);
  });
});

describe('an endpoint that leaves a deposit out', () => {
  it.each([0, 1, 2])(
    'does not keep it from being found, and is named, as number %i of three',
    async (omitting) => {
      await readThrough(3);
      const payment = await settlement.create();
      omitLogsOf(proxy(omitting), payment.depositAddress);
      await settlement.deposit(payment, EXPECTED_UNITS);
      await watchBlocks(6);
      expect(await settlement.rescan(100)).toBe(omitting === 0 ? 1 : 0);
      await expectPaid(payment).catch(() => {});
      // The release is left out by the same endpoint.
      await watchBlocks(4);
      await settlement.rescan(100);
      expect(await settlement.state(payment)).toBe('paid/completed');
      // Its answer can come after that of the host that decided.
      await vi.waitFor(() =>
        expect(named()).toEqual(new Set([`omitted ${new URL(proxy(omitting).url).host}`])),
      );
    },
  );

  it('does not take back what was seen, where it leaves logs out of ranges of blocks only', async () => {
    await readThrough(1);
    const payment = await settlement.createWithDeposit();
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    omitLogsOf(proxy(0), payment.depositAddress, 1);
    await settlement.mineAndWatch(4);
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    expect(await settlement.store.observations.listEntriesOf(payment.id)).toHaveLength(1);
  });

  it('does not let a payment expire whose release it leaves out as well', async () => {
    await readThrough(3);
    const payment = await settlement.createWithDeposit();
    await settlement.rescan(100);
    await settlement.relay();
    expect(await settlement.state(payment)).toBe('unpaid/processing');
    omitLogsOf(proxy(0), payment.depositAddress);
    settlement.advance(EXPIRY_MS + HOUR_MS);
    await watchBlocks(4);
    // The address is empty, as it is where nothing has ever arrived.
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    await settlement.expireRescanned();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    expect(await settlement.rescan(100)).toBe(2);
    expect(await settlement.state(payment)).toBe('paid/completed');
  });

  it('alone that halved a final amount ends no rescan: what else was missed is added, and the row is named', async () => {
    await readThrough(1);
    const [halved, missed] = [await settlement.create(), await settlement.create()];
    halveTransfers(proxy(0));
    await settlement.deposit(halved, EXPECTED_UNITS);
    await settlement.mineAndWatch(4);
    omitLogsOf(proxy(0), missed.depositAddress);
    await settlement.deposit(missed, EXPECTED_UNITS);
    await settlement.mineAndWatch(4);
    proxy(0).alter = null;
    const rescan = await settlement.rescanAndCompare(100);
    expect(rescan.contradictions).toEqual([expect.stringContaining('was found with other contents')]);
    expect([rescan.added, rescan.rescannedTo?.number]).toEqual([1, await cursor()]);
    expect(await settlement.state(missed)).toBe('unpaid/ready');
  });

  it('is found out by a deep second look that asks each endpoint, where two leave it out of long ranges', async () => {
    await readThrough(3);
    const payment = await settlement.create();
    for (const place of [0, 1]) omitLogsOf(proxy(place), payment.depositAddress, 2);
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mineAndWatch(6);
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    expect(await settlement.rescan(100)).toBe(0);
    expect(await settlement.rescanAtEach(100)).toBe(1);
    expect(await settlement.state(payment)).toBe('unpaid/ready');
  });

  it('as the second of two keeps the cursor below it until both show it, and that is reported', async () => {
    await readThrough(2);
    const payment = await settlement.create();
    omitLogsOf(proxy(1), payment.depositAddress);
    await settlement.deposit(payment, EXPECTED_UNITS);
    const depositBlock = (await chain.anvil.blockNumber()) + 1;
    await watchBlocks(8);
    expect(await cursor()).toBe(depositBlock - 1);
    expect(kinds()).toEqual(new Set(['disputed']));
    proxy(1).alter = null;
    await expectPaid(payment);
  });
});

describe('what confirming costs', () => {
  beforeEach(() => readThrough(3));

  it('is no request for logs where nothing of ours is in the blocks', async () => {
    await settlement.create();
    await watchBlocks(5);
    expect(proxy(1).asked).not.toContain('eth_getLogs');
    expect(proxy(2).asked).not.toContain('eth_getLogs');
  });

  it('is one request for logs for all deposits of a pass, and one for all releases', async () => {
    const payments = [await settlement.create(), await settlement.create(), await settlement.create()];
    for (const payment of payments) await settlement.deposit(payment, EXPECTED_UNITS);
    await watchBlocks(1);
    await settlement.relay();
    await watchBlocks(6);
    for (const payment of payments) expect(await settlement.state(payment)).toBe('paid/completed');
    for (const place of [1, 2]) {
      expect(proxy(place).asked.filter((method) => method === 'eth_getLogs').length).toBeLessThanOrEqual(2);
    }
  });
});

it('a second reading names the host whose blocks nobody confirms, while the other one is down', async () => {
  const payment = await settlement.create();
  settlement.faults.hideLogs = true;
  await settlement.deposit(payment, EXPECTED_UNITS);
  await watchBlocks(4);
  settlement.faults.hideLogs = false;
  await readThrough(2);
  proxy(0).failWithStatus = 503;
  const confirmed = hosts.seen.endpoints[1]?.rpc.label as string;
  await expect(settlement.rescan(100)).rejects.toThrow(
    `no second host confirms a final block of ${confirmed}`,
  );
});
