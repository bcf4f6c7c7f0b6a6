import { ServiceError } from '../domain/errors.ts';
import { type Currency, formatCents, formatUnits } from '../domain/money.ts';
import { isPlausibleQuote } from '../domain/paid-threshold.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import type { ProviderAdapter, QuoteRequest, SessionRequest } from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import type { EvidenceStep } from '../domain/provider-evidence.ts';

/** A trial of a provider's own API with the operator's credentials. */
export interface TrialRequest {
  readonly provider: ProviderId;
  readonly amountCents: number;
  readonly currency: Currency;
  readonly usdUnitsOf: (amountCents: number, currency: Currency) => Promise<bigint>;
  readonly country: string | null;
  /** The public IP address from which the page is opened; null where it is not given. */
  readonly customerIp: string | null;
  /** The operator's own wallet: no payment is intended, but an accidental one is not lost. */
  readonly wallet: Address;
  readonly newPaymentId: () => PaymentId;
  readonly returnUrl: string;
}

/** The result of one call, as text for the operator. */
type Outcome = Pick<EvidenceStep, 'outcome' | 'detail'>;

/** One thing that was tried. */
export interface CheckedStep extends Outcome {
  readonly step: 'credentials' | 'quote' | 'session' | 'webhooks';
}

/** Asks for a quote and starts a session, past the circuit breaker; what fails is said in words. Nothing is paid. */
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

export const fine = (detail: string): Outcome => ({ outcome: 'fine', detail });

export async function attempt<Step extends string>(step: Step, work: () => Promise<Outcome>) {
  try {
    return { step, ...(await work()) };
  } catch (error) {
    return { step, outcome: 'failed' as const, detail: describeFailure(error) };
  }
}

export async function askQuote(
  adapter: ProviderAdapter,
  request: TrialRequest,
  currency: Currency,
): Promise<Outcome> {
  const asked = await quoteRequestOf(request, currency);
  const { deliveryUnits, minimumUsdCents } = await adapter.quote(asked);
  const charge = `${formatCents(asked.amountCents)} ${currency}`;
  const minimum = minimumUsdCents === null ? '' : ` Its minimum is ${formatCents(minimumUsdCents)} USD.`;
  if (deliveryUnits === null) return fine(`It responded to ${charge} without a price.${minimum}`);
  requirePlausible(request.provider, asked, deliveryUnits);
  return fine(`It would deliver ${formatUnits(deliveryUnits)} USDC for ${charge}.${minimum}`);
}

export async function quoteRequestOf(
  { amountCents, country, usdUnitsOf }: TrialRequest,
  currency: Currency,
): Promise<QuoteRequest> {
  const usdUnits = await usdUnitsOf(amountCents, currency);
  return { amountCents, currency, usdUnits, customerCountry: country };
}

export async function startSession(adapter: ProviderAdapter, request: TrialRequest) {
  const { country, customerIp, wallet, returnUrl } = request;
  if (adapter.needsCountry === true && country === null)
    throw new ServiceError('invalid_request', 'The provider needs a country. Specify one with --country.');
  const asked: SessionRequest = {
    ...(await quoteRequestOf(request, request.currency)),
    paymentId: request.newPaymentId(),
    depositAddress: wallet,
    email: null,
    customerIp,
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
    return `They go to the webhook URL of ${providerCatalogue[routedThrough].name}. Check that provider.`;
  return readWebhook === undefined
    ? 'Webhooks are rejected: no key is configured, or their signature scheme is unknown. The checkout page relies on the chain instead.'
    : 'Webhooks can be verified. The first payment shows whether the provider sends them.';
}

/** Describes an adapter's error to the operator who has to fix it. */
function describeFailure(error: unknown): string {
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
