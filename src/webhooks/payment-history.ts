import { ServiceError } from '../payment/errors.ts';
import type { IpnTokens } from '../payment/ipn-token.ts';
import { isPaymentId } from '../payment/payment-id.ts';
import type { PaymentSearchStore, StateChange } from '../payment/payment-search-store.ts';
import type { PaymentStore, PaymentView } from '../payment/payment-store.ts';
import { ERASED } from '../payment/redact-email.ts';
import { isSameText } from '../platform/keyed-hash.ts';
import type { Webhook, WebhookStore } from './send-webhook.ts';
import { signWebhook } from './webhook-signatures.ts';

export interface PaymentHistory extends PaymentView {
  readonly states: readonly StateChange[];
  readonly webhooks: readonly Webhook[];
}

/** Returns the account's payment. Throws `payment_not_found` for any other id, whether it exists or not. */
export async function viewPaymentOf(
  { payments }: Readonly<{ payments: Pick<PaymentStore, 'viewPayment'> }>,
  accountId: string,
  id: string,
): Promise<PaymentView> {
  const view = isPaymentId(id) ? await payments.viewPayment(id) : null;
  if (view?.payment.accountId !== accountId) throw new ServiceError('payment_not_found');
  return view;
}

export async function readPaymentHistory(
  stores: Readonly<{
    payments: Pick<PaymentStore, 'viewPayment'>;
    search: Pick<PaymentSearchStore, 'listStateChanges'>;
    webhooks: Pick<WebhookStore, 'listWebhooks'>;
  }>,
  accountId: string,
  id: string,
): Promise<PaymentHistory> {
  const view = await viewPaymentOf(stores, accountId, id);
  const [states, webhooks] = await Promise.all([
    stores.search.listStateChanges(view.payment.id),
    stores.webhooks.listWebhooks(id),
  ]);
  return { ...view, states, webhooks };
}

/** Returns `unknown` if nothing was signed or the token's secret is lost, `erased` if an email address was removed. */
export function verifyWebhookSignature(
  tokens: IpnTokens,
  webhook: Webhook,
): 'good' | 'bad' | 'unknown' | 'erased' {
  const { body = null, signature = null } = webhook.result ?? {};
  if (body === null || signature === null || !tokens.knows(webhook.tokenFingerprint)) return 'unknown';
  if (body.includes(`"email":"${ERASED}"`)) return 'erased';
  const token = tokens.create(webhook.paymentId, webhook.tokenFingerprint);
  return isSameText(signature, signWebhook(body, token)) ? 'good' : 'bad';
}
