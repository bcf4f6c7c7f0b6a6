import type { Address } from '../payment/address.ts';
import { ServiceError } from '../payment/errors.ts';
import { isPlausibleQuote } from '../payment/fees-and-paid-threshold.ts';
import { type Currency, currencies, formatCents, formatUnits } from '../payment/money.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { PaymentView } from '../payment/payment-store.ts';
import { NATIVE_USDC, type ProviderId, providerCatalog } from '../payment/provider-catalog.ts';
import { redactText } from '../platform/redact.ts';
import type { VerifiedChain } from '../settlement/chain/chain.ts';
import {
  DeclinedRequestError,
  MalformedAnswerError,
  ProviderAnswerError,
  ProviderBusyError,
} from './adapters/provider-http.ts';
import type {
  ProviderAdapter,
  QuoteRequest,
  RecordedAnswer,
  SessionRequest,
  StartedSession,
} from './provider.ts';
import { onlyCurrencyOf } from './provider-availability.ts';
import type { EvidenceStep, EvidenceStore, ProviderEvidence } from './provider-evidence.ts';

export interface TrialRequest {
  readonly provider: ProviderId;
  readonly amountCents: number;
  readonly currency: Currency;
  readonly usdUnitsOf: (amountCents: number, currency: Currency) => Promise<bigint>;
  readonly country: string | null;
  /** Public IP address from which the page is opened; null if not given. */
  readonly customerIp: string | null;
  /** The operator's own wallet, so that an accidental payment is not lost. */
  readonly wallet: Address;
  readonly newPaymentId: () => PaymentId;
  readonly returnUrl: string;
}

type Outcome = Pick<EvidenceStep, 'outcome' | 'detail'>;

export interface CheckedStep extends Outcome {
  readonly step: 'credentials' | 'quote' | 'session' | 'webhooks';
}

/** Requests a quote and starts a session, both without the circuit breaker. Describes any failure. Pays nothing. */
export async function checkProvider(
  request: TrialRequest,
  guarded: ProviderAdapter | undefined,
  requiredVariables: readonly string[],
): Promise<readonly CheckedStep[]> {
  if (guarded === undefined) {
    const detail = `Credentials are missing: set ${requiredVariables.join(', ')}, and restart.`;
    return [{ step: 'credentials', outcome: 'failed', detail }];
  }
  const adapter = guarded.unguarded ?? guarded;
  return [
    { step: 'credentials', ...fine('The credentials are configured.') },
    await attempt('quote', () => askQuote(adapter, request, request.currency)),
    await attempt('session', async () => {
      const { redirectUrl } = await startSession(adapter, request);
      return fine(`A session was created. Open it, but do not pay: ${redirectUrl}`);
    }),
    { step: 'webhooks', ...fine(describeWebhooks(adapter)) },
  ];
}

const fine = (detail: string): Outcome => ({ outcome: 'fine', detail });

async function attempt<Step extends string>(step: Step, work: () => Promise<Outcome>) {
  try {
    return { step, ...(await work()) };
  } catch (error) {
    return { step, outcome: 'failed' as const, detail: describeFailure(error) };
  }
}

async function askQuote(
  adapter: ProviderAdapter,
  request: TrialRequest,
  currency: Currency,
): Promise<Outcome> {
  const asked = await quoteRequestOf(request, currency);
  const { chargedCents, deliveryUnits, minimumUsdCents } = await adapter.quote(asked);
  const charge = `${formatCents(chargedCents)} ${currency}`;
  const minimum = minimumUsdCents === null ? '' : ` Its minimum is ${formatCents(minimumUsdCents)} USD.`;
  if (deliveryUnits === null) return fine(`It responded to ${charge} without a price.${minimum}`);
  requirePlausible(request.provider, asked, deliveryUnits);
  return fine(`It would deliver ${formatUnits(deliveryUnits)} USDC for ${charge}.${minimum}`);
}

async function quoteRequestOf(
  { amountCents, country, customerIp, usdUnitsOf }: TrialRequest,
  currency: Currency,
): Promise<QuoteRequest> {
  const usdUnits = await usdUnitsOf(amountCents, currency);
  return { amountCents, currency, usdUnits, customerCountry: country, customerIp };
}

