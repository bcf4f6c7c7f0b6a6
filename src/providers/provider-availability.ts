import type { MerchantTerms } from '../payment/create-payment.ts';
import { ServiceError } from '../payment/errors.ts';
import {
  minDeliveryUnits,
  minUsdCentsForFee,
  minUsdCentsForQuotedFee,
} from '../payment/fees-and-paid-threshold.ts';
import { type Currency, formatCents, UNITS_PER_CENT } from '../payment/money.ts';
import type { Payment } from '../payment/payment.ts';
import {
  describeUnsoldCurrency,
  type ProviderId,
  providerCatalog,
  providerIds,
} from '../payment/provider-catalog.ts';
import type { ProviderAdapters, ProviderSettings, ProviderStore, Quote } from './provider.ts';
import type { EvidenceStore } from './provider-evidence.ts';
import {
  type ChargedAmount,
  type KnownLimits,
  maximumUsdCentsFor,
  minimumUsdCentsFor,
  unservedRegionOf,
} from './provider-limits-and-regions.ts';
import type { SuccessRates } from './provider-success.ts';

export interface ProviderDirectory {
  readonly adapters: ProviderAdapters;
  readonly settings: ProviderStore;
  readonly limits?: KnownLimits;
  readonly success?: () => SuccessRates | undefined;
  readonly evidence?: EvidenceStore;
  /** Set in live mode, where a provider is off until it is proved or enabled by name. */
  readonly isOffByDefault?: boolean;
}

/** Row of the provider selector. `refusal` says why the provider cannot be chosen. */
export interface ProviderOffer {
  readonly provider: ProviderId;
  readonly name: string;
  /** Smallest amount that the provider serves, given its minimum and the maximum provider fee. */
  readonly minimumUsdCents: number;
  readonly refusal: Refusal | null;
  /** Provider that runs the sessions: this provider, or the one that it is routed through. */
  readonly seller: ProviderId;
  /** Whether a session includes the customer's email address if it is known. */
  readonly sharesEmail: boolean;
  /** Who pins the provider to the top of the list while it is available. The merchant takes precedence. */
  readonly pinnedBy: 'merchant' | 'operator' | null;
  readonly needsCountry: boolean;
}

/** Returns the provider whose pages the customer sees. */
export function sellerOf(
  provider: ProviderId,
  offers: readonly Pick<ProviderOffer, 'provider' | 'seller'>[],
): ProviderId {
  return offers.find((offer) => offer.provider === provider)?.seller ?? provider;
}

/** Reason why a provider cannot serve a payment. Like a `ServiceError`, but without the cost of a stack trace. */
export interface Refusal extends Pick<ServiceError, 'errorName' | 'message'> {
  /** Smallest amount that the provider serves, in USD cents. Set if the amount is too low. */
  readonly minimumUsdCents?: number;
  /** Largest amount that the provider serves, in USD cents. Set if the amount is too high. */
  readonly maximumUsdCents?: number;
  /** Only currency that the provider accepts. Set if the payment has another currency. */
  readonly onlyCurrency?: Currency;
  /** Set if the provider is inactive only because of the payment's currency. */
  readonly isUnsoldCurrency?: true;
}

export function isEnabledFor(account: MerchantTerms, provider: ProviderId): boolean {
  return account.providers === null || account.providers.includes(provider);
}

/** Returns the operator's minimum, or else the built-in one, in USD cents. */
export async function readMinimumUsdCents(
  directory: Pick<ProviderDirectory, 'settings'>,
  provider: ProviderId,
): Promise<number> {
  const settings = await directory.settings.readProviderSettings(provider);
  return settings.minimumUsdCents ?? providerCatalog[provider].minimumUsdCents;
}

/** State of a provider: offered to customers, or why not. `off`: neither proved nor enabled by name. */
export type ProviderState = 'offered' | 'not_configured' | 'blocked' | 'switched_off' | 'off';

type OfferSwitches = Pick<ProviderDirectory, 'adapters' | 'isOffByDefault'>;

export function stateOfProvider(
  { adapters, isOffByDefault = false }: OfferSwitches,
  provider: ProviderId,
  { active }: ProviderSettings,
): ProviderState {
  const adapter = adapters.get(provider);
  if (adapter === undefined) return 'not_configured';
  if (adapter.blockedBecause !== undefined) return 'blocked';
  if (active === null) return isOffByDefault ? 'off' : 'offered';
  return active ? 'offered' : 'switched_off';
}

