import type { Payment } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { PaymentFilter, PaymentStore } from '../domain/ports/payment-store.ts';
import { selectPayments } from './payments.ts';
import {
  checkedLimit,
  type EngineTraits,
  run,
  runForOne,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import { AFTER_ALL_IDS } from './store.ts';

/** How many payments a filtered list looks at before other work gets its turn. */
const WINDOW = 1_000;

/** Payments above an id; `end` is null where nothing is left below it. */
interface Window {
  readonly payments: readonly Payment[];
  readonly end: string | null;
}

/** Lists of payments in the order of their ids, on any engine. */
export function createPaymentLists(
  { read }: Scripts,
  { isByAccount }: EngineTraits,
): Pick<PaymentStore, 'listPayments' | 'listByOrigin' | 'listPaymentIds'> {
  const nextWindow = read(readWindow);
  return {
    async listPayments(filter, before, limit) {
      checkedLimit(limit);
      let window: Window = { payments: [], end: before ?? AFTER_ALL_IDS };
      const payments: Payment[] = [];
      while (window.end !== null && payments.length < limit) {
        window = await nextWindow(filter, window.end, limit - payments.length, isByAccount);
        payments.push(...window.payments);
      }
      return payments;
    },
    listByOrigin: read(
      (accountId, origin, limit) => selectPayments`
        FROM payments WHERE account_id = ${accountId} AND origin = ${origin}
        ORDER BY id DESC LIMIT ${checkedLimit(limit)}`,
    ),
    listPaymentIds: read(function* (after, below, limit) {
      const rows = yield* run`
        SELECT id FROM payments WHERE id > ${after} AND id < ${below} ORDER BY id LIMIT ${checkedLimit(limit)}`;
      return rows.map(({ id }) => id as PaymentId);
    }),
  };
}

/**
 * Without an index on the account, a filter looks at the payments one after another: it does so in windows, each in a turn
 * of its own, so that a long search holds up no other request.
 */
function* readWindow(
  { accountId, status }: PaymentFilter,
  below: string,
  limit: number,
  isByAccount: boolean,
): Script<Window> {
  const last = isByAccount
    ? null
    : yield* runForOne<{ id: string }>`
        SELECT id FROM payments WHERE id < ${below} ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW - 1}`;
  const end = last?.id ?? null;
  const ofAccount = accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`;
  const inStatus = status === undefined ? sql`` : sql`AND status = ${status}`;
  const payments = yield* selectPayments`
    FROM payments WHERE id < ${below} AND id >= ${end ?? ''} ${ofAccount} ${inStatus}
    ORDER BY id DESC LIMIT ${limit}`;
  return { payments, end };
}