async function startSession(adapter: ProviderAdapter, request: TrialRequest) {
  const { country, wallet, returnUrl } = request;
  if (adapter.needsCountry === true && country === null)
    throw new ServiceError('invalid_request', 'The provider needs a country. Specify one with --country.');
  const paymentId = request.newPaymentId();
  const asked: SessionRequest = {
    ...(await quoteRequestOf(request, request.currency)),
    paymentId,
    customerReference: paymentId,
    depositAddress: wallet,
    email: null,
    returnUrl,
  };
  const session = await adapter.startSession(asked);
  if (session.quotedUnits !== null) requirePlausible(request.provider, asked, session.quotedUnits);
  return session;
}

function requirePlausible(
  provider: ProviderId,
  { amountCents, currency, usdUnits }: QuoteRequest,
  units: bigint,
): void {
  if (isPlausibleQuote(provider, units, usdUnits)) return;
  const charge = `${formatCents(amountCents)} ${currency}`;
  throw new Error(`It quotes ${formatUnits(units)} USDC for ${charge}, which is implausible.`);
}

function describeWebhooks({ readWebhook, routedThrough }: ProviderAdapter): string {
  if (routedThrough !== undefined)
    return `They go to the webhook URL of ${providerCatalog[routedThrough].name}. Check that provider.`;
  return readWebhook === undefined
    ? 'Webhooks are rejected: no key is configured, or their signature scheme is unknown. The checkout page relies on the chain instead.'
    : 'Webhooks can be verified. The first payment shows whether the provider sends them.';
}

