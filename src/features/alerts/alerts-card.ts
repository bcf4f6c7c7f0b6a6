import { roleIncludes } from '../../accounts/person.ts';
import type { HomeCard } from '../../pages/dashboard/features.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { AmountMismatch, Payment } from '../../payment/payment.ts';
import type { FailingWebhook } from '../../payment/payment-search-store.ts';
import { refusedStatuses } from '../../payment/payment-states.ts';
import { DAY_MS } from '../../platform/time-zone.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { moment, moneyText, usdcText } from '../../web/signed-in/format.ts';
import type { FormFields } from '../../web/signed-in/forms.ts';
import { type PageAnswer, seeOther } from '../../web/signed-in/pages.ts';
import { partPaid, stateSentence } from '../../web/signed-in/payment-words.ts';
import { reasonSentence } from '../../webhooks/delivery-reasons.ts';

/** Maximum payments read and shown per group. The payment list shows all of them. */
const READ = 10;
const SHOWN = 3;
/** Maximum length of a note, order line or email address to show. Only the payment's page shows longer texts. */
const ORDER_CHARACTERS = 60;
/** Maximum groups of webhooks to show, and maximum failures to read for them. */
const GROUPS_SHOWN = 3;
const WEBHOOKS_READ = 1_000;
/** Maximum age of listed webhook failures and overpayments. The payments' pages also show older ones. */
const NEWS_MS = 14 * DAY_MS;
const DISMISSED_MS = 90 * DAY_MS;

interface AlertGroup {
  readonly name: string;
  /** Keys of the failures in the group. A dismissal hides the group until a new key is added. */
  readonly holds: readonly string[];
  readonly content: Html;
}

async function readGroups(visit: Visit): Promise<readonly AlertGroup[]> {
  const { context } = visit;
  const { id: accountId } = visit.account;
  const fromMs = context.nowMs() - NEWS_MS;
  const ofMismatch = async (amountMismatch: AmountMismatch, since: { fromMs?: number } = {}) =>
    (await context.search.searchPayments({ accountId, amountMismatch, ...since }, null, READ)).payments;
  const [waiting, webhooks, partial, overpaid, dismissed] = await Promise.all([
    context.search.listUnsettled(accountId, refusedStatuses, READ),
    context.search.listFailingWebhooks(accountId, WEBHOOKS_READ),
    ofMismatch('partially_paid'),
    ofMismatch('overpaid', { fromMs }),
    context.records.listRecords(accountId, 'dismissed'),
  ]);
  const overpaidIds = overpaid.map(({ id }) => id);
  const returned = await context.readReturned(accountId, overpaidIds);
  const review = ['', 'Review'] as const;
  const mayAct = roleIncludes(visit.role, 'developer');
  const groups = [
    ...groupOfPayments('waiting', waiting, 'forward=manual_required', stateSentence, review),
    ...groupOfPayments(
      'partially_paid',
      partial,
      'status=partially_paid',
      (payment) => html`Only ${partPaid(payment)} arrived.`,
      mayAct ? ['#rest', 'Send reminder'] : review,
    ),
    ...groupOfPayments(
      'overpaid',
      overpaid.filter(
        ({ id, receivedUnits, usdUnits }) => receivedUnits - usdUnits > (returned.get(id) ?? 0n),
      ),
      'status=overpaid',
      ({ receivedUnits, usdUnits }) =>
        `${usdcText(receivedUnits - usdUnits)} too much arrived. Check whether the customer paid twice.`,
      mayAct ? context.paymentHints.surplus : review,
    ),
    ...groupsOfWebhooks(
      webhooks.filter(({ finishedAtMs }) => finishedAtMs > fromMs),
      visit,
    ),
  ];
  const fresh = dismissed.filter(({ atMs }) => atMs > context.nowMs() - DISMISSED_MS);
  const seenOf = new Map(fresh.map(({ name, texts }) => [name, new Set(texts)]));
  return groups.filter(({ name, holds }) => !holds.every((one) => seenOf.get(name)?.has(one)));
}

export const alertsCard: HomeCard = {
  show: showAlerts,
  register: (routes) => routes.pages('home', 'developer').form('/alerts/dismiss', dismissAlert),
  flashMessages: { dismissed: 'The alert is dismissed. A new one of its kind is shown again.' },
};

