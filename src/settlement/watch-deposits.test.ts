import { expect, it } from 'vitest';
import type { Address } from '../payment/address.ts';
import type { PaymentId } from '../payment/payment.ts';
import {
  type ChainReader,
  ChainUnavailableError,
  type ChainView,
  type LatestBlock,
  type TransferLog,
} from './chain/chain.ts';
import type { BlockReference, ObservationStore, ScanRecord } from './settlement-store.ts';
import { createKeptBlocks, type WatchDepositsContext, watchDeposits } from './watch-deposits.ts';

const RANGE_BLOCKS = 5;

const OURS: Address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** Creates a store with payments at these addresses, and too many others for a node's filter. */
const paymentsAt = (own: readonly Address[]): WatchDepositsContext['payments'] => ({
  findDepositOwners: async (asked) =>
    own
      .filter((address) => asked.includes(address.toLowerCase()))
      .map((depositAddress) => ({ id: 'a payment' as PaymentId, depositAddress })),
  listDepositAddresses: async () => null,
});
const openAddresses = async () => [OURS];

function blockAt(number: number): BlockReference {
  return { number, hash: `hash of block ${number}`, timestampMs: number * 2_000 };
}

/** Creates a view in which every block and log is confirmed. */
const viewWith = (
  change: Pick<ChainView, 'readLatest' | 'readFinal' | 'readLogs'> & Partial<ChainView>,
): ChainView => ({
  source: 'node',
  readBlock: async (number) => blockAt(number),
  confirmLogs: async () => true,
  readTransactionBlock: async () => null,
  confirmBlock: async () => true,
  confirmReplacement: async () => 'confirmed',
  ...change,
});

/** Creates an observation store from which no rows vanish. */
const observationsWith = (change: Partial<ObservationStore>) =>
  ({ listVanished: async () => ({ deposits: [], releases: [] }), ...change }) as unknown as ObservationStore;

const decisions = {
  openAddresses,
  finality: { everyMs: 0, monotonicMs: () => 0 },
  expectsReleases: async () => true,
  decide: () => null,
  onRewind: () => {},
};

/** Creates a reader of an endpoint that allows five blocks per call. Every block has a deposit. */
function chainOf(
  latest: number,
  final: number | null,
  isConfirmed: (block: number) => boolean = () => true,
): ChainReader & { readonly calls: number[] } {
  const calls: number[] = [];
  const view = viewWith({
    readLatest: async () => ({ ...blockAt(latest), parentHash: blockAt(latest - 1).hash }),
    readFinal: async () => (final === null ? null : blockAt(final)),
    async readLogs({ fromBlock, toBlock }) {
      calls.push(fromBlock);
      const scannedTo = Math.min(toBlock, fromBlock + RANGE_BLOCKS - 1);
      const transfers: TransferLog[] = [];
      for (let blockNumber = fromBlock; blockNumber <= scannedTo; blockNumber++) {
        const place = { blockNumber, logIndex: 0, transactionHash: `0x${blockNumber}` };
        transfers.push({ recipient: OURS, units: 1n, ...place });
      }
      return { transfers, forwarded: [], rescued: [], scannedTo: blockAt(scannedTo) };
    },
    confirmBlock: async ({ number }) => isConfirmed(number),
    confirmReplacement: async ({ number }) => (isConfirmed(number) ? 'confirmed' : 'unconfirmed'),
  });
  return {
    calls,
    listEndpoints: () => [],
    withView: (use) => use(view),
    withOtherView: (use) => use(view),
    withEachView: async (use) => [await use(view)],
  };
}

