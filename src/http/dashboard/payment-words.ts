import type { AmountMismatch, Payment } from '../../domain/payment.ts';
import {
  type ForwardStatus,
  type PaymentStatus,
  paymentStates,
  stateOf,
} from '../../domain/payment-states.ts';
import {
  DIRECT_PROVIDER,
  MULTI_PROVIDER,
  type ProviderId,
  providerCatalogue,
} from '../../domain/provider-catalogue.ts';
import type { WebhookStatus } from '../../domain/webhook.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { formatAbout, formatMoney, formatUsdc } from '../signed-in/format.ts';

/** A term and its value, in a list of facts. */
export function fact(term: string, description: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>`;
}

type Tone = 'good' | 'warn' | 'bad' | '';

const statusTones: Readonly<Record<PaymentStatus, Tone>> = { unpaid: '', paid: 'good', canceled: 'warn' };

const forwardWords: Readonly<Record<ForwardStatus, readonly [string, Tone]>> = {
  pending: ['waiting', ''],
  ready: ['release due', ''],
  processing: ['release on its way', ''],
  completed: ['released', 'good'],
  failed: ['release refused', 'bad'],
  manual_required: ['action required', 'bad'],
  canceled: ['nothing arrived', ''],
};

const webhookTones: Readonly<Record<WebhookStatus, Tone>> = {
  pending: '',
  sending: '',
  delivered: 'good',
  failed: 'bad',
  blocked: 'bad',
  unknown: 'warn',
};

function badge(text: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

export function statusBadge({ status }: Pick<Payment, 'status'>): Html {
  return badge(status, statusTones[status]);
}

export function forwardBadge({ forwardStatus }: Pick<Payment, 'forwardStatus'>): Html {
  const [words, tone] = forwardWords[forwardStatus];
  return badge(words, tone);
}

const mismatchWords: Readonly<Record<AmountMismatch, string>> = {
  partially_paid: 'partially paid',
  overpaid: 'overpaid',
};

export function mismatchLabel(mismatch: AmountMismatch): string {
  return mismatchWords[mismatch];
}

/** Empty if the received amount is the requested one. */
export function mismatchBadge({ amountMismatch }: Pick<Payment, 'amountMismatch'>): Html {
  return amountMismatch === null ? nothing : badge(mismatchWords[amountMismatch], 'warn');
}

/** The received part: "5.00 of 25.00 USDC". */
export function partPaid({ receivedUnits, usdUnits }: Pick<Payment, 'receivedUnits' | 'usdUnits'>): string {
  return `${formatUsdc(receivedUnits)} of ${formatUsdc(usdUnits)} USDC`;
}

/** The same with its approximate value for the customer. */
export function partPaidSentence(payment: Payment): string {
  const { receivedUnits, amountCents, currency, paidThresholdUnits } = payment;
  const about = `about ${formatAbout(payment, receivedUnits)} of ${formatMoney(amountCents, currency)}`;
  return `Partially paid: ${partPaid(payment)} arrived (${about}). It counts as paid from ${formatUsdc(paidThresholdUnits)} USDC.`;
}

/** The received amount of an overpaid payment. */
export function overpaidSentence({ usdUnits }: Pick<Payment, 'usdUnits'>, seenUnits: bigint): string {
  return `Overpaid: ${formatUsdc(seenUnits)} USDC arrived for a payment of ${formatUsdc(usdUnits)} USDC.`;
}

export function webhookBadge(status: WebhookStatus): Html {
  return badge(status, webhookTones[status]);
}

export function forwardLabel(status: ForwardStatus): string {
  return forwardWords[status][0];
}

export function stateSentence(payment: Pick<Payment, 'status' | 'forwardStatus' | 'amountMismatch'>): string {
  if (payment.amountMismatch === 'partially_paid') {
    return 'Part of the amount has been seen at the deposit address.';
  }
  return paymentStates[stateOf(payment)];
}

export function providerName(provider: Payment['provider']): string {
  if (provider === DIRECT_PROVIDER) return 'From a wallet';
  return provider === MULTI_PROVIDER ? 'Any provider' : providerCatalogue[provider].name;
}

/**
 * The provider of a payment in a list. If the customer chose it, it is the provider of the last session that started
 * before the payment was paid: the chain does not record who delivered.
 */
export function usedProvider({ provider }: Pick<Payment, 'provider'>, session: ProviderId | undefined): Html {
  return provider === MULTI_PROVIDER && session !== undefined
    ? html`${providerName(session)} <span class="soft small">last session</span>`
    : html`${providerName(provider)}`;
}

/** The reasons of a failed webhook delivery, in words. */
export function reasonSentence(reason: string | null): string {
  if (reason === null) return '';
  const status = /^http_(\d+)$/.exec(reason)?.[1];
  if (status !== undefined) return `The endpoint answered ${status}; only 2xx counts as received.`;
  return reasonSentences[reason] ?? reason;
}

const reasonSentences: Readonly<Record<string, string>> = {
  blocked_url: 'The callback address breaks the rules by now; nothing was sent.',
  blocked_address: 'The host’s name led to an address that is not public; nothing was sent.',
  blocked_own_address: 'The host’s name led to this service itself; nothing was sent.',
  dns_failed: 'The host’s name does not exist.',
  dns_timeout: 'The name servers did not answer in time.',
  connect_failed: 'No connection could be made.',
  connect_refused: 'The host refused the connection.',
  connect_timeout: 'The host did not accept the connection in time.',
  tls_expired: 'The certificate has expired.',
  tls_failed: 'No encrypted connection could be agreed on.',
  tls_not_yet_valid: 'The certificate is not valid yet.',
  tls_self_signed: 'The certificate is self-signed.',
  tls_timeout: 'The encrypted connection was not made in time.',
  tls_untrusted: 'The certificate is from nobody who is trusted.',
  tls_version: 'The host speaks only versions of TLS that are not safe any more.',
  tls_wrong_host: 'The certificate is for another host.',
  invalid_response: 'What the endpoint answered is not HTTP.',
  response_headers_too_large: 'The headers of the answer were too large.',
  too_many_interim_responses: 'The endpoint sent preliminary answers without end.',
  no_response: 'The connection ended without an answer; the event may have arrived.',
  reset: 'The connection was reset after the event was sent; it may have arrived.',
  timeout: 'No answer came within ten seconds; the event may have arrived.',
  interrupted: 'The service was interrupted while it sent the event; it may have arrived.',
  signing_key_missing: 'The secret that the payment’s ipn_token was made with is not known any more.',
  internal_error: 'A mistake of this service; the operator’s log says more.',
};
