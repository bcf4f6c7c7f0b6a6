import { createHash } from 'node:crypto';
import { annotate } from '../platform/tracing.ts';
import { type Address, type DepositTerms, termsOf } from './address.ts';
import { invalidField, ServiceError } from './errors.ts';
import {
  type AccountThresholdTerms,
  chargeWithFee,
  computePaidThreshold,
  directThreshold,
  type ThresholdTerms,
  thresholdTermsOf,
} from './fees-and-paid-threshold.ts';
import { type Currency, type Rates, usdUnits as usdUnitsOf } from './money.ts';
import { noOrder, type Payment, type PaymentId, untouchedProgress } from './payment.ts';
import type { PaymentStore } from './payment-store.ts';
import {
  DIRECT_PROVIDER,
  isProviderId,
  MULTI_PROVIDER,
  type ProviderChoice,
  type ProviderId,
  providerIds,
} from './provider-catalog.ts';
import { IDEMPOTENCY_TTL_MS } from './retention-periods.ts';

interface SettlementTerms {
  readonly chainId: number;
  readonly factory: Address;
  readonly feeWallet: Address;
  readonly depositAddressOf: (terms: DepositTerms) => Address;
  /** Addresses of the token, contracts and relayers. The store itself refuses payouts to deposit addresses. */
  readonly reservedAddresses: ReadonlySet<Address>;
}

export interface CreatePaymentContext {
  readonly payments: PaymentStore;
  readonly providers: ProviderChecks;
  readonly rates: Rates;
  readonly settlement: SettlementTerms;
  readonly nowMs: () => number;
  readonly newPaymentId: () => PaymentId;
  readonly thresholdDefaults: ThresholdTerms;
  /** Fingerprint of the secret that signs new `ipn_token`s. */
  readonly tokenFingerprint: string;
}

/** Creates a card payment, or returns that of an earlier request with the same key. Throws `ServiceError`. */
export async function createPayment(
  context: CreatePaymentContext,
  account: MerchantTerms,
  request: CreatePaymentRequest,
): Promise<Payment> {
  return createOnce(context, account, request.idempotencyKey, parametersOf(request), async (isKeyTaken) => {
    const checked = await checkCreate(context, account, request, isKeyTaken);
    return newPayment(context, account, request, checked);
  });
}

/**
 * Stores a payment, or returns that of an earlier or concurrent request with the same `Idempotency-Key` and parameters.
 * Throws `idempotency_conflict` for other parameters. A key counts for `IDEMPOTENCY_TTL_MS`, and only after a success.
 */
async function createOnce(
  { payments, nowMs }: Pick<CreatePaymentContext, 'payments' | 'nowMs'>,
  { id: accountId }: Pick<MerchantTerms, 'id'>,
  key: string | null,
  parameters: readonly unknown[],
  make: (isKeyTaken: boolean) => Promise<Payment>,
): Promise<Payment> {
  const createdAtMs = nowMs();
  const fingerprint = key === null ? '' : fingerprintOf(parameters);
  const sinceMs = createdAtMs - IDEMPOTENCY_TTL_MS;
  const earlier = key === null ? null : await payments.findIdempotent(accountId, key, sinceMs);
  // Replays before the checks, because the first request succeeded, even if a check would fail now.
  if (earlier?.fingerprint === fingerprint) return earlier.payment;
  const payment = await make(earlier !== null);
  const record = key === null ? null : { accountId, key, fingerprint, createdAtMs };
  const outcome = await payments.createPayment(payment, record);
  if (outcome.kind === 'created') annotate({ 'card_checkout.payment_id': payment.id });
  if (outcome.kind === 'created') return payment;
  if (outcome.kind === 'reserved') throw reservedAddress();
  if (outcome.fingerprint !== fingerprint) throw new ServiceError('idempotency_conflict');
  return outcome.payment;
}

/** Returns the parameters that identify a request, normalized so that POST and GET requests compare equal. */
function parametersOf(request: CreatePaymentRequest): readonly unknown[] {
  return [
    request.payoutAddress,
    request.callbackUrl,
    request.amountCents,
    request.currency,
    request.passFeeToCustomer,
    request.provider,
    request.email,
    request.note,
    ...(request.order === undefined ? [] : [request.order, request.expiresInMs]),
  ];
}

