import { ServiceError } from '../domain/errors.ts';
import { type Currency, formatCents, formatUnits } from '../domain/money.ts';
import { isPlausibleQuote } from '../domain/paid-threshold.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import type { ProviderAdapter, SessionRequest } from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';

/** The request of a check, which uses the provider's own API and the operator's credentials. */
export interface ProviderCheckRequest {
  readonly provider: ProviderId;
  /** As the service has it, with or without a circuit breaker; undefined where it is not configured. */
  readonly adapter: ProviderAdapter | undefined;
  readonly requiredVariables: readonly string[];
  readonly amountCents: number;
  readonly currency: Currency;
  /** The amount's value in USD, 10⁻⁶ units. */
  readonly usdUnits: bigint;
  readonly country: string | null;
  /** The operator's own wallet: no payment is intended, but an accidental one is not lost. */
  readonly wallet: Address;
  readonly paymentId: PaymentId;
  readonly returnUrl: string;
}

/** One thing that was tried. */
export interface CheckedStep {
  readonly step: 'credentials' | 'quote' | 'session' | 'webhooks';
  readonly isFine: boolean;
  /** The result, as text for the operator. */
  readonly detail: string;
}

/** Asks for a quote and starts a session, past the circuit breaker; what fails is said in words. Nothing is paid. */
export async function checkProvider(request: ProviderCheckRequest): Promise<readonly CheckedStep[]> {
  const { adapter } = request;
  if (adapter === undefined) return [missingCredentials(request)];
  const unguarded = adapter.unguarded ?? adapter;
  return [
    { step: 'credentials', isFine: true, detail: 'They are configured.' },
    await attempt('quote', () => checkQuote(unguarded, request)),
    await attempt('session', () => checkSession(unguarded, request)),
    checkWebhooks(unguarded),
  ];
}

function missingCredentials({ requiredVariables }: ProviderCheckRequest): CheckedStep {
  const detail = `There are none: set ${requiredVariables.join(', ')}, and restart.`;
  return { step: 'credentials', isFine: false, detail };
}

async function attempt(step: CheckedStep['step'], work: () => Promise<string>): Promise<CheckedStep> {
  try {
    return { step, isFine: true, detail: await work() };
  } catch (error) {
    return { step, isFine: false, detail: describeFailure(error) };
  }
}

async function checkQuote(adapter: ProviderAdapter, request: ProviderCheckRequest): Promise<string> {
  const { deliveryUnits, minimumUsdCents } = await adapter.quote(quoteOf(request));
  const minimum = minimumUsdCents === null ? '' : ` It sells from ${formatCents(minimumUsdCents)} USD on.`;
  if (deliveryUnits === null) return `It answered, and names no price.${minimum}`;
  requirePlausible(request, deliveryUnits);
  return `It would deliver ${formatUnits(deliveryUnits)} USDC for ${chargeOf(request)}.${minimum}`;
}

async function checkSession(adapter: ProviderAdapter, request: ProviderCheckRequest): Promise<string> {
  if (adapter.needsCountry === true && request.country === null)
    return 'Not tried: it needs to know a country. Name one with --country.';
  const { redirectUrl, quotedUnits } = await adapter.startSession(sessionOf(request));
  if (quotedUnits !== null) requirePlausible(request, quotedUnits);
  return `A session was made. Look at it, but do not pay there: ${redirectUrl}`;
}

function checkWebhooks(adapter: ProviderAdapter): CheckedStep {
  const { readWebhook, routedThrough } = adapter;
  if (routedThrough !== undefined) {
    const detail = `They come to the address of ${providerCatalogue[routedThrough].name}; check that one.`;
    return { step: 'webhooks', isFine: true, detail };
  }
  const detail =
    readWebhook === undefined
      ? 'None are taken: no key for them is configured, or nobody knows how they are signed. The page learns from the chain.'
      : 'They can be verified. Whether the provider sends any shows with the first payment.';
  return { step: 'webhooks', isFine: true, detail };
}

function chargeOf({ amountCents, currency }: ProviderCheckRequest): string {
  return `${formatCents(amountCents)} ${currency}`;
}

function quoteOf({ amountCents, currency, usdUnits, country }: ProviderCheckRequest) {
  return { amountCents, currency, usdUnits, customerCountry: country };
}

function sessionOf(request: ProviderCheckRequest): SessionRequest {
  const { paymentId, wallet, returnUrl } = request;
  return { ...quoteOf(request), paymentId, depositAddress: wallet, email: null, returnUrl };
}

function requirePlausible(request: ProviderCheckRequest, units: bigint): void {
  if (isPlausibleQuote(request.provider, units, request.usdUnits)) return;
  throw new Error(
    `It quotes ${formatUnits(units)} USDC for ${chargeOf(request)}, which is too far from that to be believed.`,
  );
}

/** Describes an adapter's error to the operator who has to fix it. */
function describeFailure(error: unknown): string {
  if (!(error instanceof ServiceError)) return messageOf(error);
  const { cause } = error;
  if (cause === undefined) return error.message;
  const message = messageOf(cause);
  if (error.errorName === 'provider_inactive')
    return `It refuses the credentials, or this server's address: ${message}.`;
  switch (cause instanceof Error ? cause.name : '') {
    case 'DeclinedRequestError':
      return `It declined the request: ${message}. Its terms for amount, currency or country may say why.`;
    case 'MalformedAnswerError':
    case 'SyntaxError':
      return `It answered in another form than this adapter knows: ${message}. The head of the adapter says what is unverified.`;
    case 'ProviderBusyError':
      return `It is asked too often: ${message}.`;
    case 'TimeoutError':
      return 'It did not answer in time.';
    default:
      return `It could not be used: ${message}.`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