export function describeOffByDefault(ids: readonly string[]): string {
  return `Off, because nothing proves your account there: ${ids.join(', ')}. Run "provider prove ID", or enable one by name with "provider set ID --active".`;
}

/** Returns the only currency that the provider, or its route, accepts. Null if there are several, or if unknown. */
export function onlyCurrencyOf(adapters: ProviderAdapters | null, provider: ProviderId): Currency | null {
  const [sold = null, other] = adapters?.get(provider)?.currenciesSold ?? [];
  return providerCatalog[provider].onlyCurrency ?? (other === undefined ? sold : null);
}

function refusalOfCurrency(
  adapters: ProviderAdapters,
  provider: ProviderId,
  currency: Currency,
): Refusal | null {
  const onlyCurrency = onlyCurrencyOf(adapters, provider);
  if (onlyCurrency === null || onlyCurrency === currency) return null;
  const { name } = providerCatalog[provider];
  const message = `${name} supports only ${onlyCurrency}; the currency given is ${currency}.`;
  return { errorName: 'currency_locked', message, onlyCurrency };
}

/** Throws `currency_locked` if the provider accepts only another currency, or `provider_inactive` if it is unusable. */
export async function requireActive(
  directory: ProviderDirectory,
  account: MerchantTerms,
  provider: ProviderId,
  currency: Currency,
): Promise<void> {
  const settings = await directory.settings.readProviderSettings(provider);
  throwRefusal(
    refusalOfCurrency(directory.adapters, provider, currency) ??
      refusalOfOffer(account, currency, directory, provider, settings),
  );
}

function refusalOfOffer(
  account: MerchantTerms,
  currency: Currency,
  directory: OfferSwitches,
  provider: ProviderId,
  settings: ProviderSettings,
): Refusal | null {
  const isOffered = stateOfProvider(directory, provider, settings) === 'offered';
  if (!isOffered || account.excludedProviders.includes(provider)) return inactive(provider);
  const sold = directory.adapters.get(provider)?.currenciesSold;
  if (sold === undefined || sold.includes(currency)) return null;
  const message = describeUnsoldCurrency(provider, currency);
  return { errorName: 'provider_inactive', message, isUnsoldCurrency: true };
}

function inactive(provider: ProviderId): Refusal {
  return {
    errorName: 'provider_inactive',
    message: `${providerCatalog[provider].name} is currently unavailable. Use another provider or "multi".`,
  };
}

type CheckedCharge = ChargedAmount & Pick<MinimumTerms, 'maxProviderFeeBasisPoints'>;

/** Returns a cached catalog's limits, raised to the operator's minimum, or else the operator's or built-in minimum. */
function amountTerms(
  { limits }: Pick<ProviderDirectory, 'limits'>,
  provider: ProviderId,
  settings: ProviderSettings,
  payment: CheckedCharge,
  country: string | null = null,
  state: string | null = null,
): MinimumTerms {
  const { maxProviderFeeBasisPoints } = payment;
  const known = limits?.known(provider, payment.currency, country) ?? null;
  const liveMinimum = known?.minimumCents ?? null;
  const liveMaximum = known?.maximumCents ?? null;
  return {
    maxProviderFeeBasisPoints,
    isSold: known === null || (known.isSold && unservedRegionOf(known, country, state) === null),
    minimumUsdCents:
      liveMinimum === null
        ? (settings.minimumUsdCents ?? providerCatalog[provider].minimumUsdCents)
        : Math.max(minimumUsdCentsFor(liveMinimum, payment), settings.minimumUsdCents ?? 0),
    maximumUsdCents:
      liveMaximum === null || payment.amountCents <= liveMaximum
        ? null
        : maximumUsdCentsFor(liveMaximum, payment),
  };
}

/** Throws `below_minimum`, `above_maximum` or `provider_inactive` if the provider does not accept the amount. */
export async function requireAmount(
  directory: Pick<ProviderDirectory, 'settings' | 'limits'>,
  provider: ProviderId,
  payment: CheckedCharge,
  country: string | null = null,
  state: string | null = null,
): Promise<void> {
  const settings = await directory.settings.readProviderSettings(provider);
  const terms = amountTerms(directory, provider, settings, payment, country, state);
  throwRefusal(refusalOfAmount(provider, terms, payment.usdUnits));
}

