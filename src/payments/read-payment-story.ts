import { ServiceError } from '../domain/errors.ts';
import { isPaymentId } from '../domain/payment-id.ts';
import type { PaymentSearchStore, StateChange } from '../domain/ports/payment-search-store.ts';
import type { PaymentStore, PaymentView } from '../domain/ports/payment-store.ts';
import type { WebhookStore } from '../domain/ports/webhook-store.ts';
import type { Webhook } from '../domain/webhook.ts';

export interface ReadPaymentStoryContext {
  readonly payments: Pick<PaymentStore, 'viewPayment'>;
  readonly search: Pick<PaymentSearchStore, 'listStateChanges'>;
  readonly webhooks: Pick<WebhookStore, 'listWebhooks'>;
}

/** All that is known of one payment. */
export interface PaymentStory extends PaymentView {
  readonly states: readonly StateChange[];
  readonly webhooks: readonly Webhook[];
}

/** A payment of this account; `not_found` for any other id, whether there is such a payment elsewhere or not. */
export async function readPaymentStory(
  { payments, search, webhooks }: ReadPaymentStoryContext,
  accountId: string,
  id: string,
): Promise<PaymentStory> {
  const view = isPaymentId(id) ? await payments.viewPayment({ id, accountId }) : null;
  if (view === null) throw new ServiceError('not_found');
  const [states, sent] = await Promise.all([
    search.listStateChanges(view.payment),
    webhooks.listWebhooks(id),
  ]);
  return { ...view, states, webhooks: sent };
}
