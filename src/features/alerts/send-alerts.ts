import type { AccountStore, PeopleStore } from '../../accounts/account-store.ts';
import { type Mailer, MailNotSentError } from '../../mail/mail.ts';
import { formatCents } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import type { FailingWebhook, PaymentSearchStore } from '../../payment/payment-search-store.ts';
import type { Alert, AlertStore } from './alert-store.ts';

export interface SendAlertsContext {
  readonly alerts: AlertStore;
  readonly search: Pick<PaymentSearchStore, 'listFailingWebhooks' | 'listUnsettled'>;
  readonly accounts: Pick<AccountStore, 'findAccount'>;
  readonly people: Pick<PeopleStore, 'listMembers'>;
  readonly mailer: Mailer;
  readonly dashboardUrl: string;
  readonly nowMs: () => number;
  readonly log: Readonly<{ warn: (fields: object, text: string) => void }>;
}

const HOUR_MS = 3_600_000;
/** Minimum age of counted failures, because a row may commit shortly after its timestamp. */
const SETTLED_MS = 10_000;
/** Maximum age of counted failures. A backlog, for example after email was first configured, would confuse owners. */
const MAXIMUM_ALERT_AGE_MS = 24 * HOUR_MS;
const ALERTS_AT_A_TIME = 5;
const MAXIMUM_NAMED = 10;
const MAXIMUM_OWNERS = 20;

export const alertTask = (context: SendAlertsContext) => ({
  name: 'alerts',
  intervalMs: 30_000,
  run: (signal: AbortSignal) => sendAlerts(context, signal),
});

/**
 * Emails owners, at most once per kind, hour and account. Claims each alert durably before sending, and returns the
 * alert if no email was sent. Resolves to whether more may be waiting. Throws the last error of a returned alert.
 */
export async function sendAlerts(context: SendAlertsContext, signal: AbortSignal): Promise<boolean> {
  const { alerts } = context;
  const nowMs = context.nowMs();
  await alerts.recordAlerts(nowMs - MAXIMUM_ALERT_AGE_MS, nowMs - SETTLED_MS);
  const claimed = await alerts.claimAlerts(nowMs - HOUR_MS, ALERTS_AT_A_TIME, nowMs);
  let failure: unknown = null;
  for (const alert of claimed) {
    // Stops sending if the mail server is down. An alert that fails in another way does not block the others.
    let isDone = false;
    try {
      if (!(failure instanceof MailNotSentError)) isDone = await mailOwners(context, alert, signal);
    } catch (error) {
      failure = error;
    }
    if (!isDone) await alerts.returnAlert(alert);
  }
  if (failure !== null) throw failure;
  return !signal.aborted && claimed.length === ALERTS_AT_A_TIME;
}

/** Emails the owners. Returns false if aborted before the first email. Throws only if no email was sent. */
async function mailOwners(context: SendAlertsContext, alert: Alert, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const account = await context.accounts.findAccount(alert.accountId);
  if (account === null || !account.receivesAlerts) return true;
  const members = await context.people.listMembers(alert.accountId);
  const owners = members.filter(({ role }) => role === 'owner').slice(0, MAXIMUM_OWNERS);
  const mail = await composeMail(context, alert, account.name);
  let isAnyTold = false;
  for (const { email } of owners) {
    // Skips the remaining owners on shutdown, because a retry would email the first owners again.
    if (signal.aborted) return isAnyTold;
    try {
      await context.mailer.send({ to: email, ...mail }, { isBackground: true });
      isAnyTold = true;
    } catch (error) {
      const { accountId, kind } = alert;
      context.log.warn({ err: error, accountId, kind }, 'an alert email was not sent');
      if (!(error instanceof MailNotSentError)) isAnyTold = true;
      else if (!isAnyTold) throw error;
    }
  }
  return true;
}

/** Composes the email to the owners, without customer data or notes. */
async function composeMail(
  { search, dashboardUrl }: SendAlertsContext,
  { accountId, kind, count, sinceMs }: Alert,
  shop: string,
) {
  const { one, several, advice, lines } =
    kind === 'webhooks'
      ? aboutWebhooks(await search.listFailingWebhooks(accountId, MAXIMUM_NAMED), sinceMs, dashboardUrl)
      : aboutPayments(
          await search.listUnsettled(accountId, ['manual_required'], MAXIMUM_NAMED),
          dashboardUrl,
        );
  const more = count - lines.length;
  return {
    subject: `${count === 1 ? one : `${count} ${several}`}: ${shop}`,
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

const outcomes = {
  failed: 'failed',
  blocked: 'was not sent, because its URL is not allowed',
  unknown: 'may have arrived: the service stopped during delivery',
} as const;

function aboutWebhooks(webhooks: readonly FailingWebhook[], sinceMs: number, dashboardUrl: string) {
  return {
    one: 'A webhook was not delivered',
    several: 'webhooks were not delivered',
    advice:
      'Each event is sent only once. Read the status of these payments with the API, and fulfill the orders that are paid.',
    lines: webhooks
      .filter(({ finishedAtMs }) => finishedAtMs >= sinceMs)
      .map(
        ({ paymentId, host, status, reason }) =>
          `${host === '' ? 'your endpoint' : host}: ${outcomes[status]}${reason === null ? '' : ` (${reason})`}\n  ${dashboardUrl}/payments/${paymentId}`,
      ),
  };
}

function aboutPayments(payments: readonly Payment[], dashboardUrl: string) {
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
