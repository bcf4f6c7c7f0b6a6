import type { PaymentStore } from '../../payment/payment-store.ts';
import {
  type ChainReader,
  ChainUnavailableError,
  type ChainView,
  type TransferLog,
} from '../../settlement/chain/chain.ts';
import type { BlockReference, ObservationStore } from '../../settlement/settlement-store.ts';
import {
  bookTransfer,
  type Refund,
  type RefundStore,
  refundOfTransfer,
  refuseTransaction,
  type TransactionProblem,
} from './refund.ts';
import { finalReceivedUnitsOf } from './refunds.ts';

export interface WatchRefundsContext {
  readonly refunds: RefundStore;
  readonly observations: Pick<ObservationStore, 'readCursor'>;
  readonly payments: Pick<PaymentStore, 'viewPayment'>;
  readonly chain: ChainReader;
  readonly nowMs: () => number;
}

interface Pass extends WatchRefundsContext {
  readonly view: ChainView;
  readonly cursor: BlockReference;
}

/** Maximum refunds per pass, because nodes accept only a few hundred addresses in a log filter. */
const REFUNDS_A_PASS = 500;
/** Time for which expired refunds are still watched, so that a last-minute transfer is found even after downtime. */
const GRACE_MS = 24 * 3_600_000;
/** Number of blocks that each pass reads again, about a minute of blocks, because a node may omit logs. */
const BLOCKS_READ_AGAIN = 32;

export const refundTask = (context: WatchRefundsContext, intervalMs: number) => ({
  name: 'refunds',
  intervalMs,
  run: () => watchRefunds(context),
});

/** Books final transfers of open refunds. If there are endpoints on several hosts, a second host must confirm them. */
export async function watchRefunds(context: WatchRefundsContext): Promise<undefined> {
  const { refunds, observations, chain, nowMs } = context;
  const watched = await refunds.listWatchedRefunds(nowMs() - GRACE_MS, REFUNDS_A_PASS);
  const cursor = watched.length === 0 ? null : await observations.readCursor();
  if (cursor === null) return;
  // Reads from hosts other than the deposit watcher's, in rotation.
  await chain.withOtherView(async (view) => {
    const pass = { ...context, view, cursor };
    for (const refund of watched) await checkSubmitted(pass, refund);
    await scanForTransfers(pass, watched);
  });
}

async function scanForTransfers(pass: Pass, watched: readonly Refund[]): Promise<void> {
  const { cursor, refunds } = pass;
  let fromBlock = Math.min(...watched.map(({ scannedBlock }) => scannedBlock)) + 1;
  while (fromBlock <= cursor.number) {
    const { transfers, scannedTo } = await readTransfers(pass, fromBlock, cursor.number, watched);
    const open = new Set(watched);
    const found = new Map<Refund, TransferLog>();
    for (const transfer of transfers) {
      const refund = refundOfTransfer(transfer, [...open]);
      if (refund === undefined || !open.delete(refund)) continue;
      found.set(refund, transfer);
    }
    // Stops without a confirmation. The next pass starts at the same block.
    if (!(await areConfirmed(pass, [...found.values()]))) return;
    for (const [refund, transfer] of found) await book(pass, refund, [transfer]);
    const scannedBlock = Math.min(scannedTo.number, cursor.number - BLOCKS_READ_AGAIN);
    const behind = watched.filter((refund) => refund.scannedBlock < scannedBlock);
    if (behind.length > 0) {
      const ids = behind.map(({ id }) => id);
      await refunds.recordRefundScan(ids, scannedBlock, cursor);
    }
    fromBlock = scannedTo.number + 1;
  }
}

/** Books a submitted transaction once it is final. Rejects it only if a second look finds the same problem. */
async function checkSubmitted(pass: Pass, refund: Refund): Promise<void> {
  const { chain, cursor, refunds, nowMs } = pass;
  const { submittedHash } = refund;
  const found = submittedHash === null ? null : await examine(pass, refund, submittedHash);
  if (found === null || submittedHash === null) return;
  if (typeof found !== 'string') {
    if (await areConfirmed(pass, found)) await book(pass, refund, found);
    return;
  }
  // Looks with `withView`, which prefers another host than `withOtherView`, where the problem was found.
  const confirmed = await chain.withView((view) => examine({ ...pass, view }, refund, submittedHash));
  if (confirmed !== found) return;
  await refunds.changeRefund(
    refund,
    (stored) => (stored.refund.submittedHash === submittedHash ? refuseTransaction(stored, found) : null),
    nowMs(),
    cursor,
  );
}

/** Returns a transaction's unused transfers, or the problem, as one host sees it; null while unknown or not final. */
async function examine(
  pass: Pass,
  refund: Refund,
  submittedHash: string,
): Promise<readonly TransferLog[] | TransactionProblem | null> {
  const block = await pass.view.readTransactionBlock(submittedHash);
  if (block === null || block > pass.cursor.number) return null;
  const { transfers } = await readTransfers(pass, block, block, [refund]);
  const ofTransaction = transfers.filter(({ transactionHash }) => transactionHash === submittedHash);
  return freeTransfers(pass, refund, ofTransaction);
}

/** Returns the transfers that have not paid a refund yet, or the reason why none can be used. */
async function freeTransfers(
  { payments, refunds }: Pass,
  refund: Refund,
  transfers: readonly TransferLog[],
): Promise<readonly TransferLog[] | TransactionProblem> {
  const [first] = transfers;
  if (first === undefined) return 'no_transfer';
  const view = await payments.viewPayment(refund.paymentId);
  const deposit = view?.observations.deposits[0];
  if (deposit === undefined || first.blockNumber < deposit.blockNumber) return 'too_early';
  const free: TransferLog[] = [];
  for (const transfer of transfers) {
    if (!(await refunds.isTransferCounted(transfer.transactionHash, transfer.logIndex))) free.push(transfer);
  }
  return free.length > 0 ? free : 'already_counted';
}

async function book(
  { payments, refunds, nowMs, cursor }: Pass,
  refund: Refund,
  transfers: readonly TransferLog[],
): Promise<void> {
  const view = await payments.viewPayment(refund.paymentId);
  const finalReceivedUnits = view === null ? 0n : finalReceivedUnitsOf(view);
  const now = nowMs();
  await refunds.changeRefund(
    refund,
    (stored) => bookTransfer(stored, transfers, finalReceivedUnits, now),
    now,
    cursor,
  );
}

function areConfirmed({ view, cursor }: Pass, transfers: readonly TransferLog[]): Promise<boolean> {
  return view.confirmLogs({ transfers, forwarded: [], rescued: [] }, cursor);
}

/** Reads transfers to the refunds' addresses in scanned final blocks. */
async function readTransfers(
  { view, cursor }: Pass,
  fromBlock: number,
  toBlock: number,
  refunds: readonly Refund[],
) {
  const recipients = [...new Set(refunds.flatMap(({ destination }) => destination ?? []))];
  const query = { fromBlock, toBlock, recipients, withReleases: false };
  const logs = await view.readLogs(query);
  // Reads the cursor's block last, to prove that the transfers are on the scanned chain.
  const block = await view.readBlock(cursor.number);
  if (block?.hash === cursor.hash) return logs;
  throw new ChainUnavailableError(`${view.source} is not on the chain that was scanned`);
}
