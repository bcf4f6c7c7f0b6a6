import { createDepositAddressCalculator, termsOf } from '../../payment/address.ts';
import { UnknownStateError } from '../../payment/errors.ts';
import { formatUnits } from '../../payment/money.ts';
import type { ChainObservations, ChainPosition, Deposit, PaymentId, Release } from '../../payment/payment.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import { sumObservations } from '../../payment/settle.ts';
import { ChainUnavailableError } from '../../settlement/chain/chain.ts';
import type { JournalEntry } from '../../settlement/journal.ts';
import type { BlockReference, SettlementRecord } from '../../settlement/settlement-store.ts';
import { checkChain } from './check-chain.ts';
import { checkPayment } from './check-payment.ts';
import { createFindings, type Discrepancy, type Findings, type Report } from './discrepancies.ts';
import { type CheckContext, finalRowsOf, type PaymentFacts, type VerifyContext } from './verify-context.ts';
import { verifyJournal } from './verify-journal.ts';

/** Result of `verify`. Amounts are final, in 10⁻⁶ USDC. */
export type VerifyReport = Awaited<ReturnType<typeof verifyPayments>>;

/** Maximum payments per chunk, so that a chunk takes a few milliseconds and does not delay the API. */
const PAYMENTS_AT_A_TIME = 100;
const HISTORIES_AT_A_TIME = 500;
/** Maximum number of discrepancies to list. Larger numbers usually have a common cause. */
const MAXIMUM_LISTED = 1_000;
const MAXIMUM_OPEN_BATCHES = 1_000;
/** Maximum checks of a payment. The payment may change during a check, so only a lasting discrepancy counts. */
const MAXIMUM_CHECKS = 4;

/**
 * Checks the journal, and compares every payment that exists at the start with the journal, its recorded rows, its
 * webhooks and the chain. Writes nothing. Needs memory for one chunk of payments. Throws `ChainUnavailableError`.
 */
export async function verifyPayments(context: VerifyContext) {
  const discrepancies: Discrepancy[] = [];
  let discrepancyCount = 0;
  const report: Report = (discrepancy) => {
    discrepancyCount++;
    if (discrepancies.length < MAXIMUM_LISTED) discrepancies.push(discrepancy);
  };
  const cursor = await context.observations.readCursor();
  if (cursor !== null) await verifyFinalBlock(context, cursor, report);
  const journal = await verifyJournal(context, report);
  await verifyHistories(context, report);
  const depositAddressOf = addressesBy(await context.settlements.listSettlements());
  const scannedToMs = cursor?.timestampMs ?? 0;
  const newest = await context.payments.findNewest();
  const total = newest === null ? 0 : await countPayments(context, newest.id);

  let payments = 0;
  let totals = { depositedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n, heldUnits: 0n };
  let after = '';
  while (newest !== null && after < newest.id) {
    // A tilde sorts after all characters of an id.
    const ids = await context.payments.listPaymentIds(after, `${newest.id}~`, PAYMENTS_AT_A_TIME);
    if (ids.length === 0) break;
    after = ids.at(-1) as string;
    payments += ids.length;
    const checked = await checkAll(context, ids, { depositAddressOf, scannedToMs });
    context.onProgress?.({ unit: 'payments', done: payments, total });
    for (const { facts, findings } of checked) {
      for (const discrepancy of findings.found) report(discrepancy);
      if (facts !== null) totals = addTo(totals, facts);
    }
  }
  return {
    payments,
    /** Head of the journal. A copy kept elsewhere can prove later that no earlier entry was replaced. */
    journal,
    /** Newest scanned final block; null before the first scan. */
    finalBlock: cursor?.number ?? null,
    finalBlockAgeMs: cursor === null ? null : Math.max(0, context.nowMs() - cursor.timestampMs),
    isChainChecked: context.chain !== null,
    totals,
    /** Number of all discrepancies; `discrepancies` has only the first ones. */
    discrepancyCount,
    discrepancies: discrepancies as readonly Discrepancy[],
  };
}