function newPayment(
  context: CreatePaymentContext,
  account: MerchantTerms,
  request: Omit<CreatePaymentRequest, 'amountCents' | 'provider' | 'idempotencyKey'>,
  checked: CheckedTerms,
): Payment {
  const { settlement } = context;
  // Reads the clock first, so that a payment is never newer than its id, whose time determines the expiry.
  const createdAtMs = context.nowMs();
  const id = context.newPaymentId();
  const { payoutAddress } = request;
  const { feeBasisPoints } = account;
  const { feeWallet } = settlement;
  const depositTerms = termsOf({ id, payoutAddress, feeBasisPoints, feeWallet });
  return {
    ...untouchedProgress,
    ...noOrder,
    ...request.order,
    deadlineMs: request.expiresInMs === undefined ? null : createdAtMs + request.expiresInMs,
    ...checked,
    id,
    accountId: account.id,
    createdAtMs,
    currency: request.currency,
    passFeeToCustomer: request.passFeeToCustomer,
    feeBasisPoints,
    callbackUrl: request.callbackUrl,
    email: request.email,
    note: request.note,
    tokenFingerprint: context.tokenFingerprint,
    chainId: settlement.chainId,
    factory: settlement.factory,
    payoutAddress,
    feeWallet,
    depositAddress: settlement.depositAddressOf(depositTerms),
    // Only a session's start lowers the threshold, so that fees of providers that were never visited do not count.
    paidThresholdUnits: computePaidThreshold(checked.usdUnits, checked.toleranceBasisPoints),
  };
}

export type DirectPaymentRequest = Pick<
  CreatePaymentRequest,
  'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'email' | 'note'
> &
  Partial<Pick<CreatePaymentRequest, 'idempotencyKey' | 'order'>>;

/**
 * Creates a payment from a wallet. No provider deducts a fee, so the paid threshold is the whole value, or up to a cent
 * less if tolerated. A repeated idempotency key returns the first payment. Throws `ServiceError` for a refused request.
 */
export async function createDirectPayment(
  context: CreatePaymentContext,
  account: MerchantTerms,
  request: DirectPaymentRequest,
): Promise<Payment> {
  const { payoutAddress, callbackUrl, amountCents, currency, email, note, idempotencyKey = null } = request;
  const parameters = [DIRECT_PROVIDER, payoutAddress, callbackUrl, amountCents, currency, email, note];
  return createOnce(context, account, idempotencyKey, parameters, async (isKeyTaken) => {
    if (isKeyTaken) throw new ServiceError('idempotency_conflict');
    if (account.suspended) throw new ServiceError('feature_disabled', 'The account is suspended.');
    requireAllowedWallet(account, payoutAddress);
    requireUnreservedAddress(context.settlement, payoutAddress);
    const usdUnits = usdUnitsOf(amountCents, await context.rates.usdRate(currency));
    const checked = {
      amountCents,
      originalAmountCents: null,
      customerFeeCents: null,
      usdUnits,
      toleranceBasisPoints: 0,
      maxProviderFeeBasisPoints: 0,
      provider: DIRECT_PROVIDER,
    } as const;
    return {
      ...newPayment(context, account, { ...request, passFeeToCustomer: false }, checked),
      paidThresholdUnits: directThreshold(usdUnits, account.toleratesMissingCent),
    };
  });
}

export function fingerprintOf(parameters: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parameters)).digest('hex');
}

/** Well-formed create request. Its `provider` may be unknown. */
export interface CreatePaymentRequest
  extends Pick<Payment, 'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'passFeeToCustomer'>,
    Pick<Payment, 'email' | 'note'> {
  readonly provider: string;
  readonly idempotencyKey: string | null;
  /** Set by the merchant API, the dashboard and payment pages, but not by `/api/v1`. */
  readonly order?: Partial<Pick<Payment, Exclude<keyof typeof noOrder, 'deadlineMs'>>>;
  readonly expiresInMs?: number;
}

export interface MerchantTerms extends AccountThresholdTerms {
  readonly id: string;
  readonly suspended: boolean;
  readonly features: readonly Feature[];
  readonly feeBasisPoints: number;
  /** Account's payout wallet. Payments may use another payout address unless the wallet is locked. */
  readonly wallet: Address | null;
  /** Whether the API refuses payout wallets other than the account's, so that a stolen key cannot redirect money. */
  readonly isWalletLocked: boolean;
  /** Whether a direct payment counts as paid even if up to one cent is missing (see `directThreshold`). */
  readonly toleratesMissingCent: boolean;
  /** Hosts (`host` or `host:port`) to which a checkout may redirect its customer at the end. */
  readonly returnHosts: readonly string[];
  /** Providers that the account may use; null for all, including future ones. */
  readonly providers: readonly ProviderId[] | null;
  readonly excludedProviders: readonly ProviderId[];
  /** Provider listed first if it is available; null if none is pinned. */
  readonly pinnedProvider: ProviderId | null;
}