/** Returns why the customer's region, or the provider's catalog for it, excludes the payment. Null if neither does. */
export function refusalOfLimits(
  directory: Pick<ProviderDirectory, 'limits' | 'adapters'>,
  provider: ProviderId,
  payment: CheckedCharge,
  country: string | null,
  state: string | null,
): Refusal | null {
  if (unservedRegionOf(directory.adapters.get(provider) ?? {}, country, state) !== null)
    return inactive(provider);
  const known = directory.limits?.known(provider, payment.currency, country) ?? null;
  if (known === null) return null;
  const none = { active: null, pinned: null, minimumUsdCents: 0 };
  const terms = amountTerms(directory, provider, none, payment, country, state);
  return refusalOfAmount(provider, terms, payment.usdUnits);
}

export interface MinimumTerms {
  /** Minimum from the provider's catalog, from the operator, or built in. */
  readonly minimumUsdCents: number;
  /** Maximum from the provider's catalog if the amount exceeds it; otherwise null or absent. */
  readonly maximumUsdCents?: number | null;
  /** Whether the provider sells to this customer at all; absent if unknown. */
  readonly isSold?: boolean;
  /** The payment's maximum provider fee; null to skip this check. */
  readonly maxProviderFeeBasisPoints: number | null;
}

/** Returns the smallest amount served, in USD cents. Null if the provider's fee is always above the maximum. */
function effectiveMinimumUsdCents(
  provider: ProviderId,
  { minimumUsdCents, maxProviderFeeBasisPoints }: MinimumTerms,
): number | null {
  if (maxProviderFeeBasisPoints === null) return minimumUsdCents;
  const forFee = minUsdCentsForFee(provider, maxProviderFeeBasisPoints);
  return forFee === null ? null : Math.max(minimumUsdCents, forFee);
}

/**
 * Returns why the provider does not serve the amount, or null. The reason is `below_minimum` even if only the assumed
 * fee exceeds the maximum, and `provider_inactive` if the provider serves no amount or not this customer.
 */
function refusalOfAmount(provider: ProviderId, terms: MinimumTerms, usdUnits: bigint): Refusal | null {
  const { name } = providerCatalog[provider];
  const { isSold = true, maximumUsdCents = null } = terms;
  if (!isSold) return inactive(provider);
  const minimum = effectiveMinimumUsdCents(provider, terms);
  const maximumFee = formatPercent(terms.maxProviderFeeBasisPoints ?? 0);
  if (minimum === null) {
    return {
      errorName: 'provider_inactive',
      message: `${name} is unavailable: its fee exceeds the maximum provider fee of ${maximumFee} for every amount.`,
    };
  }
  if (maximumUsdCents !== null) {
    const maximum = `The maximum of ${name} is ${formatCents(maximumUsdCents)} USD`;
    const message = `${maximum}; the amount given is ${formatCents(Number(usdUnits / UNITS_PER_CENT))} USD.`;
    return { errorName: 'above_maximum', message, maximumUsdCents };
  }
  if (usdUnits >= BigInt(minimum) * UNITS_PER_CENT) return null;
  const because = minimum > terms.minimumUsdCents ? `, from which its fee is at most ${maximumFee}` : '';
  return belowMinimum(`The minimum of ${name} is ${formatCents(minimum)} USD${because}`, minimum, usdUnits);
}

/** Returns a refusal if the quoted fee exceeds the maximum provider fee. Null if the quote states no delivery. */
export function refusalOfDelivery(
  provider: ProviderId,
  deliveryUnits: bigint | null,
  { usdUnits, maxProviderFeeBasisPoints }: Pick<Payment, 'usdUnits' | 'maxProviderFeeBasisPoints'>,
): Refusal | null {
  if (deliveryUnits === null) return null;
  if (deliveryUnits >= minDeliveryUnits(usdUnits, maxProviderFeeBasisPoints)) return null;
  const minimum = minUsdCentsForQuotedFee(usdUnits, deliveryUnits, maxProviderFeeBasisPoints);
  const { name } = providerCatalog[provider];
  const maximumFee = formatPercent(maxProviderFeeBasisPoints);
  return belowMinimum(
    `The fee quoted by ${name} is at most ${maximumFee} from about ${formatCents(minimum)} USD`,
    minimum,
    usdUnits,
  );
}

