import type { Discrepancy, DiscrepancyKind } from '../../domain/discrepancy.ts';
import { hashOfMovement, type Movement, type MovementHead, NO_MOVEMENTS } from '../../domain/movement.ts';
import type { VerifyContext } from './verify-context.ts';

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
