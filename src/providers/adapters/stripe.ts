/**
 * Stripe's crypto onramp: creates a session and reads it back. The customer opens the session's page. Fees are added to
 * the source amount, so a smaller source amount is requested, whose total is the charge. Amount and currency cannot be
 * locked, so partial and excess deliveries are expected.
 */
import { ServiceError } from '../../payment/errors.ts';
import { type Currency, formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import type { Quote, QuoteRequest, SessionRequest } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import * as webhooks from './webhook-signature.ts';

const SESSIONS = '/v1/crypto/onramp_sessions';
/** Paths for quotes: the current one, and its predecessor, which the embedded onramp guide still shows. */
const QUOTE_PATHS = ['/v1/crypto/onramp_quotes', '/v1/crypto/onramp/quotes'] as const;
/** Error codes for a customer whose country or region Stripe does not serve. */
const UNSERVED = /^crypto_onramp_(unsupported_country|unsupportable_customer)$/;
/** Event type that Stripe's guides spell with a dot in one place and an underscore in another. */
const SESSION_EVENT = /^crypto\.onramp_session[._]updated$/;
/** Error codes for an account that cannot sell. */
const UNUSABLE = /^crypto_onramp_(disabled|merchant_not_properly_setup)$/;
/** Parameter that is not available to every account. */
const EMAIL = 'customer_information[email]';
const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['initialized', 'paying'],
  ['quote_ready', 'paying'],
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
    inferred: [
      'The state `quote_ready`.',
      'Customers on Polygon are in the United States only, without New York and Hawaii: sources contradict each other for the EU, where the notes of 2026-09-05 name USDC on Solana.',
      'The other path of quotes answers 404, or a 400 without an error of this API (OpenRampKit); where the locks stand in a session.',
      'Some accounts ignored the lock silently, so a session whose lock cannot be read back is never shown.',
    ],
    unknown: [
      'How long the page opens, and whether a version header is needed.',
      'Whether a session takes a `source_total_amount`, which error codes of the embedded components name; it is not sent.',
    ],
  },
  fees: 'on_top',
  traits: {
    currenciesSold: ['USD', 'EUR'],
    countriesServed: new Set(['US']),
    regionsNotServed: new Set(['US-NY', 'US-HI']),
  },
  quotesInSession: true,
  account: ({ urls }) => ({ quoteCharge: createQuotes(urls.api) }),
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),

  quote: ({ quoteCharge }, request, call) => quoteCharge(request, call),

  async startSession({ urls, quoteCharge }, request, call) {
    const { sourceCents, chargedCents, deliveryUnits } = await quoteCharge(request, call);
    const { customerIp = null } = request;
    const body = new URLSearchParams({
      source_currency: request.currency.toLowerCase(),
      source_amount: formatCents(sourceCents),
      destination_currency: 'usdc',
      destination_network: 'polygon',
      'destination_currencies[]': 'usdc',
      'destination_networks[]': 'polygon',
      'wallet_addresses[polygon]': request.depositAddress,
      lock_wallet_address: 'true',
      'metadata[payment_id]': request.paymentId,
      ...(request.email === null ? {} : { [EMAIL]: request.email }),
      ...(customerIp === null ? {} : { customer_ip_address: customerIp }),
    });
    const sessions = `${urls.api}${SESSIONS}`;
    const create = () => call.ofCustomer.answer({ url: sessions, body });
    let created = await create();
    if (codeOf(created) === 'parameter_unknown' && body.has(EMAIL)) {
      body.delete(EMAIL);
      created = await create();
    }
    if (UNSERVED.test(codeOf(created)))
      throw answers.countryNotServed('stripe', request.customerCountry ?? 'this region');
    const { id, redirect_url: url } = answers.fieldsOf(requireSuccess(created));
    const providerReference = answers.readReference(id);
    const session = await call.ofCustomer.fields({
      url: `${sessions}/${encodeURIComponent(providerReference)}`,
    });
    requireLocked(session, request, sourceCents);
    const redirectUrl = answers.readRedirectUrl(url);
    return { redirectUrl, providerReference, quotedUnits: deliveryUnits, chargedCents };
  },

  async readWebhook({ webhookSecret }, webhook) {
    webhooks.requireTimedHmac(webhookSecret, webhook.headers['stripe-signature'], 'v1', webhook);
    const event = webhooks.readWebhookFields(webhook.body);
    if (!SESSION_EVENT.test(String(event['type']))) return null;
    const session = answers.fieldsOf(answers.fieldsOf(event['data'])['object']);
    const { payment_id: paymentId } = answers.fieldsOf(session['metadata'] ?? {});
    if (typeof paymentId !== 'string') return null;
    const progress = webhooks.readProgress('stripe', progressOfStatus, session['status']);
    const [walletAddress = null] = walletsOf(answers.fieldsOf(session['transaction_details'] ?? {})).delivery;
    const { created } = event;
    const atMs = typeof created === 'number' ? created * 1000 : webhook.receivedAtMs;
    const providerReference = answers.readReference(session['id']);
    return { paymentId, providerReference, walletAddress, progress, atMs };
  },
});

