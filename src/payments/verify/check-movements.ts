import { formatUnits } from '../../domain/money.ts';
import { movementsOf, netMovements, placeOfMovement } from '../../domain/movement.ts';
import { type Findings, finalRowsOf, type PaymentFacts } from './payment-facts.ts';

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
