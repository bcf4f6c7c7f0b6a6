import {
  type Discrepancy,
  type DiscrepancyKind,
  hashOfMovement,
  type Movement,
  type MovementHead,
  movementsOf,
  NO_MOVEMENTS,
  netMovements,
  placeOfMovement,
} from '../../domain/journal.ts';
import { formatUnits } from '../../domain/money.ts';
import { type Findings, finalRowsOf, type PaymentFacts, type VerifyContext } from './verify-context.ts';

const ENTRIES_AT_A_TIME = 500;

/**
 * Walks over the whole book of movements, entry by entry, and returns where it ends. What is appended meanwhile is
 * walked over as well, as far as it is there when the end is reached.
 */
export async function verifyBook(
  context: Pick<VerifyContext, 'ledger' | 'payments'>,
  report: (discrepancy: Discrepancy) => void,
): Promise<MovementHead> {
  let head = NO_MOVEMENTS;
  for (;;) {
    const entries = await context.ledger.listMovements(head.number, ENTRIES_AT_A_TIME);
    for (const entry of entries) {
      for (const discrepancy of brokenLinks(head, entry)) report(discrepancy);
      head = entry;
    }
    await reportNobodys(context, entries, report);
    if (entries.length < ENTRIES_AT_A_TIME) return { number: head.number, hash: head.hash };
  }
}

function brokenLinks(before: MovementHead, entry: Movement): Discrepancy[] {
  const found: Discrepancy[] = [];
  const compare = (kind: DiscrepancyKind, expected: string, actual: string) => {
    if (expected !== actual) found.push({ paymentId: entry.paymentId, kind, expected, found: actual });
  };
  compare('movement_number', `entry ${before.number + 1}`, `entry ${entry.number}`);
  compare(
    'movement_chain',
    `entry ${entry.number} after ${before.hash}`,
    `entry ${entry.number} after ${entry.previousHash}`,
  );
  compare(
    'movement_hash',
    `entry ${entry.number} with hash ${hashOfMovement(entry)}`,
    `entry ${entry.number} with hash ${entry.hash}`,
  );
  return found;
}

async function reportNobodys(
  { payments }: Pick<VerifyContext, 'payments'>,
  entries: readonly Movement[],
  report: (discrepancy: Discrepancy) => void,
): Promise<void> {
  const numbers = new Map(entries.map(({ paymentId, number }) => [paymentId, number]));
  await Promise.all(
    [...numbers].map(async ([paymentId, number]) => {
      // One that cannot be read is there; what is wrong with it is found when payments are looked at.
      const payment = await payments.findPaymentById(paymentId).catch(() => undefined);
      if (payment !== null) return;
      report({ paymentId, kind: 'movement_of_nobody', expected: 'a payment', found: `entry ${number}` });
    }),
  );
}

/** Compares a payment's entries in the book with its final deposits and releases, each with each. */
export function checkMovements({ view, movements }: PaymentFacts, findings: Findings): void {
  const { id: paymentId } = view.payment;
  const { deposits, releases } = finalRowsOf(view);
  const recorded = movementsOf({
    deposits: deposits.map((deposit) => ({ ...deposit, paymentId })),
    releases: releases.map((release) => ({ ...release, paymentId })),
  });
  // Rescued tokens are no deposit and no release: of them the book is the only record.
  const entered = new Map(
    netMovements(movements.filter(({ kind }) => kind !== 'rescued')).map((movement) => [
      placeOfMovement(movement),
      movement.units,
    ]),
  );
  for (const movement of recorded) {
    const place = placeOfMovement(movement);
    const units = entered.get(place);
    entered.delete(place);
    if (units === undefined) {
      findings.add('movement_missing', `${formatUnits(movement.units)} ${place}`, 'no entry');
    } else if (units !== movement.units) {
      findings.add('movement_amount', `${formatUnits(movement.units)} ${place}`, formatSigned(units));
    }
  }
  for (const [place, units] of entered) {
    findings.add('movement_unfounded', 'no entry', `${formatSigned(units)} ${place}`);
  }
}

/** Amounts of the book may be negative. */
export function formatSigned(units: bigint): string {
  return units < 0n ? `-${formatUnits(-units)}` : formatUnits(units);
}
