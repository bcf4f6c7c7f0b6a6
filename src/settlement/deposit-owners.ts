import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PaymentStore } from '../payment/payment-store.ts';
import { type DepositOwner, MAXIMUM_OWNERS_ASKED } from '../payment/payment-store.ts';
import type { Address } from '../payment/payout-address.ts';
import type { ObservationStore } from './settlement-store.ts';

/**
 * The payments that addresses belong to, by the address in lower case. Asked in portions with a turn of the event loop
 * between them, so that a page full of strangers delays no request.
 *
 * Ask only after the logs were read, then no deposit of ours is taken for a stranger's: a customer learns an address from an
 * answer that the commit of its payment preceded, in whichever process, and the transfer, its block and the node's answer
 * followed. A look-up that begins after that answer sees everything that was committed before it.
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
 * The deposit addresses of all payments, to be filtered for at a node; null where there are more than it takes. As with
 * all filters, read after the head up to which logs are asked for: who paid in a block up to it knew an address that was
 * committed before.
 */
export function listAllAddresses({
  payments,
}: Pick<AddressLists, 'payments'>): Promise<readonly Address[] | null> {
  return payments.listDepositAddresses('', MAXIMUM_LISTED);
}

/**
 * More are not filtered for at the node: an address takes 69 bytes in each request, and a log of the whole token about
 * 109 compressed, of which a busy block has some 75.
 */
const MAXIMUM_FILTERED = 128;

/** Maximum payments since the oldest open one that are looked at; where there are more, too many are taken to be open. */
const MAXIMUM_LOOKED_AT = 2_000;

/** Payments leave the filter with this delay; they join it at once. */
const LEAVING_MS = 30_000;

export type OpenAddresses = ReturnType<typeof createOpenAddresses>;

/**
 * Lists the deposit addresses of the payments that wait for money, or did a moment ago; null where there are more than are
 * worth a filter. Money at any other one is found when its block is final. Begins where the expiry step has come to: what
 * is older waits for no money.
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
