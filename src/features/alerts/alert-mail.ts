import { formatCents } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import type { FailingWebhook } from '../../payment/payment-search-store.ts';
import type { Alert } from './alert-store.ts';

export interface AlertMailParts {
  readonly alert: Alert;
  readonly shop: string;
  readonly webhooks: readonly FailingWebhook[];
  readonly payments: readonly Payment[];
  readonly dashboardUrl: string;
}

const outcomes = {
  failed: 'failed',
  blocked: 'was not sent, because its URL is not allowed',
  unknown: 'may have arrived: the service stopped during delivery',
} as const;

/** Subject and text of the alert mail to owners, without customer data or notes. */
export function alertMail(parts: AlertMailParts): { readonly subject: string; readonly text: string } {
  const { alert, shop, dashboardUrl } = parts;
  const { one, several, advice, lines } =
    alert.kind === 'webhooks' ? aboutWebhooks(parts) : aboutPayments(parts);
  const more = alert.count - lines.length;
  return {
    subject: `${alert.count === 1 ? one : `${alert.count} ${several}`}: ${shop}`,
    text: [
      advice,
      '',
      ...lines,
      ...(more > 0 ? [`and ${more} more`] : []),
      '',
      `You receive at most one such email per hour. Turn them off in the settings: ${dashboardUrl}/settings`,
      '',
    ].join('\n'),
  };
}

function aboutWebhooks({ webhooks, dashboardUrl }: AlertMailParts) {
  return {
    one: 'A webhook was not delivered',
    several: 'webhooks were not delivered',
    advice:
      'Each event is sent only once. Read the status of these payments with the API, and fulfill the orders that are paid.',
    lines: webhooks.map(
      ({ paymentId, host, status, reason }) =>
        `${host === '' ? 'your endpoint' : host}: ${outcomes[status]}${reason === null ? '' : ` (${reason})`}\n  ${dashboardUrl}/payments/${paymentId}`,
    ),
  };
}

function aboutPayments({ payments, dashboardUrl }: AlertMailParts) {
  return {
    one: 'A payment needs attention',
    several: 'payments need attention',
    advice:
      'Money has arrived for these payments but could not be sent to your wallet automatically. ' +
      'Each payment page gives the reason. The operator of the service can release the money.',
    lines: payments.map(
      ({ id, amountCents, currency }) =>
        `${formatCents(amountCents)} ${currency}\n  ${dashboardUrl}/payments/${id}`,
    ),
  };
}
