import type { Account } from '../accounts/account.ts';
import {
  isEnabledFor,
  listOffers,
  type ProviderDirectory,
  requireActive,
  requireAmount,
  requireAvailable,
  requireCurrency,
  requireDelivery,
} from '../providers/provider-availability.ts';
import type { Address } from './address.ts';
import { invalidField, ServiceError } from './errors.ts';
import { type Currency, MAXIMUM_AMOUNT_CENTS, usdUnits as usdUnitsOf } from './money.ts';
import { chargeWithFee, type ThresholdTerms, thresholdTermsOf } from './paid-threshold.ts';
import type { noOrder, Payment } from './payment.ts';
import {
  isProviderId,
  MULTI_PROVIDER,
  type ProviderChoice,
  type ProviderId,
  providerCatalog,
  providerIds,
} from './provider-catalog.ts';
import type { Rates } from './rates.ts';

/** A create request whose form was found good; `provider` is still any text. */
export interface CreatePaymentRequest
  extends Pick<Payment, 'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'passFeeToCustomer'>,
    Pick<Payment, 'email' | 'note'> {
  readonly provider: string;
  readonly idempotencyKey: string | null;
  /** What links of the dashboard add. */
  readonly order?: Pick<Payment, keyof typeof noOrder>;
}

export interface CreateChecks {
  readonly providers: ProviderDirectory;
  readonly rates: Rates;
  readonly settlement: {
    /** Whether an address is the token, the contract or the relayer. The store refuses our own deposit addresses. */
    readonly isReservedAddress: (address: Address) => boolean;
  };
  readonly nowMs: () => number;
  /** Default for accounts without a setting of their own. */
  readonly thresholdDefaults: ThresholdTerms;
}

/** What the checks find of a new payment: its amounts and terms. */
export type CheckedTerms = ReturnType<typeof chargeWithFee> &
  ThresholdTerms &
  Pick<Payment, 'usdUnits' | 'provider'>;

/**
 * The checks on a create, in a fixed order, so that a caller always meets the same error first. Throws `ServiceError`.
 *
 * @param isKeyTaken whether the idempotency key stands for other parameters
 */
export async function checkCreate(
  context: CreateChecks,
  account: Account,
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
    if (!isEnabledFor(account, provider))
      throw await disabledProvider(context.providers, account, provider, request.currency);
    requireCurrency(provider, request.currency);
    await requireActive(context.providers, account, provider, request.currency);
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
  return { ...amounts, ...terms, usdUnits, provider };
}

/** Throws where a payout would go to a contract or relayer of the service. */
export function requireUnreservedAddress(
  { isReservedAddress }: CreateChecks['settlement'],
  payoutAddress: Address,
): void {
  if (isReservedAddress(payoutAddress)) throw reservedAddress();
}

/** The refusal of a payout address of the service itself. */
export function reservedAddress(): ServiceError {
  return invalidField('address', 'belongs to the service and cannot receive payouts');
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
  // The catalogs' maximums would rule out the amount that stands for all.
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
  const { name } = providerCatalog[provider];
  return new ServiceError('feature_disabled', `${name} is not enabled for the account. ${advice}`);
}