async function showAlerts(visit: Visit): Promise<Html> {
  const groups = await readGroups(visit);
  if (groups.length === 0) return nothing;
  return html`<section class="banner attention"><h2 class="quiet">Needs your attention</h2><ul>${groups.map(
    ({ name, content }) =>
      html`<li><div>${content}</div>${roleIncludes(visit.role, 'developer') && dismissForm(name)}</li>`,
  )}</ul></section>`;
}

function dismissForm(name: string): Html {
  return html`<form method="post" action="${DASHBOARD_PATH}/alerts/dismiss">
<button class="button compact" name="alert" value="${name}" title="Dismiss" aria-label="Dismiss: ${name.replaceAll(/[_:]/g, ' ')}">×</button></form>`;
}

async function dismissAlert(visit: Visit, form: FormFields): Promise<PageAnswer> {
  const { context } = visit;
  const group = (await readGroups(visit)).find(({ name }) => name === form.text('alert'));
  if (group === undefined) throw new ServiceError('not_found');
  const { name, holds } = group;
  const dismissed = { accountId: visit.account.id, kind: 'dismissed', name, texts: holds } as const;
  await context.records.replaceRecord({ ...dismissed, atMs: context.nowMs() });
  await record(visit, 'alert.dismissed', name);
  return seeOther('?flash=dismissed');
}

function groupOfPayments(
  name: string,
  payments: readonly Payment[],
  query: string,
  sentenceOf: (payment: Payment) => Html | string,
  [place, action]: readonly [place: string, action: string],
): AlertGroup[] {
  if (payments.length === 0) return [];
  const rows = payments.slice(0, SHOWN).map((payment) => {
    const money = moneyText(payment.amountCents, payment.currency);
    const texts = [payment.note, payment.orderLine, payment.email];
    const order = texts.find((text) => text !== null && text.length <= ORDER_CHARACTERS);
    return alertRow(
      html`<strong>${money}</strong> ${order !== undefined && html`<bdi class="soft">${order}</bdi> · `}${sentenceOf(payment)}`,
      `${payment.id}${place}`,
      action,
      money,
    );
  });
  const all = html`<p><a href="${DASHBOARD_PATH}/payments?${query}">All of these payments</a></p>`;
  const content = html`${rows}${payments.length > SHOWN ? all : nothing}`;
  // Includes the number of refusals, so that a payment reappears after another refusal.
  return [
    {
      name,
      holds: payments.map(
        ({ id, forwardStatus, releaseRefusals }) => `${id} ${forwardStatus} ${releaseRefusals}`,
      ),
      content,
    },
  ];
}

function alertRow(text: Html, path: string, action: string, of: string): Html {
  return html`<p class="head"><span>${text}</span>
<a class="button compact" href="${DASHBOARD_PATH}/payments/${path}">${action}<span class="quiet">: ${of}</span></a></p>`;
}

function groupsOfWebhooks(webhooks: readonly FailingWebhook[], { timeZone }: Visit): AlertGroup[] {
  const groups = Map.groupBy(webhooks, ({ host, status, reason }) => `webhook:${host}:${reason ?? status}`);
  return [...groups].slice(0, GROUPS_SHOWN).map(([name, failures]): AlertGroup => {
    const { host, status, reason, paymentId, finishedAtMs } = failures[0] as FailingWebhook;
    const count = webhooks.length === WEBHOOKS_READ ? `At least ${failures.length}` : String(failures.length);
    const outcome = status === 'unknown' ? 'may not have arrived' : 'failed';
    return {
      name,
      holds: [String(finishedAtMs)],
      content: alertRow(
        html`<strong>${count} ${failures.length === 1 ? 'webhook' : 'webhooks'}</strong>
to <bdi>${host === '' ? 'your endpoint' : host}</bdi> ${outcome}. ${reasonSentence(reason)}
${adviceOf(reason)} <span class="small">${failures.length === 1 ? '' : 'The last one: '}${moment(finishedAtMs, timeZone)}</span>`,
        `${paymentId}?webhook#webhook`,
        'See why',
        host,
      ),
    };
  });
}

function adviceOf(reason: string | null): string {
  if (reason === null) return '';
  if (/^(?:dns_|blocked_)/.test(reason)) return 'Check the URL.';
  if (reason.startsWith('tls_')) return 'Check the endpoint’s certificate.';
  if (reason.startsWith('http_')) return 'Check the endpoint’s log.';
  return '';
}
