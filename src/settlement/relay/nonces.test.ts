import { describe, expect, it } from 'vitest';
import { defaultRelayLimits } from '../batch-and-gas-limits.ts';
import { TransactionRefusedError } from '../chain/chain.ts';
import type { RelayBatch } from '../settlement-store.ts';
import { chooseNonce, fillGap, hasFreeSlot, readCounts, unminedOf } from './nonces.ts';
import type { RelayContext, RelayIncident } from './relay-context.ts';

const ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const batchesAt = (...nonces: readonly number[]) => nonces.map((nonce) => ({ nonce }) as RelayBatch);

describe('what the chain says of a key', () => {
  /** Creates a chain with these transaction counts at its newest block and at its final blocks. */
  function chain(latest: number, finalAt: Readonly<Record<number, number>>, cursor: number | null) {
    const of: unknown[] = [];
    const context = {
      observations: { readCursor: async () => (cursor === null ? null : { number: cursor }) },
      relayer: {
        async readFinalTransactionCount(block: number, address?: string) {
          of.push(address);
          return finalAt[block];
        },
        async readLatestTransactionCount(address?: string) {
          of.push(address);
          return latest;
        },
      },
    } as unknown as RelayContext;
    return { context, of };
  }

  it('is counted at the final block that was read, and at the newest one', async () => {
    expect(await readCounts(chain(7, { 40: 5 }, 40).context)).toEqual({ final: 5, latest: 7 });
  });

  it('is nothing final before a block was read', async () => {
    expect(await readCounts(chain(7, {}, null).context)).toEqual({ final: 0, latest: 7 });
  });

  it('never falls below the final count where a node lags', async () => {
    expect(await readCounts(chain(3, { 40: 5 }, 40).context)).toEqual({ final: 5, latest: 5 });
  });

  it('can be about another address', async () => {
    const { context, of } = chain(7, { 40: 5 }, 40);
    await readCounts(context, ADDRESS);
    expect(of).toEqual([ADDRESS, ADDRESS]);
  });
});

it('counts as mined what is below the newest count', () => {
  const open = batchesAt(4, 5, 6);
  expect(unminedOf(open, { final: 4, latest: 5 })).toEqual(batchesAt(5, 6));
});

it.each([
  { unmined: 1, mined: 1, isFree: true },
  { unmined: 2, mined: 0, isFree: false },
  { unmined: 1, mined: 2, isFree: false },
  { unmined: 0, mined: 3, isFree: false },
])('whether a batch may be opened beside $mined mined and $unmined others: $isFree', (row) => {
  const limits = { ...defaultRelayLimits, maximumUnmined: 2, maximumOpen: 3 };
  const open = batchesAt(...Array.from({ length: row.mined + row.unmined }, (_, index) => index));
  expect(hasFreeSlot(limits, open, { final: 0, latest: row.mined })).toBe(row.isFree);
});

describe('the next nonce', () => {
  const next = (open: readonly RelayBatch[], stored: number | null, latest: number) => {
    const relay = { findNextNonce: async (of: string) => (of === ADDRESS ? stored : Number.NaN) };
    const context = { relay, relayer: { address: ADDRESS } } as unknown as RelayContext;
    return chooseNonce(context, open, { final: 0, latest });
  };

  it.each([
    ['follows the last open batch', batchesAt(3, 4, 5), 99, 3, 6],
    ['follows what was stored last where nothing is open', [], 8, 3, 8],
    ['is that of the chain where it counts more than we sent', batchesAt(4, 5), 99, 9, 9],
    ['is that of the chain where nothing was ever sent', [], null, 3, 3],
  ])('%s', async (_what, open, stored, latest, nonce) => {
    expect(await next(open, stored, latest)).toBe(nonce);
  });
});

describe('a gap of nonces', () => {
  function world(broadcast: () => Promise<void>) {
    const opened: unknown[] = [];
    const signed: unknown[] = [];
    const incidents: RelayIncident[] = [];
    const context = {
      nowMs: () => 1_000,
      onIncident: (incident: RelayIncident) => void incidents.push(incident),
      relay: {
        async openBatch(batch: object, decide: () => unknown) {
          opened.push({ ...batch, decision: decide() });
        },
      },
      relayer: {
        address: ADDRESS,
        quoteFees: async () => ({ maxFeePerGas: 10n, maxPriorityFeePerGas: 1n }),
        async sign(...transaction: unknown[]) {
          signed.push(transaction);
          return { rawTransaction: `raw ${transaction[1]}` };
        },
        broadcast,
      },
    } as unknown as RelayContext;
    return { context, opened, signed, incidents };
  }

  it('is filled by a transfer to the key itself for each, stored before it is sent', async () => {
    const sent: number[] = [];
    const { context, opened, signed, incidents } = world(async () => void sent.push(opened.length));
    await fillGap(context, 5, 7);
    const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };
    expect(signed).toEqual([5, 6].map((nonce) => [{ kind: 'self_transfer' }, nonce, 21_000n, fees]));
    expect(opened).toEqual(
      [5, 6].map((nonce) => ({
        relayer: ADDRESS,
        nonce,
        kind: 'self_transfer',
        rescueToken: null,
        gasLimit: 21_000n,
        paymentIds: [],
        attempts: [{ rawTransaction: `raw ${nonce}`, signedAtMs: 1_000 }],
        createdAtMs: 1_000,
        decision: null,
      })),
    );
    expect(sent).toEqual([1, 2]);
    expect(incidents).toEqual([{ kind: 'filled_gap', fromNonce: 5, toNonce: 6 }]);
  });

  it('is filled though nodes refuse it for now, and not where they cannot be asked', async () => {
    const refused = world(() => Promise.reject(new TransactionRefusedError('nonce too high')));
    await fillGap(refused.context, 5, 7);
    expect(refused.opened).toHaveLength(2);
    const down = world(() => Promise.reject(new Error('no connection')));
    await expect(fillGap(down.context, 5, 7)).rejects.toThrow('no connection');
    expect(down.opened).toHaveLength(1);
  });
});