function describeFailure(error: unknown): string {
  if (!(error instanceof ServiceError)) return messageOf(error);
  const { cause } = error;
  if (cause === undefined) return error.message;
  const message = messageOf(cause);
  if (error.errorName === 'provider_inactive')
    return `It rejected the credentials, or the IP address of this server: ${message}.`;
  if (cause instanceof DeclinedRequestError)
    return `It declined the request: ${message}. Check its terms for amount, currency and country.`;
  if (cause instanceof MalformedAnswerError || cause instanceof ProviderAnswerError)
    return `The response has an unknown format: ${message}. The header of the adapter file lists what is unverified.`;
  if (cause instanceof ProviderBusyError) return `It limits requests: ${message}.`;
  const isLate = cause instanceof Error && cause.name === 'TimeoutError';
  return isLate ? 'It did not respond in time.' : `The call failed: ${message}.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface ProveRequest extends TrialRequest {
  readonly adapter: ProviderAdapter;
  readonly nowMs: () => number;
  /** Waits between two calls, because some providers allow only a few per second. */
  readonly pause: () => Promise<void>;
}

/** Burn address, whose private key is unknown. The altered URL contains this address and must never be paid. */
export const FOREIGN_WALLET = '0x000000000000000000000000000000000000dEaD';

/** Reads the catalog, requests a quote in each currency, and starts two sessions. Pays nothing. */
export async function tryProvider(request: ProveRequest) {
  const answers: RecordedAnswer[] = [];
  const { adapter } = request;
  const work = () => collect(request, answers);
  const { steps, sessions, offers } = await (adapter.recordAnswers?.(answers, work) ?? work());
  const [session, other] = sessions;
  const evidence: ProviderEvidence = {
    provider: request.provider,
    environment: adapter.endpoint?.environment ?? 'simulated',
    urls: adapter.endpoint?.urls ?? [],
    atMs: request.nowMs(),
    charge: `${formatCents(request.amountCents)} ${request.currency}`,
    country: request.country,
    steps: steps.map((each) => ({ ...each, detail: redactText(each.detail) })),
    confirmedAtMs: null,
    purchase: null,
  };
  return {
    evidence,
    facts: {
      amount: formatCents(request.amountCents),
      currency: request.currency,
      asset: 'USDC',
      network: 'Polygon',
      wallet: request.wallet,
    },
    url: session?.redirectUrl ?? null,
    /** URL of the second session with another wallet. The provider must refuse it or restore the right wallet. */
    alteredUrl: other === undefined ? null : alter(other.redirectUrl, request.wallet),
    answers,
    offers,
  };
}

export async function readOffers(request: ProveRequest): Promise<EvidenceStep[]> {
  const steps: EvidenceStep[] = [await attempt('catalog', () => readCatalog(request))];
  const { provider, adapter } = request;
  const onlyCurrency = onlyCurrencyOf(new Map([[provider, adapter]]), provider);
  for (const currency of currencies) {
    if (onlyCurrency !== null && currency !== onlyCurrency) continue;
    await request.pause();
    const quote = await attempt('quote', () => askQuote(adapter, request, currency));
    // Few providers accept all four currencies, so only the quote in the proof's currency must succeed.
    const outcome = quote.outcome === 'failed' && currency !== request.currency ? 'skipped' : quote.outcome;
    steps.push({ ...quote, outcome, detail: `${currency}: ${quote.detail}` });
  }
  return steps;
}

async function collect(request: ProveRequest, answers: readonly RecordedAnswer[]) {
  const steps = await readOffers(request);
  const offers = [...answers];
  const sessions: StartedSession[] = [];
  for (let count = 0; count < 2; count++) {
    await request.pause();
    const step = await attempt('session', async () => {
      sessions.push(await startSession(request.adapter, request));
      return fine('A session was created.');
    });
    if (step.outcome === 'failed' || count === 1) {
      steps.push(step);
      break;
    }
  }
  const [session] = sessions;
  if (session !== undefined) steps.push(readLocks(request, session, answers.slice(offers.length)));
  return { steps, sessions, offers };
}

async function readCatalog(request: ProveRequest) {
  const { adapter, amountCents, currency } = request;
  if (adapter.readCatalog === undefined)
    return { outcome: 'skipped' as const, detail: 'No catalog is known.' };
  const entry = await adapter.readCatalog(await quoteRequestOf(request, currency));
  const limit = (cents: number | null) =>
    cents === null ? 'not stated' : `${formatCents(cents)} ${currency}`;
  const detail = `${entry.asset}, contract ${entry.tokenContract ?? 'not stated'}, minimum ${limit(entry.minimumCents)}, maximum ${limit(entry.maximumCents)}.`;
  const isWithin =
    amountCents >= (entry.minimumCents ?? 0) &&
    amountCents <= (entry.maximumCents ?? Number.MAX_SAFE_INTEGER);
  return isWithin
    ? fine(detail)
    : { outcome: 'failed' as const, detail: `${detail} The amount is outside of the limits.` };
}

/** Lists the locked values that the session's URL or the provider's answers repeat. The page must show the rest. */
function readLocks(
  { amountCents, currency, wallet }: ProveRequest,
  { redirectUrl }: StartedSession,
  answers: readonly RecordedAnswer[],
): EvidenceStep {
  const said = [...new URL(redirectUrl).searchParams, ...answers.flatMap(({ body }) => valuesOf(body))];
  const says = (name: RegExp, expected: readonly string[]) =>
    said.some(([key, value]) => name.test(key) && expected.includes(value.toLowerCase()));
  const amounts = [formatCents(amountCents), String(amountCents), String(amountCents / 100)];
  const read: readonly (readonly [string, boolean])[] = [
    ['wallet', says(/./, [wallet.toLowerCase()])],
    ['amount', says(/amount|value/i, amounts)],
    ['currency', says(/currency|fiat|inAsset/i, [currency.toLowerCase()])],
    ['asset', says(/./, ['usdc', 'matic_usdc', 'usdc_polygon', 'usdc-pol'])],
    ['network', says(/./, ['polygon', 'matic', 'matic_usdc', 'usdc_polygon', 'usdc-pol'])],
  ];
  const namesOf = (isRead: boolean) =>
    read
      .filter(([, each]) => each === isRead)
      .map(([name]) => name)
      .join(', ');
  const [confirmed, others] = [namesOf(true) || 'nothing', namesOf(false)];
  const detail = `The session confirms: ${confirmed}.${others === '' ? '' : ` Only the page shows: ${others}.`}`;
  return { step: 'locks', ...fine(detail) };
}

const MAXIMUM_DEPTH = 8;

function valuesOf(value: unknown, key = '', depth = 0): readonly (readonly [string, string])[] {
  if (typeof value === 'string' || typeof value === 'number') return [[key, String(value)]];
  if (typeof value !== 'object' || value === null || depth > MAXIMUM_DEPTH) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    valuesOf(each, Array.isArray(value) ? key : name, depth + 1),
  );
}

/** Replaces the operator's wallet in a URL with `FOREIGN_WALLET`, or appends the latter if the URL has no wallet. */
function alter(redirectUrl: string, wallet: string): string {
  const altered = redirectUrl.replaceAll(new RegExp(wallet, 'gi'), FOREIGN_WALLET);
  if (altered !== redirectUrl) return altered;
  const url = new URL(redirectUrl);
  url.searchParams.append('walletAddress', FOREIGN_WALLET);
  return url.href;
}

/** Reads the newest evidence. Throws `not_found` if it is missing, for another environment, or has a failed step. */
async function usableEvidence(store: EvidenceStore, adapter: ProviderAdapter): Promise<ProviderEvidence> {
  const evidence = await store.readEvidence(adapter.id);
  const hasFailed = evidence?.steps.some(({ outcome }) => outcome === 'failed') ?? true;
  if (evidence === null || hasFailed || evidence.environment !== adapter.endpoint?.environment)
    throw new ServiceError(
      'not_found',
      `Run \`provider prove ${adapter.id}\` first, until each of its steps succeeds.`,
    );
  return evidence;
}

