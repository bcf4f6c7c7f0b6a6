import { formatSigned, formatUnits } from '../../payment/money.ts';
import {
  entriesOf,
  hashOfEntry,
  type JournalEntry,
  type JournalHead,
  NO_MOVEMENTS,
  netEntries,
  placeOfEntry,
} from '../../settlement/journal.ts';
import { createFindings, type Discrepancy, type Findings, type Report } from './discrepancies.ts';
import { finalRowsOf, type PaymentFacts, type VerifyContext } from './verify-context.ts';

const ENTRIES_AT_A_TIME = 500;

/** Checks the whole journal entry by entry, including entries appended during the check. Returns its head. */
export async function verifyJournal(
  context: Pick<VerifyContext, 'observations' | 'payments' | 'onProgress'>,
  report: Report,
): Promise<JournalHead> {
  let head = NO_MOVEMENTS;
  for (;;) {
    const entries = await context.observations.listEntries(head.number, ENTRIES_AT_A_TIME);
    for (const entry of entries) {
      for (const discrepancy of brokenLinks(head, entry)) report(discrepancy);
      head = entry;
    }
    await reportOrphans(context.payments, entries, report);
    const isLast = entries.length < ENTRIES_AT_A_TIME;
    const { number, hash } = head;
    context.onProgress?.({ unit: 'journal entries', done: number, total: isLast ? number : null });
    if (isLast) return { number, hash };
  }
}

function brokenLinks(before: JournalHead, entry: JournalEntry): readonly Discrepancy[] {
  const { found, compare } = createFindings(entry.paymentId);
  compare('journal_number', `entry ${before.number + 1}`, `entry ${entry.number}`);
  const place = `entry ${entry.number}`;
  compare('journal_chain', `${place} after ${before.hash}`, `${place} after ${entry.previousHash}`);
  compare('journal_hash', `${place} with hash ${hashOfEntry(entry)}`, `${place} with hash ${entry.hash}`);
  return found;
}

async function reportOrphans(
  payments: VerifyContext['payments'],
  entries: readonly JournalEntry[],
  report: Report,
) {
  const numbers = new Map(entries.map(({ paymentId, number }) => [paymentId, number]));
  await Promise.all(
    [...numbers].map(async ([paymentId, number]) => {
      // An unreadable payment exists, and its own check reports the error.
      const payment = await payments.findPaymentById(paymentId).catch(() => undefined);
      if (payment !== null) return;
      report({ paymentId, kind: 'journal_orphan', expected: 'a payment', found: `entry ${number}` });
    }),
  );
}

export function checkJournal({ view, entries }: PaymentFacts, findings: Findings): void {
  const { id: paymentId } = view.payment;
  const { deposits, releases } = finalRowsOf(view);
  const recorded = entriesOf({
    deposits: deposits.map((deposit) => ({ ...deposit, paymentId })),
    releases: releases.map((release) => ({ ...release, paymentId })),
  });
  // Rescues are omitted, because the journal is their only record.
  const moved = netEntries(entries.filter(({ kind }) => kind !== 'rescued'));
  const entered = new Map(moved.map((entry) => [placeOfEntry(entry), entry.units]));
  for (const entry of recorded) {
    const place = placeOfEntry(entry);
    const units = entered.get(place);
    entered.delete(place);
    if (units === undefined) {
      findings.add('journal_missing', `${formatUnits(entry.units)} ${place}`, 'no entry');
    } else if (units !== entry.units) {
      findings.add('journal_amount', `${formatUnits(entry.units)} ${place}`, formatSigned(units));
    }
  }
  for (const [place, units] of entered) {
    findings.add('journal_unfounded', 'no entry', `${formatSigned(units)} ${place}`);
  }
}