/** Counts page by page, because counting all rows at once would delay the API. */
async function countPayments({ payments, onProgress }: VerifyContext, newest: PaymentId): Promise<number> {
  let [done, after] = [0, ''];
  while (after < newest) {
    const ids = await payments.listPaymentIds(after, `${newest}~`, HISTORIES_AT_A_TIME);
    done += ids.length;
    after = ids.at(-1) ?? newest;
    onProgress?.({ unit: 'payments counted', done, total: after < newest ? null : done });
  }
  return done;
}

type RunConstants = Omit<CheckContext, 'nowMs' | 'openBatches'>;

/** Payment as last read; `facts` is null if the payment is unreadable. */
interface CheckedPayment {
  readonly id: PaymentId;
  readonly facts: PaymentFacts | null;
  readonly findings: Findings;
}

/** Checks payments, repeatedly if there are findings, because the service may change a payment between two reads. */
async function checkAll(context: VerifyContext, ids: readonly PaymentId[], constants: RunConstants) {
  const latest = new Map<PaymentId, CheckedPayment>();
  let open = ids;
  for (let round = 1; open.length > 0 && round <= MAXIMUM_CHECKS; round++) {
    if (round > 1) await context.pause();
    const checked = await checkOnce(context, open, constants);
    for (const one of checked) latest.set(one.id, one);
    open = checked.filter(({ findings }) => findings.found.length > 0).map(({ id }) => id);
  }
  return [...latest.values()];
}

async function checkOnce(context: VerifyContext, ids: readonly PaymentId[], constants: RunConstants) {
  const read = await Promise.all(ids.map((id) => readFacts(context, id)));
  const openBatches = await context.relay.listOpenBatches(MAXIMUM_OPEN_BATCHES);
  const checkContext: CheckContext = { ...constants, nowMs: context.nowMs(), openBatches };
  const checked = read.map(({ id, facts, findings }): CheckedPayment => {
    if (facts === null) return { id, facts, findings };
    try {
      return { id, facts, findings: checkPayment(facts, checkContext, findings) };
    } catch (error) {
      return { id, facts, findings: unreadable(id, error) };
    }
  });
  const subjects = checked.flatMap(({ facts, findings }) => (facts === null ? [] : [{ ...facts, findings }]));
  if (context.chain !== null) await checkChain(context.chain, subjects);
  for (const { checkRecords, findings } of subjects) await checkRecords(context.chain, findings.addAny);
  return checked;
}

async function readFacts(context: VerifyContext, id: PaymentId): Promise<CheckedPayment> {
  try {
    const [viewed, entries, webhooks] = await Promise.all([
      context.payments.viewPayment(id),
      readEntries(context, id),
      context.webhooks.listWebhooks(id),
    ]);
    if (viewed === null) throw new UnknownStateError(`payment ${id} was listed and is not there`);
    const findings = createFindings(id);
    const view = await unfold(context, viewed, findings);
    const checkRecords = await context.featureRecords.readCheck(view);
    return { id, facts: { view, entries, webhooks, checkRecords }, findings };
  } catch (error) {
    return { id, facts: null, findings: unreadable(id, error) };
  }
}

/** Reads all entries of a payment by page, because strangers determine how many there are. */
async function readEntries({ observations }: VerifyContext, id: PaymentId): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = await observations.listEntriesOf(id, entries.at(-1)?.number ?? 0);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

