import type { Address } from './address.ts';
import { type Currency, UNITS_PER_CENT } from './money.ts';

/**
 * Facts about an on-ramp provider. Fees are used only to estimate deliveries without a quote. Sources: the providers'
 * pages and public third-party code, gathered 2026-11. Providers have not confirmed the facts marked unverified.
 */
interface KnownProvider {
  readonly name: string;
  /** Provider's help page for customers whose payment has not arrived. Unverified: no provider guarantees its URL. */
  readonly supportUrl: string;
  /** The only currency that the provider accepts; null if it accepts all currencies of a checkout. */
  readonly onlyCurrency: Currency | null;
  /** Minimum charge (unverified except for Coinbase). */
  readonly minimumUsdCents: number;
  /** Assumed fee on the charged amount (unverified). */
  readonly feeBasisPoints: number;
  /** Assumed minimum fee per charge (unverified). */
  readonly minimumFeeUsdCents: number;
}

export const providerCatalog = {
  moonpay: entry('MoonPay', 'https://support.moonpay.com/', 20_00, 450, 3_99),
  wert: entry('Wert', 'https://support.wert.io/', 1_00, 500, 0),
  revolut: entry('Revolut', 'https://help.revolut.com/', 7_00, 250, 0),
  cryptocom: entry('Crypto.com', 'https://help.crypto.com/', 20_00, 400, 0),
  rampnetwork: entry('Ramp Network', 'https://support.rampnetwork.com/', 7_00, 390, 2_49),
  transak: entry('Transak', 'https://support.transak.com/', 10_00, 500, 0),
  coinbase: entry('Coinbase', 'https://help.coinbase.com/', 5_00, 250, 0),
  paypal: entry('PayPal', 'https://www.paypal.com/help', 20_00, 450, 3_99),
  stripe: entry('Stripe', 'https://support.stripe.com/', 2_00, 400, 0),
  banxa: entry('Banxa', 'https://support.banxa.com/', 20_00, 400, 0),
  klarna: entry('Klarna', 'https://www.klarna.com/customer-service/', 20_00, 450, 0, 'EUR'),
} as const satisfies Record<string, KnownProvider>;

function entry(
  name: string,
  supportUrl: string,
  minimumUsdCents: number,
  feeBasisPoints: number,
  minimumFeeUsdCents: number,
  onlyCurrency: Currency | null = null,
): KnownProvider {
  return { name, supportUrl, onlyCurrency, minimumUsdCents, feeBasisPoints, minimumFeeUsdCents };
}

export type ProviderId = keyof typeof providerCatalog;

/** Returns a sentence for a provider that accepts only other currencies. */
export function describeUnsoldCurrency(provider: ProviderId, currency: Currency): string {
  return `${providerCatalog[provider].name} does not take payments in ${currency}.`;
}

/** Native USDC on Polygon (Circle's contract), which every provider must deliver. */
export const NATIVE_USDC = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
/** Bridged USDC (USDC.e) on Polygon, a different token, which the service neither observes nor releases. */
export const BRIDGED_USDC: Address = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';

export function nameOfToken(contract: string): string {
  const isBridged = contract.toLowerCase() === BRIDGED_USDC.toLowerCase();
  return isBridged ? `bridged USDC (USDC.e, ${contract})` : `the token ${contract.slice(0, 42)}`;
}

export function describeMistakenToken(paymentId: string, contract: string): string {
  return `The deposit address holds ${nameOfToken(contract)}, which does not count as paid. To send it to the merchant, run: payment rescue ${paymentId} --token ${contract}`;
}

export const providerIds = Object.keys(providerCatalog) as readonly ProviderId[];

const paymentMeans = ['card', 'apple_pay', 'google_pay', 'paypal', 'klarna'] as const;
export type PaymentMeans = (typeof paymentMeans)[number];

export function isPaymentMeans(value: string): value is PaymentMeans {
  return paymentMeans.some((means) => means === value);
}

