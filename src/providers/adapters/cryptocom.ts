/**
 * Crypto.com Onramp: creates a payment with the account's secret key. The customer opens the payment's page. The API is
 * that of Crypto.com Pay, which accepts payments for merchants and offers the on-ramp as a limited beta. An account
 * without the beta ignores the wallet and credits its own balance. Therefore, customers never see a payment that does
 * not echo wallet, asset and network. The only documented answer echoes neither wallet nor network, so the adapter is
 * off in production until the operator states that the account's answers do.
 */
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';

export const CONFIRMED = 'confirmed';
/** Value to set once `provider check` has found that the account's answers name the wallet. */
const CONFIRMS_WALLET = 'confirms-wallet';

export const cryptocom = defineProvider({
  id: 'cryptocom',
  hosts: { api: { production: 'https://pay.crypto.com' } },
  variables: [
    variable.secret('API_KEY', 'The secret key; without it, the provider is inactive.'),
    variable.oneOf(
      'ONRAMP',
      `\`${CONFIRMED}\` once Crypto.com has confirmed the on-ramp for your account; \`${CONFIRMS_WALLET}\` once \`provider check cryptocom\` starts a session too. Until then Crypto.com is inactive in production: its only documented answer confirms neither wallet nor network.`,
      [CONFIRMED, CONFIRMS_WALLET],
    ),
    variable.baseUrl,
  ],
  facts: {
    inferred: [
      'The on-ramp is a limited beta. Its answer has `id`, `amount`, `currency`, `paymentUrl` (a page called `set_wallet`), `cryptoCurrency` and `expiredAt`, but neither wallet nor network (documentation of Dynamic, a partner): an account that answers so cannot be used.',
      '`crypto_currency`, `network`, `wallet_address`, `expired_at`; `GET /api/payments?limit=1` as a test of key and service.',
    ],
    unknown: [
      'Its name of Polygon, here `polygon`; whether it echoes wallet, asset and network, without which a payment is refused.',
      'Whether fees are taken out of `amount`, which Crypto.com Pay charges as it is.',
      'Quotes, so that the delivery is assumed; the signature of webhooks (`Pay-Signature`), so that none are taken.',
    ],
  },
  traits: { withholdsEmail: true },
  fees: 'included',
  quotesInSession: true,
  blockedBecause: ({ isProduction, value }) =>
    isProduction && value('ONRAMP') !== CONFIRMS_WALLET
      ? `The only documented answer of Crypto.com's on-ramp confirms neither the wallet nor the network, so each payment would be refused. If provider check cryptocom starts a session with your account, set CRYPTOCOM_ONRAMP=${CONFIRMS_WALLET}.`
      : null,
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),

  /**
   * Lists one payment, because the API has no quotes. If the call fails, so does the creation of a checkout that could
   * not be paid. A missing list (404 or 405) also shows that the provider is up.
   */
  async quote({ urls }, _request, call) {
    const answer = await call.answer({ url: `${urls.api}/api/payments`, query: { limit: '1' } });
    if (answer.status !== 404 && answer.status !== 405) answers.requireSuccess('cryptocom', answer);
    return { deliveryUnits: null };
  },

  async startSession({ urls, nowMs }, request, call) {
    const payment = await call.ofCustomer.fields({
      url: `${urls.api}/api/payments`,
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
    // Requires an answer that confirms delivery of USDC on Polygon to the deposit address.
    const { depositAddress: wallet_address } = request;
    answers.requireStated(payment, { wallet_address, crypto_currency: 'USDC', network: 'polygon' });
    // `expired_at` is in seconds since 1970, or in ISO 8601.
    const expiresAt = payment['expired_at'];
    const statedMs = typeof expiresAt === 'number' ? expiresAt * 1000 : Date.parse(String(expiresAt));
    return {
      redirectUrl: answers.readRedirectUrl(payment['payment_url']),
      providerReference: answers.readReference(payment['id']),
      expiresAtMs: Number.isNaN(statedMs) ? nowMs() + PAGE_LIFETIME_MS : statedMs,
    };
  },
});

/** Lifetime of a payment page if the answer states no expiry. */
const PAGE_LIFETIME_MS = 5 * 60_000;
