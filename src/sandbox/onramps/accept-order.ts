import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { ProviderFault } from '../fault.ts';
import type { Order } from './order.ts';
import type { OrderStore } from './order-store.ts';

export interface AcceptOrderContext {
  readonly store: OrderStore;
  readonly nowMs: () => number;
  readonly faultOf: (provider: ProviderId) => ProviderFault;
  /** How late what takes long arrives. */
  readonly slowDeliveryMs: number;
}

/** What was asked for besides what the provider's own behaviour brings. */
export interface WantedDelivery {
  /** 10⁻⁶ units instead of what was promised. */
  readonly units?: bigint;
  readonly isLate?: boolean;
}

const TWIN_ENDING = '.again';

/** Whether an order is only the second delivery of another one. */
export function isTwin(orderId: string): boolean {
  return orderId.endsWith(TWIN_ENDING);
}

/**
 * The card is good: what is delivered, when, and how often follows from how the provider behaves at the moment. False
 * when the order is not open any more: of two clicks at the same time only one is accepted.
 */
export function acceptOrder(context: AcceptOrderContext, order: Order, wanted: WantedDelivery = {}): boolean {
  const { store, nowMs } = context;
  const fault = context.faultOf(order.provider);
  const isLate = wanted.isLate === true || fault === 'late';
  const delivery = {
    units: wanted.units ?? (fault === 'less' ? order.quotedUnits / 2n : order.quotedUnits),
    dueAtMs: nowMs() + (isLate ? context.slowDeliveryMs : 0),
    isWrongToken: fault === 'wrong-token',
  };
  if (!store.acceptOrder(order.id, delivery, nowMs())) return false;
  if (fault === 'twice') {
    const twin = { ...order, id: `${order.id}${TWIN_ENDING}` };
    store.createOrder(twin);
    store.acceptOrder(twin.id, delivery, nowMs());
  }
  return true;
}
