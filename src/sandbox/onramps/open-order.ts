import { randomBytes } from 'node:crypto';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { type Order, SESSION_LIFETIME_MS } from './order.ts';
import type { OrderStore } from './order-store.ts';

/** What a customer is about to buy at a simulated on-ramp. */
export interface NewOrder
  extends Pick<
    Order,
    | 'provider'
    | 'amountCents'
    | 'currency'
    | 'walletAddress'
    | 'externalId'
    | 'email'
    | 'returnUrl'
    | 'quotedUnits'
  > {
  /** A new one where none is given. */
  readonly id?: string;
}

/** An id that nobody guesses. */
function newOrderId(provider: ProviderId): string {
  return `${provider}_${randomBytes(16).toString('base64url')}`;
}

/** Puts a new order into the books. */
export function openOrder(store: OrderStore, order: NewOrder, nowMs: number): Order {
  const { provider, amountCents, currency, walletAddress, externalId, email, returnUrl, quotedUnits } = order;
  const opened: Order = {
    ...{ provider, amountCents, currency, walletAddress, externalId, email, returnUrl, quotedUnits },
    id: order.id ?? newOrderId(provider),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + SESSION_LIFETIME_MS,
    state: 'open',
    deliveryUnits: null,
    isWrongToken: false,
    dueAtMs: null,
    transactionHash: null,
    refusals: 0,
  };
  store.createOrder(opened);
  return opened;
}
