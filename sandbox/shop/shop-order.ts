import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export interface ShopStep {
  readonly title: string;
  /** Column on the page: actions of the shop's server, or messages of the service. */
  readonly kind: 'call' | 'webhook' | 'check';
  readonly isGood: boolean;
  /** What can be inspected: a request, a response or a signature. */
  readonly detail: string;
}

export interface ShopProduct {
  readonly id: string;
  readonly name: string;
  readonly amount: string;
}

/** Order as a shop would store it. */
export interface ShopOrder {
  readonly id: string;
  readonly product: ShopProduct;
  readonly steps: ShopStep[];
  payment: { readonly id: string; readonly ipnToken: string; readonly checkoutUrl: string } | null;
  /** The last genuine webhook, for a replay. */
  received: { readonly rawBody: string; readonly signature: string } | null;
  isFulfilled: boolean;
}

export const shopProducts: readonly ShopProduct[] = [
  { id: 'tea', name: 'A tin of tea', amount: '25.00' },
  { id: 'lamp', name: 'A desk lamp', amount: '80.00' },
  { id: 'chair', name: 'A good chair', amount: '420.00' },
];

const MAXIMUM_ORDERS = 100;
const MAXIMUM_STEPS = 40;
const MAXIMUM_DETAIL_CHARACTERS = 4_000;

export type ShopOrders = ReturnType<typeof createShopOrders>;

/** Orders of the shop, in memory. A restart of the sandbox drops them. */
export function createShopOrders() {
  const orders = new LRUCache<string, ShopOrder>({ max: MAXIMUM_ORDERS });
  return {
    open(product: ShopProduct): ShopOrder {
      const id = randomUUID();
      const order = { id, product, steps: [], payment: null, received: null, isFulfilled: false };
      orders.set(order.id, order);
      return order;
    },
    find: (id: string): ShopOrder | null => orders.peek(id) ?? null,
    findByPayment: (paymentId: string): ShopOrder | null =>
      [...orders.values()].find(({ payment }) => payment?.id === paymentId) ?? null,
    list: (): readonly ShopOrder[] => [...orders.values()],
  };
}

export function addStep(
  { steps }: ShopOrder,
  kind: ShopStep['kind'],
  title: string,
  detail: string,
  isGood = true,
): void {
  if (steps.length >= MAXIMUM_STEPS) return;
  steps.push({ kind, title, detail: detail.slice(0, MAXIMUM_DETAIL_CHARACTERS), isGood });
}
