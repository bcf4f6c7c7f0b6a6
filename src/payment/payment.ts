import type { Address } from './address.ts';
import type { Currency } from './money.ts';
import type { ForwardStatus, PaymentStatus } from './payment-states.ts';
import { DIRECT_PROVIDER, type ProviderChoice } from './provider-catalog.ts';

// Glossary
// - Payment: one checkout of a merchant, from `unpaid` to `paid` or `canceled`.
// - Deposit: a USDC transfer to the payment's deposit address, seen on chain.
// - Release: the deposit contract's transfer of the address's balance to the merchant, less the fee.
// - Paid threshold: the minimum amount of USDC with which a payment is paid in full (see `paidThresholdUnits`).
// - Seen: in a block of the current chain, which a reorganization may still remove.
// - Final: in a scanned block that the chain calls finalized.
// - Held: seen deposits less seen releases, which are still at the deposit address.
// - Surplus: deposits after the payment was paid. They are also released, but do not change the payment.
// - Session: a customer's session at an on-ramp, started from the checkout page.
// - Relayer: the key that signs release transactions. It can spend only its own gas balance.

/** Fields that change after a payment's creation, with their initial values. */
export const untouchedProgress = {
  status: 'unpaid' as PaymentStatus,
  forwardStatus: 'pending' as ForwardStatus,
  paidAtMs: null as number | null,
  /** Sum seen, which a reorganization may lower. Fixed once the payment is paid, or released after cancellation. */
  receivedUnits: 0n,
  /** Merchant's part of `receivedUnits` once the releases are final; zero before. */
  forwardedUnits: 0n,
  /** Transaction hash of the deposit that reached the paid threshold; until then, of the last deposit seen. */
  txidIn: null as string | null,
  txidOut: null as string | null,
  /** Set if the sum seen is clearly below the threshold or clearly above the value; otherwise null. */
  amountMismatch: null as AmountMismatch | null,
  /** Time of the next attempt to release the held units; null if none is planned. */
  releaseDueAtMs: null as number | null,
  /** Consecutive refused simulations of the release, for example for a blocklisted wallet or a paused token. */
  releaseRefusals: 0,
  releaseRefusalReason: null as string | null,
  /** Consecutive final batches that did not release the payment, for any reason. Does not affect the state. */
  noOpBatches: 0,
  relayBatchId: null as number | null,
  cancelReason: null as CancelReason | null,
  /** Whether the merchant or operator requested a release, or accepted a partial payment. */
  releaseRequested: false,
};

export interface Payment extends Readonly<typeof untouchedProgress> {
  readonly id: PaymentId;
  readonly accountId: string;
  readonly createdAtMs: number;

  /** Customer's charge in cents of `currency`, including any fee that is passed to the customer. */
  readonly amountCents: number;
  readonly currency: Currency;
  /** Requested amount in cents before the fee, if the fee is passed to the customer; otherwise null. */
  readonly originalAmountCents: number | null;
  /** Fee in cents, if it is passed to the customer; otherwise null. */
  readonly customerFeeCents: number | null;
  readonly passFeeToCustomer: boolean;
  readonly feeBasisPoints: number;
  readonly provider: ProviderChoice | typeof DIRECT_PROVIDER;
  /** URL for signed webhooks; null for a payment created without an API key, which sends no webhooks. */
  readonly callbackUrl: string | null;
  readonly email: string | null;
  readonly note: string | null;
  /** Description of the order for the customer; null for payments of the API. */
  readonly orderLine: string | null;
  /** `LINK_ORIGIN` for a payment link of the dashboard, the page's id for a payment page, otherwise null. */
  readonly origin: string | null;
  /** Order's id in the merchant's system, opaque to the service. */
  readonly reference: string | null;
  /** Merchant's own key-value pairs. They may be personal data, and are erased with the email address. */
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly orderDetails: OrderDetails | null;
  /** The payment's own deadline, which may precede the general deadline; null if it has none. */
  readonly deadlineMs: number | null;
  /** Fingerprint of the secret that signs the payment's `ipn_token`. */
  readonly tokenFingerprint: string;

