import { formatCents } from './money.ts';
import type { Payment } from './payment.ts';
import type { Alert } from './ports/mail.ts';
import type { FailingWebhook } from './ports/payment-search-store.ts';

/** The parts of an alert mail. */
export interface AlertMailParts {
  readonly alert: Alert;
  readonly shop: string;
  /** Some of the subjects of the alert, the newest first. */
  readonly webhooks: readonly FailingWebhook[];
  readonly payments: readonly Payment[];
  /** A payment's page in the dashboard. */
  readonly pageOf: (paymentId: string) => string;
  readonly settingsUrl: string;
}

const outcomes = {
  failed: 'failed',
  blocked: 'was not sent, because its address is not allowed',
  unknown: 'may have arrived or not: the service stopped in between',
} as const;

/** Subject and text of the alert mail to owners. It contains nothing of the customer and no note. */
export function alertMail(parts: AlertMailParts): { readonly subject: string; readonly text: string } {
  const { alert, shop, settingsUrl } = parts;
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
      `You get at most one such e-mail an hour. To get none: ${settingsUrl}`,
      '',
    ].join('\n'),
  };
}

function aboutWebhooks({ webhooks, pageOf }: AlertMailParts) {
  return {
    one: 'A webhook did not arrive',
    several: 'webhooks did not arrive',
    advice:
      'An event is sent once and never again. Ask the API for the status of these payments, or send the events to your endpoint by hand with the command on their pages.',
    lines: webhooks.map(
      ({ paymentId, host, status, reason }) =>
        `${host === '' ? 'your endpoint' : host}: ${outcomes[status]}${reason === null ? '' : ` (${reason})`}\n  ${pageOf(paymentId)}`,
    ),
  };
}

function aboutPayments({ payments, pageOf }: AlertMailParts) {
  return {
    one: 'A payment needs a hand',
    several: 'payments need a hand',
    advice:
      'Money has arrived for these payments and could not be passed on to your wallet by itself. Their pages say why; the operator of the service can release it.',
    lines: payments.map(
      ({ id, amountCents, currency }) => `${formatCents(amountCents)} ${currency}\n  ${pageOf(id)}`,
    ),
  };
}