/** Returns the body of a successful answer. Throws for others: `provider_inactive` if the account cannot sell. */
function requireSuccess(answer: answers.JsonAnswer): unknown {
  try {
    return answers.requireSuccess('stripe', answer);
  } catch (cause) {
    throw UNUSABLE.test(codeOf(answer)) ? new ServiceError('provider_inactive', undefined, { cause }) : cause;
  }
}

function codeOf({ body }: answers.JsonAnswer): string {
  return String((body as { error?: { code?: unknown } } | null | undefined)?.error?.code ?? '');
}

/** Quote for a source amount, to which fees are added. */
interface SourceQuote extends Pick<Quote, 'chargedCents' | 'deliveryUnits'> {
  readonly sourceCents: number;
}

/** Creates a function that requests quotes from the path that worked last, or else from the other path. */
function createQuotes(apiUrl: string) {
  let paths: readonly [string, string] = QUOTE_PATHS;
  async function read(query: Readonly<Record<string, string>>, call: answers.Call): Promise<unknown> {
    const [path, otherPath] = paths;
    const answer = await call.answer({ url: `${apiUrl}${path}`, query, acceptsPage: true });
    const isOfThisApi = /^(crypto_onramp|parameter)_/.test(codeOf(answer));
    if (answer.status === 404 || (answer.status === 400 && !isOfThisApi)) {
      const other = await call.answer({ url: `${apiUrl}${otherPath}`, query, acceptsPage: true });
      if (other.status === 200) {
        paths = [otherPath, path];
        return other.body;
      }
    }
    return requireSuccess(answer);
  }
  /** Ratio of source amount to charge in the last quote, by currency. */
  const shares = new Map<Currency, number>();
  return async ({ amountCents, currency }: QuoteRequest, call: answers.Call): Promise<SourceQuote> => {
    const ask = async (sourceCents: number) => {
      const query = {
        source_currency: currency.toLowerCase(),
        source_amount: formatCents(sourceCents),
        'destination_currencies[]': 'usdc',
        'destination_networks[]': 'polygon',
      };
      const answer = answers.fieldsOf(await read(query, call));
      const { polygon } = answers.fieldsOf(answer['destination_network_quotes']);
      const isUsdc = ({ destination_currency: coin }: answers.AnswerFields) => coin === 'usdc';
      const quote = answers.entryOf(polygon ?? [], 'USDC on Polygon', isUsdc);
      answers.requireNoOther(answer, { source_currency: currency });
      const deliveryUnits = answers.readDecimalUnits(quote['destination_amount'], 'destination_amount');
      return { sourceCents, chargedCents: totalCentsOf(quote, sourceCents), deliveryUnits };
    };
    const firstCents = Math.round(amountCents * (shares.get(currency) ?? 1));
    const quote = await scaleToCharge(amountCents, ask, firstCents);
    shares.set(currency, quote.sourceCents / quote.chargedCents);
    return quote;
  };
}

/** Returns the customer's total charge: the stated total, or else the sum of amount and fees. */
function totalCentsOf(quote: answers.AnswerFields, sourceCents: number): number {
  const fees = answers.fieldsOf(quote['fees'] ?? {});
  const feeCents = (name: string) =>
    answers.readCentsOrNull(fees[name], name) ?? Number(fees[name] ?? Number.NaN);
  const total =
    answers.readCentsOrNull(quote['source_total_amount'], 'source_total_amount') ??
    sourceCents + feeCents('network_fee_monetary') + feeCents('transaction_fee_monetary');
  if (total >= sourceCents) return total;
  throw new answers.MalformedAnswerError('the total is unknown or less than the amount');
}

