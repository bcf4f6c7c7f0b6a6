import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address } from '../payment/address.ts';
import { type DepositOwner, MAXIMUM_OWNERS_ASKED, type PaymentStore } from '../payment/payment-store.ts';
import type { ObservationStore } from './settlement-store.ts';

/**
 * Finds the payments of addresses, keyed by the address in lower case. Looks them up in portions with a turn of the
 * event loop in between, so that a page of foreign addresses delays no request.
 *
 * Call it only after the logs were read, so that no deposit of ours counts as foreign: a customer learns an address
 * after its payment was committed, and the transfer, its block and the node's answer come later still.
 */
export async function findOwners(
  payments: Pick<PaymentStore, 'findDepositOwners'>,
  addresses: Iterable<string>,
): Promise<ReadonlyMap<string, DepositOwner>> {
  const asked = [...addresses];
  const owners = new Map<string, DepositOwner>();
  for (let from = 0; from < asked.length; from += MAXIMUM_OWNERS_ASKED) {
    if (from > 0) await nextTurn();
    const portion = asked.slice(from, from + MAXIMUM_OWNERS_ASKED);
    for (const owner of await payments.findDepositOwners(portion)) {
      owners.set(owner.depositAddress.toLowerCase(), owner);
    }
  }
  return owners;
}

/** Approximate number of addresses that nodes accept in one filter. */
const MAXIMUM_LISTED = 1_000;

type AddressLists = Readonly<{
  payments: Pick<PaymentStore, 'listDepositAddresses'>;
  observations: Pick<ObservationStore, 'readExpiryWatermark'>;
}>;

/**
 * Deposit addresses of all payments, for a node's filter; null where there are more than it accepts. Read them after
 * the head up to which logs are requested: a payer in a block up to it knew a committed address.
 */
export function listAllAddresses({
  payments,
}: Pick<AddressLists, 'payments'>): Promise<readonly Address[] | null> {
  return payments.listDepositAddresses('', MAXIMUM_LISTED);
}

/**
 * Maximum for a node's filter: an address takes 69 bytes in each request, a log of the whole token about 109
 * compressed, and a busy block has some 75 of those.
 */
const MAXIMUM_FILTERED = 128;

/** Maximum payments read since the oldest open one; with more, too many are assumed to be open. */
const MAXIMUM_LOOKED_AT = 2_000;

/** Delay with which payments leave the filter; they join it at once. */
const LEAVING_MS = 30_000;

export type OpenAddresses = ReturnType<typeof createOpenAddresses>;

/**
 * Lists deposit addresses of payments that await money, or did a moment ago; null where filtering is not worthwhile.
 * Deposits at other addresses are found once their block is final. Starts at the expiry watermark, below which no
 * payment awaits money.
 */
export function createOpenAddresses({
  payments,
  observations,
  monotonicMs,
}: AddressLists & { readonly monotonicMs: () => number }): () => Promise<readonly Address[] | null> {
  const openAtMs = new Map<Address, number>();
  return async () => {
    const watermark = await observations.readExpiryWatermark();
    const open = await payments.listDepositAddresses(watermark, MAXIMUM_FILTERED, MAXIMUM_LOOKED_AT);
    const nowMs = monotonicMs();
    for (const address of open ?? []) openAtMs.set(address, nowMs);
    for (const [address, lastMs] of openAtMs) if (nowMs - lastMs > LEAVING_MS) openAtMs.delete(address);
    return open === null || openAtMs.size > MAXIMUM_FILTERED ? null : [...openAtMs.keys()];
  };
}
