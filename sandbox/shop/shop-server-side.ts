import { createHmac } from 'node:crypto';
import { type Client, createClient } from '../../sdk/src/client.ts';
import { WebhookError } from '../../sdk/src/errors.ts';
import { createMemoryStore, type FulfilmentStore, fulfilOnce } from '../../sdk/src/fulfil-once.ts';
import { verifyDepositAddress } from '../../sdk/src/verify-deposit-address.ts';
import { constructEventAsync } from '../../sdk/src/webhooks.ts';
import { addStep, type ShopOrder, type ShopOrders, type ShopProduct } from './shop-order.ts';

export interface ShopAccount {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly payoutWallet: string;
  readonly callbackUrl: string;
}

export type ShopServerSide = ReturnType<typeof createShopServerSide>;

/** Creates the server of a shop, which uses only the service's API and the SDK. */
export function createShopServerSide(account: ShopAccount, orders: ShopOrders) {
  const fulfilments = createMemoryStore();

  /** Throws `WebhookError` for a webhook that must not be processed. */
  async function verify(rawBody: string, signature: string | undefined): Promise<void> {
    await constructEventAsync(rawBody, signature, (id) => orders.findByPayment(id)?.payment?.ipnToken);
  }

  return {
    /** Creates an order and its checkout. An error becomes a step of the order. */
    async buy(product: ShopProduct): Promise<ShopOrder> {
      const order = orders.open(product);
      await createCheckout(account, order).catch((error: unknown) => addFailure(order, error));
      return order;
    },
    /** Verifies a webhook and acts on it. Resolves to the HTTP status. */
    async receive(rawBody: string, signature: string | undefined): Promise<number> {
      const order = orders.findByPayment(claimedPaymentId(rawBody));
      // After a restart, existing payments are unknown, too. The sender gets the same answer as for a made-up payment.
      if (order === null) return 401;
      const detail = `X-Service-Signature: ${signature ?? '(none)'}\n\n${rawBody}`;
      addStep(order, 'webhook', 'A webhook arrived', detail);
      try {
        await verify(rawBody, signature);
        order.received = { rawBody, signature: signature ?? '' };
        addVerification(order, rawBody);
        await act(account, fulfilments, order);
        return 200;
      } catch (error) {
        addFailure(order, error);
        return error instanceof WebhookError ? error.httpStatus : 500;
      }
    },
  };
}

async function createCheckout(account: ShopAccount, order: ShopOrder): Promise<void> {
  const client = recordingClient(account, order);
  const payment = await client.checkouts.create(
    {
      address: account.payoutWallet,
      callback: account.callbackUrl,
      amount: order.product.amount,
      currency: 'USD',
      note: `Order ${order.id.slice(0, 8)}`,
    },
    { idempotencyKey: order.id },
  );
  order.payment = {
    id: payment.payment_id,
    ipnToken: payment.ipn_token,
    checkoutUrl: payment.checkout_url,
  };
  const publication = await client.settlement.retrieve();
  const proof = verifyDepositAddress(payment, { payoutAddress: account.payoutWallet, publication });
  const detail = `verifyDepositAddress: ${payment.polygon_address_in}\ncan pay only ${account.payoutWallet}\nand the fee of ${proof.feeBasisPoints / 100} %`;
  addStep(order, 'check', 'The deposit address is the right one', detail);
}

async function act(account: ShopAccount, fulfilments: FulfilmentStore, order: ShopOrder): Promise<void> {
  const { outcome } = await fulfilOnce(fulfilments, {
    client: recordingClient(account, order),
    payment: order.payment?.id ?? '',
    expected: { amount: order.product.amount, currency: 'USD' },
    fulfil: () => {
      order.isFulfilled = true;
    },
  });
  const detail = outcome === 'fulfilled' ? 'The goods leave the house.' : 'Nothing is done a second time.';
  addStep(order, 'check', `fulfilOnce: ${outcome}`, detail, outcome !== 'not_paid');
}

function addVerification(order: ShopOrder, rawBody: string): void {
  const computed = createHmac('sha256', order.payment?.ipnToken ?? '')
    .update(rawBody)
    .digest('hex');
  const detail = `HMAC-SHA256(raw body, ipn_token)\n= ${computed}`;
  addStep(order, 'check', 'The signature is right, and the event is fresh', detail);
}

function addFailure(order: ShopOrder, error: unknown): void {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  addStep(order, 'check', `Refused: ${name}`, message, false);
}

/** Returns the unverified payment id, which is used only to look up the order. */
function claimedPaymentId(rawBody: string): string {
  try {
    return String((JSON.parse(rawBody) as { paymentId?: unknown } | null)?.paymentId);
  } catch {
    return '';
  }
}

/** Creates an SDK client that records each call in the order. */
function recordingClient({ apiUrl, apiKey }: ShopAccount, order: ShopOrder): Client {
  return createClient({
    apiKey,
    baseUrl: apiUrl,
    async fetch(input, init) {
      const request = new Request(input, init);
      const sent = await request.clone().text();
      const response = await globalThis.fetch(request);
      const answered = await response.clone().text();
      const { pathname, search } = new URL(request.url);
      const title = `${request.method} ${pathname}`;
      const detail = `${title}${search}\n${indented(sent)}\n\n${response.status}\n${indented(answered)}`;
      addStep(order, 'call', title, withoutSecrets(detail), response.ok);
      return response;
    },
  });
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Removes tokens, because customers see this page too. */
function withoutSecrets(text: string): string {
  return text.replaceAll(/ipn_[\w-]{8,}/g, 'ipn_… (a secret)');
}
