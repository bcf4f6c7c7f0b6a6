import type { Deposit, Release } from '../domain/payment.ts';
import type { RelayAttempt } from '../domain/ports/relay-store.ts';

/** What the chain names, as both engines read it: amounts are decimal text. */
type TextAmounts<Row, Names extends keyof Row> = Omit<Row, Names> & { readonly [Name in Names]: string };

export type DepositRow = TextAmounts<Deposit, 'units'>;
export type ReleaseRow = TextAmounts<Release, 'toMerchantUnits' | 'feeUnits'>;
export type AttemptRow = TextAmounts<RelayAttempt, 'maxFeePerGas' | 'maxPriorityFeePerGas'>;

export function depositOfRow(row: DepositRow): Deposit {
  return { ...row, units: BigInt(row.units) };
}

export function releaseOfRow(row: ReleaseRow): Release {
  return { ...row, toMerchantUnits: BigInt(row.toMerchantUnits), feeUnits: BigInt(row.feeUnits) };
}

export function attemptOfRow(row: AttemptRow): RelayAttempt {
  return {
    ...row,
    maxFeePerGas: BigInt(row.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(row.maxPriorityFeePerGas),
  };
}
