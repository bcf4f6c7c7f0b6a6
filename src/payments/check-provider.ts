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
    { step: 'credentials', isFine: true, detail: 'The credentials are configured.' },
    await attempt('quote', () => checkQuote(unguarded, request)),
    await attempt('session', () => checkSession(unguarded, request)),
    checkWebhooks(unguarded),
  ];
}

function missingCredentials({ requiredVariables }: ProviderCheckRequest): CheckedStep {
  const detail = `Credentials are missing: set ${requiredVariables.join(', ')}, and restart.`;
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
  const minimum = minimumUsdCents === null ? '' : ` Its minimum is ${formatCents(minimumUsdCents)} USD.`;
  if (deliveryUnits === null) return `It responded without a price.${minimum}`;
  requirePlausible(request, deliveryUnits);
  return `It would deliver ${formatUnits(deliveryUnits)} USDC for ${chargeOf(request)}.${minimum}`;
}

async function checkSession(adapter: ProviderAdapter, request: ProviderCheckRequest): Promise<string> {
  if (adapter.needsCountry === true && request.country === null)
    return 'Skipped: the provider needs a country. Specify one with --country.';
  const { redirectUrl, quotedUnits } = await adapter.startSession(sessionOf(request));
  if (quotedUnits !== null) requirePlausible(request, quotedUnits);
  return `A session was created. Open it, but do not pay: ${redirectUrl}`;
}

function checkWebhooks(adapter: ProviderAdapter): CheckedStep {
  const { readWebhook, routedThrough } = adapter;
  if (routedThrough !== undefined) {
    const detail = `They go to the webhook URL of ${providerCatalogue[routedThrough].name}. Check that provider.`;
    return { step: 'webhooks', isFine: true, detail };
  }
  const detail =
    readWebhook === undefined
      ? 'Webhooks are rejected: no key is configured, or their signature scheme is unknown. The checkout page relies on the chain instead.'
      : 'Webhooks can be verified. The first payment shows whether the provider sends them.';
  return { step: 'webhooks', isFine: true, detail };
}

function chargeOf({ amountCents, currency }: Pick<ProviderCheckRequest, 'amountCents' | 'currency'>): string {
  return `${formatCents(amountCents)} ${currency}`;
}

function quoteOf({ amountCents, currency, usdUnits, country }: ProviderCheckRequest) {
  return { amountCents, currency, usdUnits, customerCountry: country };
}

function sessionOf(request: ProviderCheckRequest): SessionRequest {
  const { paymentId, wallet, returnUrl } = request;
  return { ...quoteOf(request), paymentId, depositAddress: wallet, email: null, returnUrl };
}

export function requirePlausible(
  request: Pick<ProviderCheckRequest, 'provider' | 'usdUnits' | 'amountCents' | 'currency'>,
  units: bigint,
): void {
  if (isPlausibleQuote(request.provider, units, request.usdUnits)) return;
  throw new Error(`It quotes ${formatUnits(units)} USDC for ${chargeOf(request)}, which is implausible.`);
}

/** Describes an adapter's error to the operator who has to fix it. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ServiceError)) return messageOf(error);
  const { cause } = error;
  if (cause === undefined) return error.message;
  const message = messageOf(cause);
  if (error.errorName === 'provider_inactive')
    return `It rejected the credentials, or the IP address of this server: ${message}.`;
  switch (cause instanceof Error ? cause.name : '') {
    case 'DeclinedRequestError':
      return `It declined the request: ${message}. Check its terms for amount, currency and country.`;
    case 'MalformedAnswerError':
    case 'SyntaxError':
      return `The response has an unknown format: ${message}. The header of the adapter file lists what is unverified.`;
    case 'ProviderBusyError':
      return `It limits requests: ${message}.`;
    case 'TimeoutError':
      return 'It did not respond in time.';
    default:
      return `It could not be used: ${message}.`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
