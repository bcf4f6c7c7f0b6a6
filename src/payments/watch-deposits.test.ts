import { expect, it } from 'vitest';
import type { ChainReader, ChainView, TransferLog } from '../domain/ports/chain.ts';
import type { BlockReference, ObservationStore, ScanRecord } from '../domain/ports/settlement-store.ts';
import type { KnownAddresses } from './known-addresses.ts';
import { watchDeposits } from './watch-deposits.ts';

const RANGE_BLOCKS = 5;

function blockAt(number: number): BlockReference {
  return { number, hash: `hash of block ${number}`, timestampMs: number * 2_000 };
}

/** An endpoint that grants five blocks a call; its final block is given, and every block has a deposit. */
function chainOf(latest: number, final: number | null): ChainReader & { readonly calls: number[] } {
  const calls: number[] = [];
  const view: ChainView = {
    readHeads: async () => ({ latest: blockAt(latest), final: final === null ? null : blockAt(final) }),
    readBlock: async (number) => blockAt(number),
    async readLogs({ fromBlock, toBlock }) {
      calls.push(fromBlock);
      const scannedTo = Math.min(toBlock, fromBlock + RANGE_BLOCKS - 1);
      const transfers: TransferLog[] = [];
      for (let blockNumber = fromBlock; blockNumber <= scannedTo; blockNumber++) {
        const place = { blockNumber, logIndex: 0, transactionHash: `0x${blockNumber}` };
        transfers.push({ recipient: '0xours' as TransferLog['recipient'], units: 1n, ...place });
      }
      return { transfers, forwarded: [], scannedTo: blockAt(scannedTo) };
    },
    confirmLogs: async () => true,
    confirmBlock: async () => true,
  };
  return {
    calls,
    withView: (use) => use(view),
    withOtherView: (use) => use(view),
    withEachView: async (use) => [await use(view)],
  };
}

async function watchOnce(chain: ChainReader, cursor: number) {
  const scans: ScanRecord[] = [];
  const observations = {
    readCursor: async () => blockAt(cursor),
    recordScan: async (scan: ScanRecord) => void scans.push(scan),
  } as unknown as ObservationStore;
  const known = {
    book: { addresses: null, isCandidate: () => true },
    catchUp: async () => {},
    findPayment: async () => ({ id: 'a payment' }),
  } as unknown as KnownAddresses;
  const pass = await watchDeposits({ chain, observations, known, decide: () => null, onRewind: () => {} });
  const [scan] = scans as [ScanRecord];
  return { pass, scan, blocks: scan.deposits.map(({ blockNumber }) => blockNumber) };
}

it('sees the newest block although a call covers less than lies above the final one', async () => {
  const { pass, scan, blocks } = await watchOnce(chainOf(32, 12), 10);
  expect(scan).toMatchObject({ from: { number: 10 }, final: { number: 12 }, scannedTo: 32 });
  expect(blocks).toEqual(Array.from({ length: 22 }, (_, index) => 11 + index));
  expect(pass).toMatchObject({ cursor: { number: 12 }, isCaughtUp: true });
});

it('does not read the same blocks over and over while nothing becomes final', async () => {
  const { pass, scan } = await watchOnce(chainOf(32, null), 10);
  expect(scan).toMatchObject({ final: { number: 10 }, scannedTo: 32 });
  expect(pass.isCaughtUp).toBe(true);
});

it('reads a bounded number of blocks while nothing becomes final', async () => {
  const chain = chainOf(1_000_000, null);
  const { pass, scan } = await watchOnce(chain, 10);
  expect(scan.scannedTo).toBe(1_010);
  expect(chain.calls).toHaveLength(200);
  expect(pass.isCaughtUp).toBe(true);
});

it('catches up one call at a time as long as it is behind the final block', async () => {
  const chain = chainOf(1_000, 900);
  const { pass, scan } = await watchOnce(chain, 10);
  expect(scan).toMatchObject({ final: { number: 15 }, scannedTo: 15 });
  expect(chain.calls).toEqual([11]);
  expect(pass.isCaughtUp).toBe(false);
});
