import type { Address } from './address.ts';
import { invalidField, ServiceError } from './errors.ts';
import { type Currency, usdUnits as usdUnitsOf } from './money.ts';
import {
  type AccountThresholdTerms,
  chargeWithFee,
  type ThresholdTerms,
  thresholdTermsOf,
} from './paid-threshold.ts';
import type { noOrder, Payment } from './payment.ts';
import {
  isProviderId,
  MULTI_PROVIDER,
  type ProviderChoice,
  type ProviderId,
  providerIds,
} from './provider-catalog.ts';
import type { Rates } from './rates.ts';

/** A well-formed create request; `provider` is still unchecked. */
export interface CreatePaymentRequest
  extends Pick<Payment, 'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'passFeeToCustomer'>,
    Pick<Payment, 'email' | 'note'> {
  readonly provider: string;
  readonly idempotencyKey: string | null;
  /** Added by payment links of the dashboard. */
  readonly order?: Pick<Payment, keyof typeof noOrder>;
}

/** What a create reads of a merchant. */
export interface MerchantTerms extends AccountThresholdTerms {
  readonly id: string;
  readonly suspended: boolean;
  readonly features: readonly Feature[];
  readonly feeBasisPoints: number;
  /** The merchant's own wallet, for guidance and checks; each checkout names its payout address itself. */
  readonly wallet: Address | null;
  /** Whether the API refuses other payout wallets than the account's, so that a stolen key cannot redirect money. */
  readonly isWalletLocked: boolean;
  /** Whether a direct payment that is at most one cent short counts as paid. */
  readonly toleratesMissingCent: boolean;
  /** Providers that it may use; null for all, including future ones. */
  readonly providers: readonly ProviderId[] | null;
  /** Providers that the merchant does not offer to customers. */
  readonly excludedProviders: readonly ProviderId[];
  /** Provider at the top of the list where it is available; null for the best choice. */
  readonly pinnedProvider: ProviderId | null;
}

/** Features that an account may use; one that is off answers 403. */
export const features = ['card_checkout', 'fee_pass_through'] as const;
export type Feature = (typeof features)[number];

/** What a create asks of the providers. Both throw `ServiceError`. */
export interface ProviderChecks {
  /** Requires that the merchant may choose the provider now, for a payment in this currency. */
  requireChoice(merchant: MerchantTerms, provider: ProviderId, currency: Currency): Promise<void>;
  /** Requires that the provider takes the amount and delivers enough of it. */
  requireDelivery(merchant: MerchantTerms, provider: ProviderId, charge: Charge): Promise<void>;
}

type Charge = Pick<Payment, 'amountCents' | 'currency' | 'usdUnits' | 'maxProviderFeeBasisPoints'>;

export interface CreateChecks {
  readonly providers: ProviderChecks;
  readonly rates: Rates;
  readonly settlement: {
    /** Whether an address is the token, the contract or the relayer. The store refuses our own deposit addresses. */
    readonly isReservedAddress: (address: Address) => boolean;
  };
  readonly nowMs: () => number;
  readonly thresholdDefaults: ThresholdTerms;
}

export type CheckedTerms = ReturnType<typeof chargeWithFee> &
  ThresholdTerms &
  Pick<Payment, 'usdUnits' | 'provider'>;

/**
 * Checks a create in a fixed order, so that a caller always gets the same error first. Throws `ServiceError`.
 *
 * @param isKeyTaken whether the idempotency key was used with other parameters
 */
export async function checkCreate(
  context: CreateChecks,
  account: MerchantTerms,
  request: CreatePaymentRequest,
  isKeyTaken: boolean,
): Promise<CheckedTerms> {
  requireAllowedWallet(account, request.payoutAddress);
  requireUnreservedAddress(context.settlement, request.payoutAddress);
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
    const { amountCents } = amounts;
    const charge = { amountCents, currency: request.currency, usdUnits, ...terms };
    await context.providers.requireDelivery(account, provider, charge);
  }
  return { ...amounts, ...terms, usdUnits, provider };
}

/** Throws for a payout to the service's own contract or relayer. */
export function requireUnreservedAddress(
  { isReservedAddress }: CreateChecks['settlement'],
  payoutAddress: Address,
): void {
  if (isReservedAddress(payoutAddress)) throw reservedAddress();
}

/** Refusal of a payout address of the service itself. */
export function reservedAddress(): ServiceError {
  return invalidField('address', 'belongs to the service and cannot receive payouts');
}

/** Refuses another wallet than the account's locked one, so that a stolen key cannot redirect money. */
export function requireAllowedWallet(account: MerchantTerms, payoutAddress: Address): void {
  if (!account.isWalletLocked || payoutAddress === account.wallet) return;
  // Does not reveal the wallet to the holder of a stolen key.
  throw invalidField('address', "must be the account's own payout wallet, to which payouts are locked");
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