interface CustomerFacts {
  /** Means of payment that a session can request, with the provider's default first; empty if none are known. */
  readonly means: readonly PaymentMeans[];
  /** Usual minimum and maximum minutes from payment to delivery; null if unknown. */
  readonly usualMinutes: readonly [number, number] | null;
  /** Provider's requirement: an account, or an identity check (`id`) at the first payment; null if none is known. */
  readonly needs: 'account' | 'id' | null;
}

const card = ['card'] as const;
const cardOrWallet = ['card', 'apple_pay', 'google_pay'] as const;

/**
 * Gathered 2026-11, unverified. MoonPay's help says "a few minutes to a few hours", Ramp Network's "within minutes".
 */
export const customerFacts: Readonly<Record<ProviderId, CustomerFacts>> = {
  moonpay: { means: cardOrWallet, usualMinutes: [2, 15], needs: 'id' },
  // Wert, Coinbase, Crypto.com and Stripe have no parameter for the means, so customers choose on the provider's page.
  wert: { means: card, usualMinutes: [1, 5], needs: null },
  revolut: { means: cardOrWallet, usualMinutes: [1, 10], needs: 'id' },
  cryptocom: { means: [], usualMinutes: null, needs: null },
  rampnetwork: { means: cardOrWallet, usualMinutes: [2, 10], needs: 'id' },
  transak: { means: cardOrWallet, usualMinutes: [2, 15], needs: 'id' },
  // Coinbase documents that an account is required (docs.cdp.coinbase.com).
  coinbase: { means: card, usualMinutes: [1, 5], needs: 'account' },
  // PayPal requires a PayPal account. For PayPal and Klarna, the time depends on the provider that sells the USDC.
  paypal: { means: ['paypal'], usualMinutes: null, needs: 'account' },
  stripe: { means: card, usualMinutes: [1, 5], needs: 'id' },
  banxa: { means: cardOrWallet, usualMinutes: [5, 30], needs: 'id' },
  klarna: { means: ['klarna'], usualMinutes: null, needs: null },
};

/** Returns the means of payment that a session must name; null for the provider's default. */
export function namedMeans(provider: ProviderId, means: PaymentMeans | null): PaymentMeans | null {
  return means === customerFacts[provider].means[0] ? null : means;
}

/**
 * Returns the means that may work in this browser. Apple Pay works in Safari on a Mac and in all browsers on iOS, and
 * Google Pay in Chromium and Firefox elsewhere. Web views (no `Safari/` on iOS, `wv` on Android) support neither.
 */
export function meansInBrowser(userAgent: string): readonly PaymentMeans[] {
  const isOther = /(?:Chrome|Firefox)\//.test(userAgent);
  const isAppleDevice = /^Mozilla\/5\.0 \((?:iPhone|iPad|iPod|Macintosh);/.test(userAgent);
  const isApple = isAppleDevice && !isOther && userAgent.includes('Safari/');
  const canGooglePay = isOther && !userAgent.includes('; wv)');
  return paymentMeans.filter(
    (means) => (means !== 'apple_pay' || isApple) && (means !== 'google_pay' || canGooglePay),
  );
}

/** Value of `provider` that lets the customer choose a provider on the checkout page. */
export const MULTI_PROVIDER = 'multi';
export type ProviderChoice = ProviderId | typeof MULTI_PROVIDER;

/** Stored value of `provider` for a payment from a wallet. The card API does not accept it. */
export const DIRECT_PROVIDER = 'direct';

export function isProviderId(value: string): value is ProviderId {
  return Object.hasOwn(providerCatalog, value);
}

/** Returns a provider's assumed delivery for a charge of this USD value, in 10⁻⁶ units; never below zero. */
export function assumedDeliveryUnits(provider: ProviderId, chargedUsdUnits: bigint): bigint {
  const fees: KnownProvider = providerCatalog[provider];
  const minimumUnits = BigInt(fees.minimumFeeUsdCents) * UNITS_PER_CENT;
  const proportional = (chargedUsdUnits * BigInt(fees.feeBasisPoints)) / 10_000n;
  const fee = proportional > minimumUnits ? proportional : minimumUnits;
  return chargedUsdUnits > fee ? chargedUsdUnits - fee : 0n;
}