/** Features of accounts. A request that needs a feature that its account lacks gets status 403. */
export const features = ['card_checkout', 'fee_pass_through'] as const;
export type Feature = (typeof features)[number];

/** Checks of a provider for a create request. Both methods throw `ServiceError` if a check fails. */
export interface ProviderChecks {
  requireChoice(merchant: MerchantTerms, provider: ProviderId, currency: Currency): Promise<void>;
  /** Requires that the provider accepts the amount and delivers enough of it after fees. */
  requireDelivery(merchant: MerchantTerms, provider: ProviderId, charge: Charge): Promise<void>;
}

type Charge = Pick<Payment, 'amountCents' | 'currency' | 'usdUnits' | 'maxProviderFeeBasisPoints'>;

type CheckedTerms = ReturnType<typeof chargeWithFee> &
  ThresholdTerms &
  Pick<Payment, 'usdUnits' | 'provider'>;

/** Checks a request in the order of docs/errors.md. `isKeyTaken`: its key was used with other parameters. */
async function checkCreate(
  context: CreatePaymentContext,
  account: MerchantTerms,
  request: CreatePaymentRequest,
  isKeyTaken: boolean,
): Promise<CheckedTerms> {
  requireAllowedWallet(account, request.payoutAddress);
  requireUnreservedAddress(context.settlement, request.payoutAddress);
  requireReturnHosts(account, request.order?.orderDetails);
  const amounts = chargeWithFee(request, account.feeBasisPoints);
  if (isKeyTaken) throw new ServiceError('idempotency_conflict');

  requireFeatures(account, request);
  const provider = requireKnownProvider(request.provider);
  if (provider !== MULTI_PROVIDER) {
    await context.providers.requireChoice(account, provider, request.currency);
  }
  const terms = thresholdTermsOf(account, context.thresholdDefaults);
  const usdUnits = usdUnitsOf(amounts.amountCents, await context.rates.usdRate(request.currency));
  if (provider !== MULTI_PROVIDER) {
    const charge = { ...amounts, ...terms, currency: request.currency, usdUnits };
    await context.providers.requireDelivery(account, provider, charge);
  }
  return { ...amounts, ...terms, usdUnits, provider };
}

function requireUnreservedAddress({ reservedAddresses }: SettlementTerms, payoutAddress: Address): void {
  if (reservedAddresses.has(payoutAddress)) throw reservedAddress();
}

function reservedAddress(): ServiceError {
  return invalidField('address', 'belongs to the service and cannot receive payouts');
}

function requireAllowedWallet(account: MerchantTerms, payoutAddress: Address): void {
  if (!account.isWalletLocked || payoutAddress === account.wallet) return;
  // Omits the account's wallet, which a stolen key must not reveal.
  throw invalidField('address', "must be the account's own payout wallet, to which payouts are locked");
}

function requireReturnHosts(
  { returnHosts }: MerchantTerms,
  details: Payment['orderDetails'] | undefined,
): void {
  const links = { return_url: details?.returnUrl, cancel_url: details?.cancelUrl };
  for (const [field, link] of Object.entries(links)) {
    const host = link == null ? null : new URL(link).host;
    if (host !== null && !returnHosts.includes(host))
      throw invalidField(
        field,
        `leads to ${host}, which is not a return host of the account: save it in the dashboard, under Settings, Return hosts`,
      );
  }
}

function requireFeatures(
  { suspended, features }: MerchantTerms,
  { passFeeToCustomer }: CreatePaymentRequest,
): void {
  const isRefused = {
    'The account is suspended': suspended,
    'Card checkout is not enabled for the account': !features.includes('card_checkout'),
    'passFeeToCustomer is not enabled for the account':
      passFeeToCustomer && !features.includes('fee_pass_through'),
  };
  const [refusal] = Object.entries(isRefused).find(([, applies]) => applies) ?? [];
  if (refusal !== undefined)
    throw new ServiceError('feature_disabled', `${refusal}. Please contact support.`);
}

function requireKnownProvider(provider: string): ProviderChoice {
  if (provider === MULTI_PROVIDER) return provider;
  if (!isProviderId(provider)) {
    throw new ServiceError(
      'provider_unknown',
      `provider must be "${MULTI_PROVIDER}" or one of: ${providerIds.join(', ')}.`,
    );
  }
  return provider;
}
