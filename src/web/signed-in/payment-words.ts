import { roleIncludes } from '../../accounts/person.ts';
import { type DisplayStatus, displayStatusOf } from '../../payment/display-status.ts';
import { aboutCents, type Payment } from '../../payment/payment.ts';
import type { LastSession } from '../../payment/payment-search-store.ts';
import {
  type ForwardStatus,
  type PaymentState,
  paymentStates,
  stateOf,
} from '../../payment/payment-states.ts';
import { DIRECT_PROVIDER, MULTI_PROVIDER, providerCatalog } from '../../payment/provider-catalog.ts';
import type { WebhookStatus } from '../../webhooks/send-webhook.ts';
import { type Html, html } from '../design/html.ts';
import { DASHBOARD_PATH, type DashboardContext, type PaymentOrigin, type Visit } from './context.ts';
import { formatMoney, formatUsdc, usdcText } from './format.ts';

export function fact(term: Html | string, description: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>`;
}

export function copyable(id: string, text: string, label: string): Html {
  return html`<code class="hash" title="${text}" id="${id}">${text}</code> ${copyButton(id, label)}`;
}

export function copyButton(id: string, label: string): Html {
  return html`<button class="button compact" type="button" data-copies="${id}" aria-label="Copy ${label}" hidden>Copy</button>`;
}

/** Renders a text in a field, for copying by hand or by a button with `data-copies`. */
export function copyField(id: string, label: string, text: string): Html {
  return html`<div class="field"><label for="${id}">${label}</label><input id="${id}" readonly value="${text}" autocomplete="off"></div>`;
}

export function originLink(visit: Visit, { role, path, title }: PaymentOrigin): Html {
  const text = html`<bdi>${title}</bdi>`;
  return roleIncludes(visit.role, role) ? html`<a href="${DASHBOARD_PATH}${path}">${text}</a>` : text;
}

export type Tone = 'good' | 'warn' | 'bad' | '';

const displayTones: Readonly<Partial<Record<DisplayStatus, Tone>>> = {
  declined: 'warn',
  partially_paid: 'warn',
  overpaid: 'warn',
  paid: 'good',
};

/** Renders the status, with the release state unless the status implies it. `session` is the last session. */
export function displayStatusBadges(payment: Payment, session: LastSession | undefined, nowMs: number): Html {
  const status = displayStatusOf(payment, session, nowMs);
  const shown = badge(status.replaceAll('_', ' '), displayTones[status] ?? '');
  return isUsual(payment) ? shown : html`${shown} ${forwardBadge(payment)}`;
}

function isUsual({ status, forwardStatus }: Payment): boolean {
  return (
    forwardStatus === 'pending' ||
    forwardStatus === 'canceled' ||
    (status === 'paid' && forwardStatus === 'completed')
  );
}

export function displayStatusLabel(status: DisplayStatus): string {
  return `${status.charAt(0).toUpperCase()}${status.slice(1).replaceAll('_', ' ')}`;
}

export const forwardWords: Readonly<Record<ForwardStatus, readonly [string, Tone]>> = {
  pending: ['waiting', ''],
  ready: ['release due', ''],
  processing: ['release in progress', ''],
  completed: ['released', 'good'],
  failed: ['release rejected', 'bad'],
  manual_required: ['action required', 'bad'],
  canceled: ['no deposit', ''],
};

const webhookTones: Readonly<Record<WebhookStatus, Tone>> = {
  pending: '',
  sending: '',
  delivered: 'good',
  failed: 'bad',
  blocked: 'bad',
  unknown: 'warn',
};

export function badge(text: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

export function forwardBadge({ forwardStatus }: Pick<Payment, 'forwardStatus'>): Html {
  const [words, tone] = forwardWords[forwardStatus];
  return badge(words, tone);
}

export function partPaid({ receivedUnits, usdUnits }: Pick<Payment, 'receivedUnits' | 'usdUnits'>): Html {
  const hidesRest = usdcText(receivedUnits) === usdcText(usdUnits);
  return html`${formatUsdc(receivedUnits, hidesRest ? 'down' : 'nearest')} of ${formatUsdc(usdUnits)}`;
}

export function partPaidSentence(payment: Payment): Html {
  const { receivedUnits, amountCents, currency, paidThresholdUnits } = payment;
  const about = `about ${formatMoney(aboutCents(payment, receivedUnits), currency)} of ${formatMoney(amountCents, currency)}`;
  return html`Partially paid: ${partPaid(payment)} arrived (${about}). The payment is paid in full at ${formatUsdc(paidThresholdUnits, 'up')}.`;
}

/** Returns how much has arrived and reached the merchant; null before anything arrives. */
export function moneySentence(payment: Payment): string | null {
  const { amountCents, currency, status, receivedUnits, forwardedUnits } = payment;
  if (receivedUnits === 0n) return null;
  const customer = status === 'paid' ? 'Customer paid' : 'Asked for';
  const seen = `${customer} ${formatMoney(amountCents, currency)} · arrived ${usdcText(receivedUnits)}`;
  if (forwardedUnits === 0n) return seen;
  // Computed from rounded amounts, so that the shown amounts add up.
  const cents = (units: bigint) => Math.round(Number(units) / 10_000);
  const fee = ((cents(receivedUnits) - cents(forwardedUnits)) / 100).toFixed(2);
  return `${seen} · you received ${usdcText(forwardedUnits)} (fee ${fee} is not returned)`;
}

export function webhookBadge(status: WebhookStatus): Html {
  return badge(status, webhookTones[status]);
}

export function stateSentence(
  payment: Pick<Payment, 'status' | 'forwardStatus' | 'amountMismatch'>,
  wallet = 'your wallet',
): string {
  if (payment.amountMismatch === 'partially_paid') {
    return 'Part of the amount has arrived at the deposit address.';
  }
  const state = stateOf(payment);
  if (state === 'unpaid/pending') return 'Waiting for the customer’s payment.';
  return state === 'paid/completed' ? `Succeeded. ${stateMeaning(state, wallet)}` : stateMeaning(state);
}

/** @param wallet name for the merchant's wallet, from the reader's point of view */
export function stateMeaning(state: PaymentState, wallet = 'your wallet'): string {
  return state === 'paid/completed' ? `Funds sent to ${wallet}.` : paymentStates[state];
}

export const stateTitles = {
  'unpaid/pending': 'Waiting for the payment',
  'unpaid/ready': 'Payment received',
  'unpaid/processing': 'Release in progress',
  'unpaid/failed': 'Release rejected',
  'unpaid/manual_required': 'Action required',
  'paid/ready': 'Payment received',
  'paid/processing': 'Release in progress',
  'paid/failed': 'Release rejected',
  'paid/manual_required': 'Action required',
  'paid/completed': 'Succeeded',
  'canceled/canceled': 'Canceled',
  'canceled/manual_required': 'Canceled, action required',
  'canceled/completed': 'Canceled, funds released',
} as const satisfies Record<PaymentState, string>;

export function providerName(provider: Payment['provider']): string {
  if (provider === DIRECT_PROVIDER) return 'From a wallet';
  return provider === MULTI_PROVIDER ? 'Any provider' : providerCatalog[provider].name;
}

/** Returns the provider, or that of the last session if the customer chose. The chain does not record providers. */
export function usedProvider(
  { provider }: Pick<Payment, 'provider'>,
  session: LastSession | undefined,
): string {
  return providerName(provider === MULTI_PROVIDER && session !== undefined ? session.provider : provider);
}

export function transactionLink(
  { explorerTransactionUrl }: Pick<DashboardContext, 'explorerTransactionUrl'>,
  hash: string,
  newTab = '(opens a new tab)',
): Html {
  const url = explorerTransactionUrl(hash);
  const code = html`<code class="hash" title="${hash}">${hash}</code>`;
  if (url === null) return code;
  return html`<a href="${url}" rel="noopener noreferrer" target="_blank">${code}<span class="quiet"> ${newTab}</span></a>`;
}