/** Maximum unused part of the charge, because fees are rounded and may have steps. The larger limit applies. */
const LEFT_OVER_CENTS = 5;
const LEFT_OVER_PERCENT = 1;
/** Cents added to a reduction of the source amount, because rounded fees distort the ratio between two quotes. */
const ROUNDING_CENTS = 2;
/** Maximum quotes per charge. Together, they have the time limit of a single quote. */
const MAXIMUM_QUOTES = 3;

/**
 * Finds a quote whose total is the charge or slightly less. Each further quote scales the source amount by the ratio of
 * charge to total, or reduces it more if a fixed fee keeps the total too high. If fee steps leave no such total, finds
 * the lowest total above the charge, which the customer sees. Throws `DeclinedRequestError` if there is neither.
 *
 * @param firstCents amount of the first quote: the charge, or the charge scaled as in an earlier quote
 */
export async function scaleToCharge(
  chargeCents: number,
  ask: (sourceCents: number) => Promise<SourceQuote>,
  firstCents = chargeCents,
): Promise<SourceQuote> {
  let best: SourceQuote | null = null;
  let above: SourceQuote | null = null;
  let previous: SourceQuote | null = null;
  let sourceCents = firstCents;
  for (let asked = 0; asked < MAXIMUM_QUOTES; asked++) {
    const quote = await ask(sourceCents);
    const excessCents = quote.chargedCents - chargeCents;
    if (previous === null && quote.chargedCents >= sourceCents * 2)
      throw new answers.DeclinedRequestError('the fees are as high as the amount');
    if (excessCents > 0 && previous?.chargedCents === quote.chargedCents)
      throw new answers.DeclinedRequestError('the total does not depend on the amount');
    if (excessCents <= 0 && quote.chargedCents > (best?.chargedCents ?? 0)) best = quote;
    if (excessCents > 0 && quote.chargedCents < (above?.chargedCents ?? Number.POSITIVE_INFINITY))
      above = quote;
    if (excessCents <= 0 && excessCents >= -LEFT_OVER_CENTS) break;
    const scaledCents = (sourceCents * chargeCents) / quote.chargedCents;
    if (excessCents < 0) sourceCents = Math.floor(scaledCents);
    else if (previous === null) sourceCents = Math.round(scaledCents);
    else {
      const sourcePerCharged =
        (previous.sourceCents - sourceCents) / (previous.chargedCents - quote.chargedCents);
      // Never reduces by more than the excess, because the total falls by at least as much as the source amount.
      const fewerCents = Math.min(excessCents, Math.ceil(excessCents * sourcePerCharged) + ROUNDING_CENTS);
      sourceCents = Math.max(1, sourceCents - fewerCents);
    }
    previous = quote;
  }
  const maximumCents = Math.max(LEFT_OVER_CENTS, (chargeCents * LEFT_OVER_PERCENT) / 100);
  if (best !== null && chargeCents - best.chargedCents <= maximumCents) return best;
  if (above !== null) return above;
  throw new answers.DeclinedRequestError(`no amount leads to a charge of ${chargeCents} cents`);
}

/** Requires a locked session, because a customer must not be able to pay to another wallet, coin or network. */
function requireLocked(
  session: answers.AnswerFields,
  { depositAddress, currency }: SessionRequest,
  sourceCents: number,
): void {
  const details = answers.fieldsOf(session['transaction_details']);
  const { delivery, all } = walletsOf(details);
  const isOnly = (name: string, value: string) => {
    const list = details[name];
    return Array.isArray(list) && list.length === 1 && list[0] === value;
  };
  const isLocked =
    details['lock_wallet_address'] === true &&
    // Either delivery wallet may be null, but if both are, the lock cannot be verified.
    delivery.length > 0 &&
    all.every((wallet) => wallet.toLowerCase() === depositAddress.toLowerCase()) &&
    String(details['source_currency'] ?? currency).toUpperCase() === currency &&
    (answers.readCentsOrNull(details['source_amount'], 'source_amount') ?? sourceCents) === sourceCents &&
    isOnly('destination_currencies', 'usdc') &&
    isOnly('destination_networks', 'polygon');
  if (!isLocked) throw new Error('stripe made a session that is not locked to the deposit address');
}

/** Returns the delivery wallets (the chosen one and Polygon's) and all wallets of the session, without their tags. */
function walletsOf(details: answers.AnswerFields) {
  const { polygon, ...others } = answers.fieldsOf(details['wallet_addresses'] ?? {});
  const texts = (values: readonly unknown[]) => values.filter((value) => typeof value === 'string');
  const delivery = texts([details['wallet_address'], polygon]);
  return { delivery, all: [...delivery, ...texts(Object.values(others))] };
}