function belowMinimum(minimum: string, minimumUsdCents: number, usdUnits: bigint): Refusal {
  const given = formatCents(Number(usdUnits / UNITS_PER_CENT));
  const message = `${minimum}; the amount given is ${given} USD.`;
  return { errorName: 'below_minimum', message, minimumUsdCents };
}

function formatPercent(basisPoints: number): string {
  return `${basisPoints / 100} %`;
}

export function throwRefusal(refusal: Refusal | null): void {
  if (refusal !== null) throw new ServiceError(refusal.errorName, refusal.message);
}

/** Returns why the minimum in a quote excludes the charge, or null if it does not. */
export function refusalOfMinimum(
  provider: ProviderId,
  { minimumUsdCents }: Pick<Quote, 'minimumUsdCents'>,
  { usdUnits }: Pick<Payment, 'usdUnits'>,
): Refusal | null {
  if (minimumUsdCents === null) return null;
  // Ignores the fee, because `refusalOfDelivery` reports the minimum that results from it.
  return refusalOfAmount(provider, { minimumUsdCents, maxProviderFeeBasisPoints: null }, usdUnits);
}

/** Lists the account's providers in catalog order, each with the reason if it cannot serve the payment. */
export async function listOffers(
  directory: ProviderDirectory,
  account: MerchantTerms,
  payment: CheckedCharge,
): Promise<readonly ProviderOffer[]> {
  const { currency, usdUnits } = payment;
  const enabled = providerIds.filter((provider) => isEnabledFor(account, provider));
  const stored = await Promise.all(
    enabled.map((provider) => directory.settings.readProviderSettings(provider)),
  );
  return enabled.map((provider, index) => {
    const { name } = providerCatalog[provider];
    const settings = stored[index] as ProviderSettings;
    const terms = amountTerms(directory, provider, settings, payment);
    const refusal =
      refusalOfCurrency(directory.adapters, provider, currency) ??
      refusalOfOffer(account, currency, directory, provider, settings) ??
      refusalOfAmount(provider, terms, usdUnits);
    const minimumUsdCents = effectiveMinimumUsdCents(provider, terms) ?? terms.minimumUsdCents;
    const isPinned = account.pinnedProvider === provider;
    const pinnedBy = isPinned ? 'merchant' : settings.pinned === true ? 'operator' : null;
    const adapter = directory.adapters.get(provider);
    const { routedThrough: seller = provider, needsCountry = false } = adapter ?? {};
    const sharesEmail = !adapter?.withholdsEmail;
    return { provider, name, minimumUsdCents, refusal, pinnedBy, seller, sharesEmail, needsCountry };
  });
}

/** Returns the lowest minimum in USD cents. Null if a provider serves the payment, or no minimum excludes it. */
export function servedFromUsdCents(offers: readonly ProviderOffer[]): number | null {
  if (offers.some(({ refusal }) => refusal === null)) return null;
  const minimums = offers
    .filter(({ refusal }) => refusal?.errorName === 'below_minimum')
    .map(({ minimumUsdCents }) => minimumUsdCents);
  return minimums.length === 0 ? null : Math.min(...minimums);
}

/** Returns why all active providers refuse: the currency alone, or other terms. Null if any accepts or all are off. */
export function exclusionOf(offers: readonly ProviderOffer[]): 'currency' | 'terms' | null {
  const isOfCurrency = (refusal: Refusal | null) =>
    refusal?.errorName === 'currency_locked' || refusal?.isUnsoldCurrency === true;
  const reasons = offers
    .map(({ refusal }) => refusal)
    .filter((refusal) => isOfCurrency(refusal) || refusal?.errorName !== 'provider_inactive');
  if (reasons.length === 0 || reasons.includes(null)) return null;
  return reasons.every(isOfCurrency) ? 'currency' : 'terms';
}

/** Throws `below_minimum` with the lowest minimum if no provider serves the payment and some need a larger amount. */
export function requireServedAmount(offers: readonly ProviderOffer[], usdUnits: bigint): void {
  const cents = servedFromUsdCents(offers);
  if (cents === null) return;
  const text = `No provider takes this amount: the lowest minimum is ${formatCents(cents)} USD`;
  throwRefusal(belowMinimum(text, cents, usdUnits));
}
