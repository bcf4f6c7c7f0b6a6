import type { Account } from '../domain/account.ts';
import { type DepositTerms, paymentReference } from '../domain/deposit-address.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import {
  type Currency,
  formatCents,
  grossUpCents,
  MAXIMUM_AMOUNT_CENTS,
  usdUnits as usdUnitsOf,
} from '../domain/money.ts';
import { computePaidThreshold, type ThresholdTerms, thresholdTermsOf } from '../domain/paid-threshold.ts';
import { noOrder, type Payment, untouchedProgress } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import type { IdempotencyRecord, PaymentStore } from '../domain/ports/payment-store.ts';
import type { Rates } from '../domain/ports/provider.ts';
import {
  isProviderId,
  MULTI_PROVIDER,
  type ProviderChoice,
  type ProviderId,
  providerCatalogue,
  providerIds,
} from '../domain/provider-catalogue.ts';
import { findEarlierCreate, isReplayOf, recordOf } from './idempotent-replay.ts';
import {
  isEnabledFor,
  listOffers,
  type ProviderDirectory,
  requireActive,
  requireAmount,
  requireAvailable,
  requireCurrency,
  requireDelivery,
} from './provider-availability.ts';

/** The terms on chain that a new payment is bound to. */
interface SettlementTerms {
  readonly chainId: number;
  readonly factory: Address;
  readonly feeWallet: Address;
  readonly depositAddressOf: (terms: DepositTerms) => Address;
  /** Whether an address is the token, the contract, the relayer or one of our own deposit addresses. */
  readonly isReservedAddress: (address: Address) => Promise<boolean>;
  /** Told of each new deposit address, with the row of its payment. */
  readonly recordDepositAddress: (row: number, address: Address) => void;
}

export interface CreatePaymentContext {
  readonly payments: PaymentStore;
  readonly providers: ProviderDirectory;
  readonly rates: Rates;
  readonly settlement: SettlementTerms;
  readonly nowMs: () => number;
  readonly newPaymentId: () => PaymentId;
  /** Names the secret that makes new ipn_tokens. */
  readonly tokenFingerprint: string;
  /** Default for accounts without a setting of their own. */
  readonly thresholdDefaults: ThresholdTerms;
}

/**
 * Creates a payment, durable when this resolves. The checks come in a fixed order, so that a caller always meets
 * the same error first. Throws `ServiceError`.
 */
export async function createPayment(
  context: CreatePaymentContext,
  account: Account,
  request: CreatePaymentRequest,
): Promise<Payment> {
  const idempotency = recordOf(account, request.idempotencyKey, parametersOf(request), context.nowMs());
  const earlier = await findEarlierCreate(context.payments, idempotency);
  // A replay comes before the checks whose outcome may have changed since (a raised fee, an address that has become
  // one of ours): the same request has succeeded, and its caller has to learn of that.
  if (isReplayOf(earlier, idempotency)) return earlier.payment;
  requireAllowedWallet(account, request.payoutAddress);
  await requireUnreservedAddress(context.settlement, request.payoutAddress);
  const amounts = chargeOf(request, account.feeBasisPoints);
  if (earlier !== null) throw new ServiceError('idempotency_conflict');

  requireFeatures(account, request);
  const provider = requireKnownProvider(request.provider);
  if (provider !== MULTI_PROVIDER) {
    if (!isEnabledFor(account, provider))
      throw await disabledProvider(context.providers, account, provider, request.currency);
    requireCurrency(provider, request.currency);
    await requireActive(context.providers, account, provider);
  }
  const terms = thresholdTermsOf(account, context.thresholdDefaults);
  const usdUnits = usdUnitsOf(amounts.amountCents, await context.rates.usdRate(request.currency));
  if (provider !== MULTI_PROVIDER) {
    const charged = { amountCents: amounts.amountCents, currency: request.currency, usdUnits };
    await requireAmount(context.providers, provider, { ...charged, ...terms });
    const quoted = { ...charged, accountId: account.id };
    const quote = await requireAvailable(context.providers, provider, quoted, context.nowMs());
    requireDelivery(provider, quote.deliveryUnits, { usdUnits, ...terms });
  }

  const payment = newPayment(context, account, request, { ...amounts, ...terms, usdUnits, provider });
  return storePayment(context, payment, idempotency);
}

/** Stores a new payment; returns the earlier one where a concurrent request with the same key was first. */
export async function storePayment(
  { payments, settlement }: Pick<CreatePaymentContext, 'payments' | 'settlement'>,
  payment: Payment,
  idempotency: IdempotencyRecord | null,
): Promise<Payment> {
  const outcome = await payments.createPayment(payment, idempotency);
  if (outcome.kind === 'created') {
    // Known at once, where the store says which row the deposit address is in.
    if (outcome.row !== null) settlement.recordDepositAddress(outcome.row, payment.depositAddress);
    return payment;
  }
  if (!isReplayOf(outcome, idempotency)) throw new ServiceError('idempotency_conflict');
  return outcome.payment;
}

