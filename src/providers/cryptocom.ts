/**
 * Crypto.com Onramp: a payment is made with the account's secret key, and its page opened.
 *
 * Sources, gathered 2026-11; no live API has been called. It is a limited beta (documentation of a partner), so it stays
 * off until the operator says that Crypto.com has confirmed it for their account.
 * - Unverified, seen in public code of others: `POST https://pay.crypto.com/api/payments` with a bearer key, `amount` in
 *   minor units, `currency`, `crypto_currency`, `network`, `wallet_address`, `order_id`, `return_url`, `cancel_url`, and the
 *   `id` and `payment_url` of its answer; `GET /api/payments?limit=1`, which lists payments and is asked only to learn
 *   whether the service is there and takes the key.
 * - Unknown: what it calls Polygon, here `polygon`; whether `wallet_address` is locked, so an answer that names another
 *   wallet is not used; a quote, so there is none and the delivery is assumed; how its webhooks are signed
 *   (`Pay-Signature`), so none are taken and the page learns of the payment from the chain alone.
 */
import type { Quote, SessionRequest, StartedSession } from '../domain/ports/provider.ts';
import { baseUrlVariable, defineProvider, oneOf, type ProviderSettings, secret } from './define-provider.ts';
import { type Call, LINK_LIFETIME_MS, requireSuccess } from './protocol-adapter.ts';
import { fieldsOf, MalformedAnswerError, readRedirectUrl, readReference } from './provider-http.ts';

/** The required value of `CRYPTOCOM_ONRAMP`. */
export const CONFIRMED = 'confirmed';

export const cryptocom = defineProvider<Account>({
  id: 'cryptocom',
  hosts: { api: { production: 'https://pay.crypto.com' } },
  variables: [
    secret('API_KEY', 'The secret key; without it, the provider is inactive.'),
    oneOf('ONRAMP', `\`${CONFIRMED}\` once Crypto.com has confirmed the on-ramp for your account.`, [
      CONFIRMED,
    ]),
    baseUrlVariable,
  ],
  account: accountOf,
  quote: (account, _request, call) => probeAvailability(account, call),
  startSession,
});

type Account = ReturnType<typeof accountOf>;

function accountOf(settings: ProviderSettings) {
  return { ...settings, apiUrl: settings.host('api'), apiKey: settings.value('API_KEY') };
}

/**
 * Requests a list of one payment, because there are no quotes: a checkout that cannot be paid is refused when it is
 * created, and not when its customer clicks. That there is no such list is an answer, too.
 */
async function probeAvailability({ apiUrl, apiKey }: Account, call: Call): Promise<Quote> {
  const answer = await call({
    method: 'GET',
    url: `${apiUrl}/api/payments?limit=1`,
    headers: { authorization: `Bearer ${apiKey}` },
  });
  if (answer.status !== 404 && answer.status !== 405) requireSuccess('cryptocom', answer);
  return { deliveryUnits: null, minimumUsdCents: null };
}

async function startSession(account: Account, request: SessionRequest, call: Call): Promise<StartedSession> {
  const answer = await call({
    method: 'POST',
    url: `${account.apiUrl}/api/payments`,
    headers: { authorization: `Bearer ${account.apiKey}` },
    body: {
      amount: request.amountCents,
      currency: request.currency,
      crypto_currency: 'USDC',
      network: 'polygon',
      wallet_address: request.depositAddress,
      order_id: request.paymentId,
      return_url: request.returnUrl,
      cancel_url: request.returnUrl,
    },
  });
  const payment = fieldsOf(requireSuccess('cryptocom', answer));
  const wallet = payment['wallet_address'];
  if (typeof wallet === 'string' && wallet.toLowerCase() !== request.depositAddress.toLowerCase())
    throw new MalformedAnswerError('cryptocom made a payment for another wallet');
  return {
    redirectUrl: readRedirectUrl(payment['payment_url']),
    providerReference: readReference(payment['id']),
    expiresAtMs: account.nowMs() + LINK_LIFETIME_MS,
    quotedUnits: null,
  };
}
