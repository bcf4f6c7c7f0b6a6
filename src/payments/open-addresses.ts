import type { Address } from '../domain/payout-address.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { ObservationStore } from '../domain/ports/settlement-store.ts';
import type { KnownAddresses } from './known-addresses.ts';

/** Deposit addresses of the payments that wait for money; money at any other one is found when its block is final. */
export interface OpenAddresses {
  /** Null while there are more of them than are worth a filter. Includes every payment that was committed before. */
  list(): Promise<readonly Address[] | null>;
}

/**
 * More are not filtered for at the node: an address takes 69 bytes in each request, and a log of the whole token about
 * 109 compressed, of which a busy block has some 75.
 */
const MAXIMUM_FILTERED = 128;

/** Payments since the oldest open one that are looked at; where there are more, too many are taken to be open. */
const MAXIMUM_LOOKED_AT = 2_000;
const LOOKED_AT_A_TIME = 200;

/** Payments leave the list with this delay; they join it at once. */
const REFRESH_MS = 30_000;

/** Ids are ordered by time and rows by commit: a payment may have a lower row than one with a lower id. */
const ROWS_OF_DOUBT = 100;

/** Sorts after every id. */
const AFTER_ALL_IDS = '~';

interface OpenAddressesContext {
  readonly payments: PaymentStore;
  readonly observations: Pick<ObservationStore, 'readExpiryWatermark'>;
  readonly known: KnownAddresses;
  readonly monotonicMs: () => number;
}

/** Begins where the expiry step has come to: what is older waits for no money. */
export function createOpenAddresses(context: OpenAddressesContext): OpenAddresses {
  const { payments, known, monotonicMs } = context;
  /** Null: too many. */
  let open: Set<Address> | null = null;
  let lastRow = 0;
  let refreshAtMs = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    await known.catchUp();
    const startRow = await findFirstRow(context);
    lastRow = known.book.lastRow;
    open = null;
    if (startRow === null) open = new Set();
    else if (lastRow - startRow < MAXIMUM_LOOKED_AT) open = await listUnpaid(startRow - 1);
  }

  async function listUnpaid(afterRow: number): Promise<Set<Address>> {
    const unpaid = new Set<Address>();
    for (let after = afterRow; after < lastRow; after += LOOKED_AT_A_TIME) {
      const rows = Array.from(
        { length: Math.min(LOOKED_AT_A_TIME, lastRow - after) },
        (_, i) => after + 1 + i,
      );
      for (const { status, depositAddress } of await payments.findPaymentsByRow(rows)) {
        if (status === 'unpaid') unpaid.add(depositAddress);
      }
    }
    return unpaid;
  }

  async function addNew(): Promise<void> {
    const listed = await payments.listDepositAddresses(lastRow, MAXIMUM_LOOKED_AT / 2);
    if (listed.length === MAXIMUM_LOOKED_AT / 2) open = null;
    for (const { row, depositAddress } of listed) {
      lastRow = row;
      open?.add(depositAddress);
    }
    if ((open?.size ?? 0) > MAXIMUM_LOOKED_AT) open = null;
  }

  return {
    async list() {
      const nowMs = monotonicMs();
      if (nowMs >= refreshAtMs) {
        await refresh();
        refreshAtMs = nowMs + REFRESH_MS;
      } else if (open !== null) await addNew();
      return open === null || open.size > MAXIMUM_FILTERED ? null : [...open];
    },
  };
}

/** The row at which the open payments begin; null where there are none. */
async function findFirstRow({ payments, observations, known }: OpenAddressesContext): Promise<number | null> {
  const watermark = await observations.readExpiryWatermark();
  const [id] = await payments.listPaymentIds(watermark, AFTER_ALL_IDS, 1);
  const payment = id === undefined ? null : await payments.findPaymentById(id);
  if (payment === null) return null;
  const rows = known.book.candidatesOf(payment.depositAddress);
  // One that was committed after the address book was read is the newest of all.
  const row = rows.length === 0 ? known.book.lastRow + 1 : Math.min(...rows);
  return Math.max(1, row - ROWS_OF_DOUBT);
}