type Charge = Pick<Payment, 'amountCents' | 'originalAmountCents' | 'customerFeeCents'>;

/** The amount charged to the customer; under pass-through the smallest that leaves the requested net. */
function chargeOf(request: CreatePaymentRequest, feeBasisPoints: number): Charge {
  if (!request.passFeeToCustomer) {
    return { amountCents: request.amountCents, originalAmountCents: null, customerFeeCents: null };
  }
  const grossCents = grossUpCents(request.amountCents, feeBasisPoints);
  if (grossCents > MAXIMUM_AMOUNT_CENTS) {
    throw invalidField('amount', `including fees must not exceed ${formatCents(MAXIMUM_AMOUNT_CENTS)}`);
  }
  return {
    amountCents: grossCents,
    originalAmountCents: request.amountCents,
    customerFeeCents: grossCents - request.amountCents,
  };
}

/** The normalised parameters of a request: POST and GET of the same request are equal. */
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
  ];
}

/** Throws where a payout would go to an address of the service itself. */
export async function requireUnreservedAddress(
  { isReservedAddress }: Pick<SettlementTerms, 'isReservedAddress'>,
  payoutAddress: Address,
): Promise<void> {
  if (await isReservedAddress(payoutAddress)) {
    throw invalidField('address', 'belongs to the service and cannot receive payouts');
  }
}

/** Refuses another wallet where the account's is locked, so that a stolen key cannot redirect money. */
export function requireAllowedWallet(account: Account, payoutAddress: Address): void {
  if (!account.isWalletLocked || payoutAddress === account.wallet) return;
  // The message does not reveal the wallet to the holder of a stolen key.
  throw invalidField('address', "must be the account's own payout wallet, to which payouts are locked");
}

function requireFeatures(
  { suspended, features }: Account,
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

/** Above every provider's minimum. */
const HIGHEST_USD_UNITS = BigInt(MAXIMUM_AMOUNT_CENTS) * 10_000n;

/** Names the providers that would take a payment in this currency, as far as the account may use them. */
async function disabledProvider(
  directory: ProviderDirectory,
  account: Account,
  provider: ProviderId,
  currency: Currency,
): Promise<ServiceError> {
  // The catalogues' maximums would rule out the amount that stands for all.
  const { limits: _, ...withoutLimits } = directory;
  const offers = await listOffers(withoutLimits, account, {
    amountCents: MAXIMUM_AMOUNT_CENTS,
    currency,
    usdUnits: HIGHEST_USD_UNITS,
    maxProviderFeeBasisPoints: null,
  });
  const working = offers.filter(({ refusal }) => refusal === null).map((offer) => offer.provider);
  const advice =
    working.length === 0
      ? 'Please contact support.'
      : `Use one of: ${[MULTI_PROVIDER, ...working].join(', ')}. Please contact support for others.`;
  const { name } = providerCatalogue[provider];
  return new ServiceError('feature_disabled', `${name} is not enabled for the account. ${advice}`);
}

/** The payment as it is stored first. */
export function newPayment(
  context: CreatePaymentContext,
  account: Account,
  request: Omit<CreatePaymentRequest, 'amountCents' | 'provider' | 'idempotencyKey'>,
  charge: Charge & ThresholdTerms & Pick<Payment, 'usdUnits' | 'provider'>,
): Payment {
  const { settlement } = context;
  // Before the id: expiry walks over ids by their time, and one older than its payment would be passed too early.
  const createdAtMs = context.nowMs();
  const id = context.newPaymentId();
  const depositAddress = settlement.depositAddressOf({
    merchant: request.payoutAddress,
    feeBasisPoints: account.feeBasisPoints,
    feeWallet: settlement.feeWallet,
    reference: paymentReference(id),
  });
  return {
    ...untouchedProgress,
    ...(request.order ?? noOrder),
    ...charge,
    id,
    accountId: account.id,
    createdAtMs,
    currency: request.currency,
    passFeeToCustomer: request.passFeeToCustomer,
    feeBasisPoints: account.feeBasisPoints,
    callbackUrl: request.callbackUrl,
    email: request.email,
    note: request.note,
    tokenFingerprint: context.tokenFingerprint,
    chainId: settlement.chainId,
    factory: settlement.factory,
    payoutAddress: request.payoutAddress,
    feeWallet: settlement.feeWallet,
    depositAddress,
    // A session lowers it once it is started: what a provider that was never visited keeps does not count.
    paidThresholdUnits: computePaidThreshold(charge.usdUnits, charge.toleranceBasisPoints),
  };
}

/** A create request whose form was found good; `provider` is still any text. */
export interface CreatePaymentRequest
  extends Pick<Payment, 'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'passFeeToCustomer'>,
    Pick<Payment, 'email' | 'note'> {
  readonly provider: string;
  readonly idempotencyKey: string | null;
  /** What links of the dashboard add. */
  readonly order?: Pick<Payment, keyof typeof noOrder>;
}
