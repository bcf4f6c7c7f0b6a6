import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export interface ShopStep {
  readonly title: string;
  /** Kind of step: an API call of the shop's server, a webhook of the service, or a check. */
  readonly kind: 'call' | 'webhook' | 'check';
  readonly isGood: boolean;
  /** Text to inspect: a request, a response or a signature. */
  readonly detail: string;
}

export interface ShopProduct {
  readonly id: string;
  readonly name: string;
  readonly amount: string;
  /** SVG path of the product's line drawing, 120 units wide and high. */
  readonly drawing: string;
}

/** Order as a shop would store it. */
export interface ShopOrder {
  readonly id: string;
  readonly product: ShopProduct;
  readonly steps: ShopStep[];
  payment: { readonly id: string; readonly ipnToken: string; readonly checkoutUrl: string } | null;
  /** Last genuine webhook, for a replay. */
  received: { readonly rawBody: string; readonly signature: string } | null;
  isFulfilled: boolean;
}

export const shopProducts: readonly ShopProduct[] = [
  {
    id: 'tea',
    name: 'A tin of tea',
    amount: '25.00',
    drawing:
      'M36 42h48v54a6 6 0 0 1-6 6H42a6 6 0 0 1-6-6zM40 42v-10h40v10M52 32v-8h16v8M60 88c-12-6-12-18 0-26 12 8 12 20 0 26zM60 94V72',
  },
  {
    id: 'lamp',
    name: 'A desk lamp',
    amount: '80.00',
    drawing:
      'M36 102h44M58 102V92L40 60l28-26M34 60a6 6 0 1 0 12 0a6 6 0 1 0-12 0M60 20l30 30-24 4-12-12zM92 62l6 10M98 52l12 6M82 66l1 12',
  },
  {
    id: 'chair',
    name: 'A good chair',
    amount: '420.00',
    drawing:
      'M40 64h40a4 4 0 0 1 4 4v4H36v-4a4 4 0 0 1 4-4zM42 64V26a8 8 0 0 1 8-8h20a8 8 0 0 1 8 8v38M50 30v34M60 30v34M70 30v34M40 72l-6 32M80 72l6 32M38 88h44',
  },
];

const MAXIMUM_ORDERS = 100;
const MAXIMUM_STEPS = 40;
const MAXIMUM_DETAIL_CHARACTERS = 4_000;

export type ShopOrders = ReturnType<typeof createShopOrders>;

/** Creates a store for the shop's orders in memory. A restart of the sandbox drops them. */
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