/** Time limit for confirming a run's page, because the operator may see a different page days later. */
const CONFIRMATION_MS = 2 * 60 * 60_000;

/** Adds the operator's confirmation that the page shows the five values of `readLocks` and refuses the altered URL. */
export async function confirmPage(store: EvidenceStore, adapter: ProviderAdapter, nowMs: number) {
  const evidence = await usableEvidence(store, adapter);
  if (nowMs - evidence.atMs > CONFIRMATION_MS)
    throw new ServiceError('not_found', 'The last run is over two hours old. Run the command anew.');
  return { ...evidence, confirmedAtMs: nowMs };
}

/** Adds a purchase to the evidence: a paid payment with a session at this provider and a transfer on the chain. */
export async function recordPurchase(
  store: EvidenceStore,
  adapter: ProviderAdapter,
  view: PaymentView,
  token: string,
  chain: VerifiedChain | null,
): Promise<ProviderEvidence> {
  const evidence = await usableEvidence(store, adapter);
  const { payment, sessions } = view;
  const session = sessions.findLast(({ provider }) => provider === adapter.id);
  if (session === undefined)
    throw new ServiceError('not_found', 'The payment has no session at this provider.');
  if (payment.status !== 'paid' || payment.paidAtMs === null)
    throw new ServiceError('not_found', 'The payment is not paid yet.');
  const purchase = {
    paidAtMs: payment.paidAtMs,
    charged: `${formatCents(payment.amountCents)} ${payment.currency}`,
    ...(await readDelivery(view, chain)),
    token,
    isNativeUsdc: token.toLowerCase() === NATIVE_USDC.toLowerCase(),
    webhook: session.progress,
  };
  return { ...evidence, purchase };
}

/** Reads the purchase's transfer from the chain again. */
async function readDelivery({ payment, observations }: PaymentView, chain: VerifiedChain | null) {
  const deposit = observations.deposits.find(({ transactionHash }) => transactionHash === payment.txidIn);
  const { blockNumber = 0 } = deposit ?? {};
  const recipients = [payment.depositAddress];
  const range = { fromBlock: blockNumber, toBlock: blockNumber, recipients };
  const found = await chain?.reader.withView((view) => view.readLogs({ ...range, withReleases: false }));
  const transfer = found?.transfers.find(({ transactionHash }) => transactionHash === payment.txidIn);
  if (transfer === undefined)
    throw new ServiceError('not_found', 'The chain does not show the transfer of this payment.');
  return { transaction: transfer.transactionHash, delivered: formatUnits(transfer.units) };
}
