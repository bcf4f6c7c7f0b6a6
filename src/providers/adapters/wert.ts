/**
 * Wert: creates a session with the partner's key. The customer opens the session's page. A conversion adds fees to the
 * amount, and a session deducts them from the delivery. Webhooks are not signed, so a webhook is only a trigger. The
 * webhook URL must contain a secret token, and the status is read from Wert's API.
 */
import { formatCents, UNITS_PER_CENT } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { isSameText } from '../../platform/keyed-hash.ts';
import { ProviderWebhookRefusedError, type QuoteRequest } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import { readProgress, readWebhookFields } from './webhook-signature.ts';

/** Statuses of an order, most advanced first, because a customer who tries twice has two orders. */
const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['success', 'delivered'],
  ['progress', 'delivering'],
  ['pending', 'paying'],
  ['created', 'paying'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
]);

export const wert = defineProvider({
  id: 'wert',
  hosts: {
    partner: { production: 'https://partner.wert.io', sandbox: 'https://partner-sandbox.wert.io' },
    api: { production: 'https://widget.wert.io', sandbox: 'https://sandbox.wert.io' },
    widget: { production: 'https://widget.wert.io', sandbox: 'https://sandbox.wert.io' },
  },
  variables: [
    variable.secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    variable.plain('PARTNER_ID', 'The partner id, part of the widget URL.'),
    variable.webhookSecret(
      'NOTICE_TOKEN',
      'A random value that you choose, sent as `token` in the query of the webhook URL',
    ),
    ...variable.environment,
  ],
  facts: {
    inferred: [
      'The `currency_amount` of a conversion, "the final amount in fiat that the user will pay" (docs.wert.io, Converter), is the total of the session as well; no official source says what a session charges.',
      'Fees come on top of a conversion, `amount * fee_percent + currency_miner_fee`, and out of the `currency_amount` of a session (a public integration passes the widget the sum of both).',
      'The other fields of a session, of which `simple_full_restrict` locks them; `sessionId`; `commodity_amount`; the fields of a webhook.',
    ],
    unknown: ['Whether `search_by` takes our id, and the states of an order there.'],
  },
  fees: 'included',
  account: ({ value }) => ({ partnerId: value('PARTNER_ID') }),

  async quote({ urls, partnerId }, request, call) {
    const answer = await call.fields({
      url: `${urls.api}/api/v3/partners/convert`,
      headers: { 'x-partner-id': partnerId },
      body: {
        from: request.currency,
        network: 'polygon',
        to: 'USDC',
        amount: Number(formatCents(request.amountCents)),
      },
    });
    const conversion = answers.fieldsOf(answer['body']);
    const chargedCents =
      answers.readCentsOrNull(conversion['currency_amount'], 'currency_amount') ?? request.amountCents;
    return { chargedCents, deliveryUnits: lessFees(conversion, request, chargedCents) };
  },

  async startSession({ urls, apiKey, partnerId }, request, call) {
    const answer = await call.ofCustomer.fields({
      url: `${urls.partner}/api/external/hpp/create-session`,
      headers: { 'x-api-key': apiKey },
      body: {
        flow_type: 'simple_full_restrict',
        wallet_address: request.depositAddress,
        currency: request.currency,
        currency_amount: Number(formatCents(request.amountCents)),
        commodity: 'USDC',
        network: 'polygon',
      },
    });
    const providerReference = answers.readReference(answer['sessionId']);
    const query = new URLSearchParams({
      session_id: providerReference,
      click_id: request.paymentId,
      redirect_url: request.returnUrl,
      ...(request.email === null ? {} : { email: request.email }),
    });
    const redirectUrl = `${urls.widget}/${encodeURIComponent(partnerId)}/widget?${query}`;
    return { redirectUrl, providerReference };
  },

  async readWebhook({ urls, apiKey, webhookSecret }, webhook, call) {
    const token = new URL(webhook.target, 'http://localhost').searchParams.get('token') ?? '';
    if (!isSameText(token, webhookSecret))
      throw new ProviderWebhookRefusedError('the address of the webhook does not carry the token');
    const { type, click_id: paymentId, order } = readWebhookFields(webhook.body);
    // Ignores test webhooks, which Wert's partner page can send.
    if (type === 'test' || typeof paymentId !== 'string' || paymentId === '') return null;
    const { data: orders } = await call.fields({
      url: `${urls.partner}/api/external/orders`,
      query: { search_by: paymentId },
      headers: { 'x-api-key': apiKey },
    });
    const walletAddress = order === undefined || order === null ? null : answers.fieldsOf(order)['address'];
    return {
      paymentId,
      progress: progressOf(orders),
      walletAddress: answers.readTextOrNull(walletAddress),
      // The status was read just now, even if the webhook is older.
      atMs: webhook.receivedAtMs,
    };
  },
});

/** Returns the delivery for this charge, rounded down. Deducts the conversion's fees unless the charge covers them. */
function lessFees(
  conversion: answers.AnswerFields,
  { amountCents }: QuoteRequest,
  chargedCents: number,
): bigint {
  const units = answers.readDecimalUnits(conversion['commodity_amount'], 'commodity_amount');
  const amountUnits = BigInt(amountCents) * UNITS_PER_CENT;
  const chargedUnits = BigInt(chargedCents) * UNITS_PER_CENT;
  // `fee_percent` is a fraction of one, despite its name.
  const share = answers.readUnitsOrNull(conversion['fee_percent'], 'fee_percent') ?? 0n;
  const fixed = answers.readUnitsOrNull(conversion['currency_miner_fee'], 'currency_miner_fee') ?? 0n;
  const withFees = amountUnits + (amountUnits * share) / 1_000_000n + fixed;
  return chargedUnits < withFees ? (units * chargedUnits) / withFees : units;
}

/** Returns the most advanced progress of the orders that Wert lists for the payment id. */
function progressOf(orders: unknown): SessionProgress {
  if (!Array.isArray(orders)) throw new answers.MalformedAnswerError('there is no list of orders');
  if (orders.length === 0)
    throw new ProviderWebhookRefusedError('Wert knows no order for the id in the webhook');
  const found = answers.listOf(orders).map(({ status }) => readProgress('wert', progressOfStatus, status));
  return [...progressOfStatus.values()].find((progress) => found.includes(progress)) as SessionProgress;
}
