import { waitFor } from '../../support/wait-for.ts';
import type { KillStage } from './stage.ts';

/** Merchant and customer of one payment, who do not give up when nobody answers. */
export interface Customer {
  /** Every payment id that was answered to the one create request, however often it was repeated. */
  readonly acknowledged: ReadonlySet<string>;
  /** How often the customer paid at the provider: again when a kill cut them off there, as people do. */
  readonly timesPaid: () => number;
  /** How often a payment whose create had been answered was not there. */
  readonly timesMissing: () => number;
  /** Resolves when the payment is paid, with its id; rejects after the bound. */
  readonly paid: Promise<string>;
  /** Sends the create request once more. */
  create(): Promise<string>;
}

/** Within it the create, the payment, a kill and everything that follows have to be over. */
const BOUND_MS = 150_000;

/** Creates a payment for this merchant, pays it, and asks until it is paid; each request again when it fails. */
export function startCustomer(stage: KillStage, merchant: string, idempotencyKey: string): Customer {
  const acknowledged = new Set<string>();
  let missing = 0;
  let timesPaid = 0;
  let hasPaid = false;

  async function create(): Promise<string> {
    const { url, apiKey } = stage.living();
    const response = await fetch(`${url}/api/v1/wallet`, {
      method: 'POST',
      headers: {
        'x-api-key': apiKey,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify({
        address: merchant,
        callback: stage.receiver.url,
        amount: '80.00',
        provider: 'moonpay',
      }),
    });
    const body = (await response.json()) as { payment_id: string };
    if (response.status !== 200) throw new Error(`create was answered ${response.status}`);
    acknowledged.add(body.payment_id);
    return body.payment_id;
  }

  async function step(): Promise<string | false> {
    const id = [...acknowledged][0] ?? (await create());
    const { url, apiKey } = stage.living();
    const response = await fetch(`${url}/api/v1/payment-status?payment_id=${id}`, {
      headers: { 'x-api-key': apiKey },
    });
    const { status } = (await response.json()) as { status: string };
    if (response.status === 404) missing++;
    if (response.status !== 200) throw new Error(`payment-status was answered ${response.status}`);
    if (status === 'unpaid' && !hasPaid) {
      timesPaid++;
      await stage.pay(id);
      hasPaid = true;
    }
    return status === 'paid' ? id : false;
  }

  let lastFailure: unknown;
  const paid = waitFor('the payment to be paid', BOUND_MS, () =>
    step().catch((error: unknown) => {
      lastFailure = error;
      return false as const;
    }),
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; the last failure: ${String(lastFailure)}`, { cause: error });
  });
  // Whoever waits for something else first must not be ended by it.
  paid.catch(() => {});
  return { acknowledged, timesPaid: () => timesPaid, timesMissing: () => missing, paid, create };
}