async function watchOnce(
  chain: ChainReader,
  cursor: number,
  options: Partial<Pick<WatchDepositsContext, 'kept' | 'payments'>> = {},
) {
  const scans: ScanRecord[] = [];
  const observations = observationsWith({
    readCursor: async () => blockAt(cursor),
    recordScan: async (scan: ScanRecord) => {
      scans.push(scan);
      return { hasRowsAbove: false };
    },
  });
  const payments = paymentsAt([OURS]);
  const kept = createKeptBlocks();
  const pass = await watchDeposits({ ...decisions, chain, observations, payments, kept, ...options });
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

it('goes on to see new blocks while nothing becomes final, a bounded number in a pass and in all', async () => {
  const chain = chainOf(1_000_000, null);
  const kept = createKeptBlocks();
  const { pass, scan } = await watchOnce(chain, 10, { kept });
  expect(scan.scannedTo).toBe(1_010);
  expect(chain.calls).toHaveLength(200);
  expect(pass.isCaughtUp).toBe(false);
  const second = await watchOnce(chain, 10, { kept });
  expect(second.scan.scannedTo).toBe(2_010);
  // The second pass does not read the first thousand blocks again.
  expect(chain.calls).toHaveLength(400);
  expect(second.blocks).toHaveLength(2_000);
  let last = second;
  for (let passes = 2; passes < 20; passes++) last = await watchOnce(chain, 10, { kept });
  expect(last.scan.scannedTo).toBe(20_010);
  expect(last.pass.isCaughtUp).toBe(true);
});

it('catches up a few calls at a time as long as it is behind the final block', async () => {
  const chain = chainOf(1_000, 900);
  const { pass, scan } = await watchOnce(chain, 10);
  expect(scan).toMatchObject({ final: { number: 75 }, scannedTo: 75 });
  expect(chain.calls).toHaveLength(13);
  expect(pass.isCaughtUp).toBe(false);
});

it('takes no block below the final one for its cursor that another host does not have', async () => {
  const { pass, scan } = await watchOnce(
    chainOf(1_000, 900, (block) => block === 900),
    10,
  );
  expect(scan).toMatchObject({ from: { number: 10 }, final: { number: 10 }, scannedTo: 75 });
  expect(pass.cursor).toEqual(blockAt(10));
});

it('takes the confirmed final block for its cursor, and not the scanned hash at the same height', async () => {
  const chain = chainOf(15, 15, () => false);
  const { pass } = await watchOnce(
    {
      ...chain,
      withView: (use) =>
        chain.withView((view) =>
          use({
            ...view,
            readLogs: async (query) => ({
              ...(await view.readLogs(query)),
              scannedTo: { ...blockAt(15), hash: 'an invented hash' },
            }),
          }),
        ),
    },
    10,
  );
  expect(pass.cursor).toEqual(blockAt(15));
});

it('begins below its checkpoints where the chain has none of them and two hosts agree', async () => {
  const invented = (number: number) => ({ ...blockAt(number), hash: 'an invented hash' });
  const rewound: BlockReference[] = [];
  const observations = observationsWith({
    readCursor: async () => invented(9_000),
    listCheckpoints: async () => [invented(9_000), invented(8_000)],
    rewindTo: async (block: BlockReference) => void rewound.push(block),
    recordScan: async () => ({ hasRowsAbove: false }),
  });
  const chain = chainOf(10_000, 9_900);
  await watchDeposits({
    ...decisions,
    chain,
    observations,
    payments: paymentsAt([]),
    kept: createKeptBlocks(),
  });
  expect(rewound).toEqual([blockAt(6_000)]);
});

it('records a transfer to a payment that was created while the node was asked for logs', async () => {
  const own: Address[] = [];
  const chain = chainOf(12, 12);
  const creatingMeanwhile: ChainReader = {
    ...chain,
    withView: (use) =>
      chain.withView((view) =>
        use({
          ...view,
          async readLogs(query) {
            const logs = await view.readLogs(query);
            own.push(OURS);
            const kept = await query.ownOf?.(new Set([OURS.toLowerCase()]));
            return { ...logs, transfers: logs.transfers.filter(() => kept?.has(OURS.toLowerCase())) };
          },
        }),
      ),
  };
  const { blocks } = await watchOnce(creatingMeanwhile, 10, { payments: paymentsAt(own) });
  expect(blocks).toEqual([11, 12]);
});

/** Returns the calls of one pass, which follows two passes over all earlier blocks. */
async function callsOfPass(options: {
  readonly newBlocks: number;
  readonly hasDeposits?: boolean;
  /** Changes to the announcement of the newest block; absent for no announcement. */
  readonly announced?: Partial<LatestBlock>;
  readonly lacksAnnounced?: boolean;
}) {
  const time = { nowMs: 0 };
  let latest = 100;
  const asked: string[] = [];
  const view = viewWith({
    readLatest: async () => {
      asked.push('latest');
      return { ...blockAt(latest), parentHash: blockAt(latest - 1).hash };
    },
    readFinal: async () => {
      asked.push('final');
      return blockAt(latest - 2);
    },
    async readLogs({ fromBlock, toBlock, recipients, block, withReleases }) {
      const named = recipients === null ? 'all' : recipients.join();
      const kind = `${named}${block === undefined ? '' : ' by hash'}${withReleases === false ? '' : ' and releases'}`;
      asked.push(`logs ${fromBlock} to ${toBlock} of ${kind}`);
      if (options.lacksAnnounced === true && latest > 100) throw new ChainUnavailableError('no such block');
      const place = { blockNumber: toBlock, logIndex: 0, transactionHash: `0x${toBlock}` };
      const deposit = { recipient: OURS, units: 1n, ...place };
      return {
        transfers: options.hasDeposits === true ? [deposit] : [],
        forwarded: [],
        rescued: [],
        scannedTo: blockAt(toBlock),
      };
    },
  });
  const chain = { withView: (use: (view: ChainView) => Promise<unknown>) => use(view) } as ChainReader;
  let cursor = blockAt(90);
  const observations = observationsWith({
    readCursor: async () => cursor,
    recordScan: async ({ final }: ScanRecord) => {
      cursor = final;
      return { hasRowsAbove: false };
    },
  });
  const context: WatchDepositsContext = {
    ...decisions,
    chain,
    observations,
    payments: paymentsAt([OURS]),
    kept: createKeptBlocks(),
    finality: { everyMs: 60_000, monotonicMs: () => time.nowMs },
    expectsReleases: async () => false,
  };
  await watchDeposits(context);
  await watchDeposits(context);
  latest += options.newBlocks;
  asked.length = 0;
  const newest = { ...blockAt(latest), parentHash: blockAt(latest - 1).hash };
  const { announced } = options;
  await watchDeposits(context, announced === undefined ? null : { ...newest, ...announced }).catch(() => {});
  return asked;
}

it('asks for the newest block alone while that is the same', async () => {
  expect(await callsOfPass({ newBlocks: 0 })).toEqual(['latest']);
});

it('reads a new block once, by its hash and for the open addresses, while nothing of ours is there', async () => {
  expect(await callsOfPass({ newBlocks: 1 })).toEqual(['latest', `logs 101 to 101 of ${OURS} by hash`]);
});

it('reads blocks again once they are final, for all addresses, and the others not', async () => {
  expect(await callsOfPass({ newBlocks: 1, hasDeposits: true })).toEqual([
    'latest',
    'final',
    'logs 99 to 99 of all and releases',
    `logs 101 to 101 of ${OURS} by hash`,
  ]);
});

it('reads several new blocks with the last ones before them, which a reorganization may have replaced', async () => {
  expect(await callsOfPass({ newBlocks: 3 })).toEqual(['latest', `logs 99 to 103 of ${OURS}`]);
});

it('asks for an announced block by its hash alone, and for one that it has read not at all', async () => {
  const byHash = `logs 101 to 101 of ${OURS} by hash`;
  expect(await callsOfPass({ newBlocks: 1, announced: {} })).toEqual([byHash]);
  expect(await callsOfPass({ newBlocks: 0, announced: {} })).toEqual([]);
});

it('asks the endpoint for its newest block where an announcement is wrong, or about a later block', async () => {
  const byHash = `logs 101 to 101 of ${OURS} by hash`;
  const polled = ['latest', byHash];
  expect(await callsOfPass({ newBlocks: 1, announced: { parentHash: 'another' } })).toEqual(polled);
  expect(await callsOfPass({ newBlocks: 1, announced: { number: 102 } })).toEqual(polled);
  expect(await callsOfPass({ newBlocks: 3, announced: {} })).toEqual(['latest', `logs 99 to 103 of ${OURS}`]);
  expect(await callsOfPass({ newBlocks: 1, announced: {}, lacksAnnounced: true })).toEqual([
    byHash,
    ...polled,
  ]);
});