/** Returns the view with the rows of dust in place of their sums. Reports sums that differ from their rows. */
async function unfold({ observations: store }: VerifyContext, view: PaymentView, findings: Findings) {
  const { deposits, releases, finalBlock } = view.observations;
  const isSum = ({ logIndex }: ChainPosition) => logIndex < 0;
  if (!deposits.some(isSum) && !releases.some(isSum)) return view;
  const folded: { deposits: Deposit[]; releases: Release[] } = { deposits: [], releases: [] };
  for (;;) {
    const page = await store.listFolded(view.payment.id, folded);
    if (page.deposits.length + page.releases.length === 0) break;
    folded.deposits.push(...page.deposits);
    folded.releases.push(...page.releases);
  }
  const sumsOf = (rows: Pick<ChainObservations, 'deposits' | 'releases'>) => {
    const { seenUnits, releasedUnits } = sumObservations({ ...rows, finalBlock });
    return `${formatUnits(seenUnits)} of dust deposited, ${formatUnits(releasedUnits)} released`;
  };
  const sums = { deposits: deposits.filter(isSum), releases: releases.filter(isSum) };
  findings.compare('amounts', sumsOf(folded), sumsOf(sums));
  const others = <Row extends ChainPosition>(rows: readonly Row[]) => rows.filter((row) => !isSum(row));
  const observations = {
    finalBlock,
    deposits: [...others(deposits), ...folded.deposits].sort(inChainOrder),
    releases: [...others(releases), ...folded.releases].sort(inChainOrder),
  };
  return { ...view, observations };
}

function inChainOrder(one: ChainPosition, other: ChainPosition): number {
  return one.blockNumber - other.blockNumber || one.logIndex - other.logIndex;
}

/** Returns a finding for an error caused by stored contents. Rethrows others, such as a failing database. */
function unreadable(id: PaymentId, error: unknown): Findings {
  const isContents =
    error instanceof UnknownStateError || error instanceof SyntaxError || error instanceof RangeError;
  if (!isContents) throw error;
  const findings = createFindings(id);
  findings.add('unreadable', 'contents that can be', error.message);
  return findings;
}

/** Checks that every payment with a history exists and that each payment once paid is still paid. */
async function verifyHistories({ search, onProgress }: VerifyContext, report: Report): Promise<void> {
  let [after, done] = ['', 0];
  for (;;) {
    const histories = await search.listHistories(after, HISTORIES_AT_A_TIME);
    for (const { id: paymentId, status, wasPaid } of histories) {
      if (status === null) {
        report({ paymentId, kind: 'payment_missing', expected: 'a payment', found: 'its history alone' });
      } else if (wasPaid && status !== 'paid') {
        report({ paymentId, kind: 'state', expected: 'paid, as it was before', found: status });
      }
    }
    const last = histories.at(-1);
    done += histories.length;
    onProgress?.({ unit: 'histories', done, total: histories.length < HISTORIES_AT_A_TIME ? done : null });
    if (last === undefined || histories.length < HISTORIES_AT_A_TIME) return;
    after = last.id;
  }
}

async function verifyFinalBlock({ chain }: VerifyContext, cursor: BlockReference, report: Report) {
  if (chain === null) return;
  const { block, source } = await chain.reader.withView(async (view) => {
    return { block: await view.readBlock(cursor.number), source: view.source };
  });
  if (block === null) throw new ChainUnavailableError(`${source} does not know block ${cursor.number}`);
  if (block.hash === cursor.hash) return;
  const expected = `block ${cursor.number} with hash ${cursor.hash}, as scanned`;
  report({ paymentId: null, kind: 'final_block', expected, found: `${block.hash} at ${source}` });
}

function addressesBy(settlements: readonly SettlementRecord[]): CheckContext['depositAddressOf'] {
  const calculators = new Map(
    settlements.map((settlement) => [settlement.factory, createDepositAddressCalculator(settlement)]),
  );
  return (payment) => calculators.get(payment.factory)?.(termsOf(payment)) ?? null;
}

function addTo(totals: VerifyReport['totals'], { view }: PaymentFacts) {
  const { deposits, releases } = finalRowsOf(view);
  let { depositedUnits, forwardedUnits, feeUnits } = totals;
  for (const { units } of deposits) depositedUnits += units;
  for (const release of releases) {
    forwardedUnits += release.toMerchantUnits;
    feeUnits += release.feeUnits;
  }
  const heldUnits = depositedUnits - forwardedUnits - feeUnits;
  return { depositedUnits, forwardedUnits, feeUnits, heldUnits };
}
