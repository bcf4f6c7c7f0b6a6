import { formatSigned, formatUnits } from '../../payment/money.ts';
import type { ChainPosition } from '../../payment/payment.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import { sumObservations } from '../../payment/settle.ts';
import type { ChainView, VerifiedChain } from '../../settlement/chain/chain.ts';
import { type JournalFacts, netEntries } from '../../settlement/journal.ts';
import type { Findings } from './discrepancies.ts';
import { finalRowsOf, type PaymentFacts } from './verify-context.ts';

type ChainSubject = Omit<PaymentFacts, 'webhooks' | 'checkRecords'> & { readonly findings: Findings };

/** Largest gap between blocks that are still read as one range. */
const LARGEST_GAP_BLOCKS = 100;

/**
 * Compares final records with the chain: each deposit, release and rescue must be in its place, and the deposit address
 * must hold the difference. Throws `ChainUnavailableError`, even if the endpoint has discarded the state of the last
 * scanned block.
 */
export async function checkChain(chain: VerifiedChain, subjects: readonly ChainSubject[]): Promise<void> {
  const byFinalBlock = Map.groupBy(subjects, ({ view }) => view.observations.finalBlock);
  for (const [finalBlock, group] of byFinalBlock) {
    // No records exist before the first scan.
    if (finalBlock < 0) continue;
    await checkBalances(chain, finalBlock, group);
    await checkLogs(chain, group);
  }
}

async function checkBalances(chain: VerifiedChain, finalBlock: number, group: readonly ChainSubject[]) {
  const addresses = group.map(({ view }) => view.payment.depositAddress);
  const balances = await chain.sweepBalances(addresses, finalBlock);
  for (const [index, { view, findings }] of group.entries()) {
    const { seenUnits, releasedUnits } = sumObservations({ ...finalRowsOf(view), finalBlock });
    const expected = seenUnits - releasedUnits;
    const found = balances[index] as bigint;
    if (expected !== found) findings.add('held', formatSigned(expected), formatUnits(found));
  }
}

type Amounts = Map<string, bigint>;

async function checkLogs({ reader }: VerifiedChain, group: readonly ChainSubject[]): Promise<void> {
  const ranges = rangesOf(group.flatMap(blocksOf));
  if (ranges.length === 0) return;
  const addresses = group.map(({ view }) => view.payment.depositAddress);
  const onChain = await reader.withView(async (view) => {
    const amounts = new Map<string, Amounts>(addresses.map((address) => [address, new Map()]));
    for (const range of ranges) await readRange(view, range, addresses, amounts);
    return amounts;
  });
  for (const subject of group) {
    const { view, findings } = subject;
    compareAmounts(recordedAmounts(subject), onChain.get(view.payment.depositAddress) as Amounts, findings);
  }
}

/** Returns the net rescues, whose only record is the journal. */
function rescuesOf({ entries }: ChainSubject): JournalFacts[] {
  return netEntries(entries.filter(({ kind }) => kind === 'rescued'));
}

function blocksOf(subject: ChainSubject): number[] {
  const { deposits, releases } = finalRowsOf(subject.view);
  return [...deposits, ...releases, ...rescuesOf(subject)].map(({ blockNumber }) => blockNumber);
}

interface Range {
  readonly from: number;
  to: number;
}

function rangesOf(blocks: readonly number[]): readonly Range[] {
  const ranges: Range[] = [];
  for (const block of blocks.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last !== undefined && block - last.to <= LARGEST_GAP_BLOCKS) last.to = block;
    else ranges.push({ from: block, to: block });
  }
  return ranges;
}

async function readRange(
  view: ChainView,
  { from, to }: Range,
  addresses: readonly PaymentView['payment']['depositAddress'][],
  amounts: ReadonlyMap<string, Amounts>,
): Promise<void> {
  for (let fromBlock = from; fromBlock <= to; ) {
    const logs = await view.readLogs({ fromBlock, toBlock: to, recipients: addresses });
    for (const { recipient, units, ...log } of logs.transfers) {
      amounts.get(recipient)?.set(placeOf('deposit', log), units);
    }
    for (const { deposit, toMerchantUnits, feeUnits, ...log } of logs.forwarded) {
      amounts.get(deposit)?.set(placeOf('release to the merchant', log), toMerchantUnits);
      amounts.get(deposit)?.set(placeOf('fee', log), feeUnits);
    }
    for (const { deposit, token, units, ...log } of logs.rescued ?? []) {
      if (units > 0n) amounts.get(deposit)?.set(placeOf(`rescue of ${token}`, log), units);
    }
    fromBlock = logs.scannedTo.number + 1;
  }
}

function recordedAmounts(subject: ChainSubject): Amounts {
  const { deposits, releases } = finalRowsOf(subject.view);
  const amounts: Amounts = new Map();
  for (const deposit of deposits) amounts.set(placeOf('deposit', deposit), deposit.units);
  for (const release of releases) {
    amounts.set(placeOf('release to the merchant', release), release.toMerchantUnits);
    amounts.set(placeOf('fee', release), release.feeUnits);
  }
  for (const { token, units, ...log } of rescuesOf(subject)) {
    amounts.set(placeOf(`rescue of ${token}`, log), units);
  }
  return amounts;
}

function placeOf(what: string, log: ChainPosition): string {
  return `${what} in ${log.transactionHash}:${log.logIndex} of block ${log.blockNumber}`;
}

function compareAmounts(recorded: Amounts, onChain: Amounts, findings: Findings): void {
  for (const [place, units] of recorded) {
    const found = onChain.get(place);
    if (found === undefined) {
      findings.add('not_on_chain', `${formatUnits(units)} ${place}`, 'nothing');
    } else if (found !== units) {
      findings.add('chain_amount', `${formatUnits(found)} ${place}`, formatUnits(units));
    }
  }
  for (const [place, units] of onChain) {
    if (!recorded.has(place)) findings.add('not_recorded', `${formatUnits(units)} ${place}`, 'nothing');
  }
}