  readonly chainId: number;
  readonly factory: Address;
  readonly payoutAddress: Address;
  readonly feeWallet: Address;
  readonly depositAddress: Address;
  /** The charge's value in USD at creation, in 10⁻⁶ units. */
  readonly usdUnits: bigint;
  readonly toleranceBasisPoints: number;
  readonly maxProviderFeeBasisPoints: number;
  /** Minimum sum of deposits with which the payment is paid in full, in 10⁻⁶ USDC units. */
  readonly paidThresholdUnits: bigint;
}

/** Items that the customer buys, and the URLs to return to after the checkout. */
export interface OrderDetails {
  readonly items: readonly LineItem[];
  /** URL to return to after the payment. Both URLs are used only while the account's `returnHosts` have their host. */
  readonly returnUrl: string | null;
  /** URL for a canceled or expired payment; null to use `returnUrl`. */
  readonly cancelUrl: string | null;
}

export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  /** Amount of the whole line, for the full quantity, in the payment's currency; negative for a discount. */
  readonly amountCents: number;
}

export function itemLabel({ name, quantity }: LineItem): string {
  return quantity === 1 ? name : `${quantity} × ${name}`;
}

/** Reference to a payment of an account. The id of another account's payment is treated as unknown. */
export type PaymentReference = Pick<Payment, 'id' | 'accountId'>;

export const LINK_ORIGIN = 'link';

/** Prefix of payment page ids. A page's id is the `origin` of its payments. */
export const PAGE_ID_PREFIX = 'page_';

/** Order fields of payments created through `/api/v1`, which have no order. */
export const noOrder = {
  orderLine: null,
  origin: null,
  reference: null,
  metadata: null,
  orderDetails: null,
  deadlineMs: null,
} as const satisfies Partial<Payment>;

/** Returns when an open payment expires: `expiryMs` after its creation, or at its own deadline if that is earlier. */
export function deadlineOf(
  { createdAtMs, deadlineMs }: Pick<Payment, 'createdAtMs' | 'deadlineMs'>,
  expiryMs: number,
): number {
  return Math.min(createdAtMs + expiryMs, deadlineMs ?? Number.POSITIVE_INFINITY);
}

/** Significant differences between the received and the requested amount. */
export const amountMismatches = ['partially_paid', 'overpaid'] as const;
export type AmountMismatch = (typeof amountMismatches)[number];

export const cancelReasons = ['expired', 'merchant', 'operator'] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** Returns whether the customer pays from a wallet. A direct payment is paid once its deposits are final. */
export function isDirect({ provider }: Pick<Payment, 'provider'>): boolean {
  return provider === DIRECT_PROVIDER;
}

/** Converts 10⁻⁶ USDC units to cents of the payment's currency, at the exchange rate of its creation, rounded. */
export function aboutCents(
  { amountCents, usdUnits }: Pick<Payment, 'amountCents' | 'usdUnits'>,
  units: bigint,
): number {
  return usdUnits === 0n ? 0 : Number((units * BigInt(amountCents) + usdUnits / 2n) / usdUnits);
}

export type PaymentChange = Partial<
  Pick<Payment, keyof typeof untouchedProgress | 'paidThresholdUnits' | 'note'>
>;

/** Position of a log in the chain. A negative `logIndex` marks a sum of final dust rows, at the last row's position. */
export interface ChainPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly transactionHash: string;
}

export interface Deposit extends ChainPosition {
  readonly units: bigint;
}

/** `Forwarded` event of a payment's deposit address, which anyone can trigger. */
export interface Release extends ChainPosition {
  readonly toMerchantUnits: bigint;
  readonly feeUnits: bigint;
}

/** `Rescued` event of a payment's deposit address, which sent another token to the merchant. */
export interface Rescue extends ChainPosition {
  /** Address of the token; the zero address for POL. */
  readonly token: Address;
  readonly units: bigint;
}

/** Observed deposits and releases of one payment, in chain order. Rows up to block `finalBlock` are final. */
export interface ChainObservations {
  readonly deposits: readonly Deposit[];
  readonly releases: readonly Release[];
  readonly finalBlock: number;
  /** Newest block at the time of the database's last restore; absent without a restore. */
  readonly restoredBlock?: number | undefined;
}

/** UUIDv7 in its canonical lower-case form (`payment-id.ts`). */
export type PaymentId = string;
