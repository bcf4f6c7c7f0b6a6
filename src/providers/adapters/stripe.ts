/**
 * Stripe's crypto onramp: a session is created, read back, and its page opened. Amount and currency cannot be locked,
 * so partial and excess deliveries are expected. `facts` lists what the adapter relies on, with sources.
 */
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import type { SessionRequest } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import * as webhooks from './webhook-signature.ts';

const SESSIONS = '/v1/crypto/onramp_sessions';
const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['initialized', 'paying'],
  ['requires_payment', 'paying'],
  ['fulfillment_processing', 'delivering'],
  ['fulfillment_complete', 'delivered'],
  ['rejected', 'failed'],
]);

export const stripe = defineProvider({
  id: 'stripe',
  hosts: { api: { production: 'https://api.stripe.com' } },
  variables: [
    variable.secret('API_KEY', 'The secret key (`sk_…`); without it, the provider is inactive.'),
    variable.webhookSecret('WEBHOOK_SECRET', "The webhook endpoint's secret (`whsec_…`)"),
    variable.baseUrl,
  ],
  facts: {
    official: [
      '`POST /v1/crypto/onramp_sessions` (a form), `redirect_url`, `crypto.onramp_session.updated`, the states; public preview for approved accounts (docs.stripe.com/crypto).',
      'No USDC on Polygon in the EU and New York; customers can change the amount (docs.stripe.com/crypto).',
    ],
    sdk: [
      '`wallet_addresses[polygon]`, `lock_wallet_address`, `customer_ip_address`; no `wallet_address` and no email address at creation; `wallet_address` and `wallet_addresses` of a session may be null (stripe/stripe-dotnet).',
      '`Stripe-Signature` (stripe; a test compares with it).',
    ],
    inferred: [
      '`GET /v1/crypto/onramp/quotes` and its answer; where the locks stand in a session.',
      'Some accounts ignored the lock silently, so a session whose lock cannot be read back is never shown.',
    ],
    unknown: ['How long the page opens, and whether a version header is needed.'],
  },
  traits: { currenciesSold: ['USD', 'EUR'] },
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),

  async quote({ urls }, request, call) {
    const answer = await call.fields({
      url: `${urls.api}/v1/crypto/onramp/quotes`,
      query: {
        source_currency: request.currency.toLowerCase(),
        source_amount: formatCents(request.amountCents),
        'destination_currencies[]': 'usdc',
        'destination_networks[]': 'polygon',
      },
    });
    const { polygon } = answers.fieldsOf(answer['destination_network_quotes']);
    const quote = answers.listOf(polygon ?? []).find((each) => each['destination_currency'] === 'usdc');
    if (quote === undefined) throw new answers.MalformedAnswerError('there is no quote for USDC on Polygon');
    return { deliveryUnits: answers.readDecimalUnits(quote['destination_amount'], 'destination_amount') };
  },

  async startSession({ urls }, request, call) {
    const { customerIp = null } = request;
    const body = new URLSearchParams({
      source_currency: request.currency.toLowerCase(),
      source_amount: formatCents(request.amountCents),
      destination_currency: 'usdc',
      destination_network: 'polygon',
      'destination_currencies[]': 'usdc',
      'destination_networks[]': 'polygon',
      'wallet_addresses[polygon]': request.depositAddress,
      lock_wallet_address: 'true',
      'metadata[payment_id]': request.paymentId,
      ...(customerIp === null ? {} : { customer_ip_address: customerIp }),
    });
    const sessions = `${urls.api}${SESSIONS}`;
    const { id, redirect_url: url } = await call.ofCustomer.fields({ url: sessions, body });
    const providerReference = answers.readReference(id);
    const session = await call.ofCustomer.fields({
      url: `${sessions}/${encodeURIComponent(providerReference)}`,
    });
    requireLocked(session, request);
    return { redirectUrl: answers.readRedirectUrl(url), providerReference };
  },

  async readWebhook({ webhookSecret }, webhook) {
    webhooks.requireTimedHmac(webhookSecret, webhook.headers['stripe-signature'], 'v1', webhook);
    const event = webhooks.readWebhookFields(webhook.body);
    if (event['type'] !== 'crypto.onramp_session.updated') return null;
    const session = answers.fieldsOf(answers.fieldsOf(event['data'])['object']);
    const { payment_id: paymentId } = answers.fieldsOf(session['metadata'] ?? {});
    if (typeof paymentId !== 'string') return null;
    const progress = webhooks.readProgress('stripe', progressOfStatus, session['status']);
    const [walletAddress = null] = walletsOf(answers.fieldsOf(session['transaction_details'] ?? {}));
    const { created } = event;
    const atMs = typeof created === 'number' ? created * 1000 : webhook.receivedAtMs;
    const providerReference = answers.readReference(session['id']);
    return { paymentId, providerReference, walletAddress, progress, atMs };
  },
});

/**
 * Requires the lock in the session as read back: a customer must not be able to pay another wallet, coin or network.
 */
function requireLocked(session: answers.AnswerFields, { depositAddress }: SessionRequest): void {
  const details = answers.fieldsOf(session['transaction_details']);
  const wallets = walletsOf(details);
  const isOnly = (name: string, value: string) => {
    const list = details[name];
    return Array.isArray(list) && list.length === 1 && list[0] === value;
  };
  const isLocked =
    details['lock_wallet_address'] === true &&
    // One of both may be null, but a wallet that is not read back is not known to be locked.
    wallets.length > 0 &&
    wallets.every((wallet) => wallet.toLowerCase() === depositAddress.toLowerCase()) &&
    isOnly('destination_currencies', 'usdc') &&
    isOnly('destination_networks', 'polygon');
  if (!isLocked) throw new Error('stripe made a session that is not locked to the deposit address');
}

/** Wallets of a session: the chosen one and those passed for each network. */
function walletsOf(details: answers.AnswerFields): readonly string[] {
  const byNetwork = details['wallet_addresses'] ?? {};
  return [details['wallet_address'], ...Object.values(answers.fieldsOf(byNetwork))]
    .filter((wallet) => wallet !== null && wallet !== undefined)
    .map(String);
}
