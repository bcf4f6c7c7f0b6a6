import type { Account } from '../domain/account.ts';
import { type DepositTerms, paymentReference } from '../domain/deposit-address.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import {
  formatCents,
  grossUpCents,
  leastUnits,
  lessBasisPoints,
  MAXIMUM_AMOUNT_CENTS,
  UNITS_PER_CENT,
  usdUnits as usdUnitsOf,
} from '../domain/money.ts';
import { type Payment, untouchedProgress } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { Rates } from '../domain/ports/rates.ts';
import {
  assumedDeliveryUnits,
  isProviderId,
  MULTI_PROVIDER,
  type ProviderChoice,
  type ProviderId,
  providerCatalogue,
  providerIds,
} from '../domain/provider-catalogue.ts';
import type { CreatePaymentRequest } from './create-payment-request.ts';
import { fingerprintOf, replayOf } from './idempotency.ts';
import {
  isEnabledFor,
  type ProviderDirectory,
  readMinimumUsdCents,
  requireActive,
  requireCurrency,
  requireMinimum,
  requireQuote,
} from './provider-availability.ts';

/** What a new payment is bound to on chain. */
export interface SettlementTerms {
  readonly chainId: number;
  readonly factory: Address;
  readonly feeWallet: Address;
  readonly depositAddressOf: (terms: DepositTerms) => Address;
  /** Whether an address is the token, the contract, the relayer or one of our own deposit addresses. */
  readonly isReservedAddress: (address: Address) => boolean | Promise<boolean>;
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
  /** How much less than expected still counts as enough. */
  readonly toleranceBasisPoints: number;
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
  if (await context.settlement.isReservedAddress(request.payoutAddress)) {
    throw invalidField('address', 'belongs to the service itself and cannot be paid out to');
  }
  const amounts = chargeOf(request, account.feeBasisPoints);
  const idempotency = idempotencyOf(context, account, request);
  if (idempotency !== null) {
    const replayed = await replayOf(context.payments, idempotency);
    if (replayed !== null) return replayed;
  }

  requireFeatures(account, request);
  const provider = requireKnownProvider(account, request.provider);
  if (provider !== MULTI_PROVIDER) {
    requireCurrency(provider, request.currency);
    await requireActive(context.providers, provider);
  }
  const usdUnits = usdUnitsOf(amounts.amountCents, await context.rates.usdRate(request.currency));
  if (provider !== MULTI_PROVIDER) {
    requireMinimum(provider, await readMinimumUsdCents(context.providers, provider), usdUnits);
    await requireQuote(context.providers, provider, {
      amountCents: amounts.amountCents,
      currency: request.currency,
      usdUnits,
    });
  }

  const payment = newPayment(context, account, request, { ...amounts, usdUnits, provider });
  const outcome = await context.payments.createPayment(payment, idempotency);
  if (outcome.kind === 'created') return payment;
  // A concurrent twin was first.
  if (outcome.fingerprint !== idempotency?.fingerprint) throw new ServiceError('idempotency_conflict');
  return outcome.payment;
}

interface Charge {
  readonly amountCents: number;
  readonly originalAmountCents: number | null;
  readonly customerFeeCents: number | null;
}

/** What the customer is charged; under pass-through the smallest amount that leaves the requested net. */
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

function idempotencyOf(context: CreatePaymentContext, account: Account, request: CreatePaymentRequest) {
  if (request.idempotencyKey === null) return null;
  return {
    accountId: account.id,
    key: request.idempotencyKey,
    fingerprint: fingerprintOf(request),
    createdAtMs: context.nowMs(),
  };
}

function requireFeatures(account: Account, request: CreatePaymentRequest): void {
  if (account.suspended) {
    throw new ServiceError('feature_disabled', 'The account is suspended. Please contact support.');
  }
  if (!account.features.includes('card_checkout')) {
    throw new ServiceError(
      'feature_disabled',
      'Card checkout is not enabled for the account. Please contact support.',
    );
  }
  if (request.passFeeToCustomer && !account.features.includes('fee_pass_through')) {
    throw new ServiceError(
      'feature_disabled',
      'passFeeToCustomer is not enabled for the account. Please contact support.',
    );
  }
}

function requireKnownProvider(account: Account, provider: string): ProviderChoice {
  if (provider === MULTI_PROVIDER) return provider;
  if (!isProviderId(provider)) {
    throw new ServiceError(
      'provider_unknown',
      `provider must be "${MULTI_PROVIDER}" or one of: ${providerIds.join(', ')}.`,
    );
  }
  if (!isEnabledFor(account, provider)) {
    const { name } = providerCatalogue[provider];
    throw new ServiceError(
      'feature_disabled',
      `${name} is not enabled for the account. Please contact support.`,
    );
  }
  return provider;
}

function newPayment(
  context: CreatePaymentContext,
  account: Account,
  request: CreatePaymentRequest,
  charge: Charge & { readonly usdUnits: bigint; readonly provider: ProviderChoice },
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
    id,
    accountId: account.id,
    createdAtMs,
    amountCents: charge.amountCents,
    currency: request.currency,
    originalAmountCents: charge.originalAmountCents,
    customerFeeCents: charge.customerFeeCents,
    passFeeToCustomer: request.passFeeToCustomer,
    feeBasisPoints: account.feeBasisPoints,
    provider: charge.provider,
    callbackUrl: request.callbackUrl,
    email: request.email,
    note: request.note,
    tokenFingerprint: context.tokenFingerprint,
    chainId: settlement.chainId,
    factory: settlement.factory,
    payoutAddress: request.payoutAddress,
    feeWallet: settlement.feeWallet,
    depositAddress,
    usdUnits: charge.usdUnits,
    enoughUnits: enoughUnitsOf(
      expectedUnits(account, charge.provider, charge.usdUnits),
      context.toleranceBasisPoints,
    ),
  };
}

/** The least a payment of this USD value is expected to deliver before any session was started. */
function expectedUnits(account: Account, provider: ProviderChoice, usdUnits: bigint): bigint {
  if (provider !== MULTI_PROVIDER) return assumedDeliveryUnits(provider, usdUnits);
  const capable = providerIds.filter((id) => isEnabledFor(account, id) && minimumUnits[id] <= usdUnits);
  return leastUnits(capable.map((id) => assumedDeliveryUnits(id, usdUnits))) ?? usdUnits;
}

/** The catalogue's minimums as they are compared: converting eleven of them for each create takes half a µs. */
const minimumUnits = Object.fromEntries(
  providerIds.map((id) => [id, BigInt(providerCatalogue[id].minimumUsdCents) * UNITS_PER_CENT]),
) as Readonly<Record<ProviderId, bigint>>;

/** From what sum of deposits a payment counts as paid; at least one unit, so that nothing is never enough. */
export function enoughUnitsOf(expected: bigint, toleranceBasisPoints: number): bigint {
  const enough = lessBasisPoints(expected, toleranceBasisPoints);
  return enough > 0n ? enough : 1n;
}
