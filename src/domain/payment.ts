import { randomFillSync } from 'node:crypto';
import { readHexNumber } from '../platform/keccak.ts';
import type { Currency } from './money.ts';
import type { ForwardStatus, PaymentStatus } from './payment-states.ts';
import type { Address } from './payout-address.ts';
import { DIRECT_PROVIDER, type ProviderChoice } from './provider-catalog.ts';

/**
 * Glossary
 *
 * - Payment: one checkout a merchant created, from `unpaid` to `paid` or `canceled`.
 * - Deposit: a USDC transfer to the payment's deposit address, seen on chain.
 * - Release: the deposit contract's transfer of what lies at the address: to the merchant, less the fee.
 * - Paid threshold: the USDC amount from which a payment counts as paid in full (see `paidThresholdUnits`).
 * - Seen: in a block of the chain as we know it now, which a reorganization may still take back.
 * - Final: in a block that the chain calls finalized and that we have scanned.
 * - Held: seen deposits less seen releases; what still lies at the deposit address.
 * - Surplus: what arrived after the payment was paid; released as well, but it changes no field.
 * - Session: a customer's session at an on-ramp, started by a click on the checkout page.
 * - Relayer: the key that sends releases; it can spend only its own gas balance.
 */

/** How far a payment has come, with the values of one that was just created. */
export const untouchedProgress = {
  status: 'unpaid' as PaymentStatus,
  forwardStatus: 'pending' as ForwardStatus,
  paidAtMs: null as number | null,
  /**
   * To the merchant plus fee, as counted when it became paid (or was released after cancellation). Until then what has
   * been seen at the deposit address, which a reorganization takes back.
   */
  receivedUnits: 0n,
  /** The merchant's part of `receivedUnits`, once it is final; zero until then. */
  forwardedUnits: 0n,
  /** The deposit that reached the paid threshold; until it is reached, the last one that was seen. */
  txidIn: null as string | null,
  txidOut: null as string | null,
  /** Whether clearly less or clearly more than the threshold asks for was seen; null where neither. */
  amountMismatch: null as AmountMismatch | null,
  /** Time of the sender's next try to release the held units; null when there is nothing to release. */
  releaseDueAtMs: null as number | null,
  /** Number of refused simulations of the release in a row (blocklisted wallet, paused token). */
  releaseRefusals: 0,
  /** Why the last simulated release was refused, for operator and merchant. */
  releaseRefusalReason: null as string | null,
  /** Number of batches in a row that were finally mined without releasing it; does not say why, and changes no state. */
  noOpBatches: 0,
  /** The relay batch that carries its release at this moment, or null. */
  relayBatchId: null as number | null,
  /** Why it was canceled; null while it is not. */
  cancelReason: null as CancelReason | null,
  /** Whether the merchant or the operator requested the release of a canceled payment's deposit, or of a small surplus. */
  releaseRequested: false,
};

/** A payment as it is stored: what the merchant asked for, what it is bound to, and how far it has come. */
export interface Payment extends Readonly<typeof untouchedProgress> {
  readonly id: PaymentId;
  readonly accountId: string;
  readonly createdAtMs: number;

  /** The customer's charge in cents of `currency`; includes the fee under pass-through. */
  readonly amountCents: number;
  readonly currency: Currency;
  /** The requested net under pass-through, else null. */
  readonly originalAmountCents: number | null;
  /** The fee that pass-through added, else null. */
  readonly customerFeeCents: number | null;
  readonly passFeeToCustomer: boolean;
  readonly feeBasisPoints: number;
  readonly provider: ProviderChoice | typeof DIRECT_PROVIDER;
  /** Receives the signed event; null for a payment made without an API key, of which no event is sent. */
  readonly callbackUrl: string | null;
  readonly email: string | null;
  readonly note: string | null;
  /** What is paid for, as the customer reads it; null for payments of the API. */
  readonly orderLine: string | null;
  /** `LINK_ORIGIN` for a payment whose link was made in the dashboard, the id of its reusable page, else null. */
  readonly origin: string | null;
  /** Names the secret that its ipn_token was made with. */
  readonly tokenFingerprint: string;

  readonly chainId: number;
  readonly factory: Address;
  readonly payoutAddress: Address;
  readonly feeWallet: Address;
  readonly depositAddress: Address;
  /** The charge's value in USD at creation, in 10⁻⁶ units. */
  readonly usdUnits: bigint;
  /** Shortfall that counts as paid in full; null for a payment from before it was stored, which takes the operator's setting. */
  readonly toleranceBasisPoints: number | null;
  /** A provider that keeps more of the charge is not offered; null for a payment made before there was a maximum. */
  readonly maxProviderFeeBasisPoints: number | null;
  /** The paid threshold: from this sum of deposits on the payment is paid in full, in 10⁻⁶ USDC units. */
  readonly paidThresholdUnits: bigint;
}

/** The key of a payment in the store: its account is part of its rows' key. A `Payment` is one itself. */
export type PaymentReference = Pick<Payment, 'id' | 'accountId'>;

/** The origin of a payment whose link was made in the dashboard. */
export const LINK_ORIGIN = 'link';

/** How the ids of reusable pages begin, which are the origins of the payments made on them. */
export const PAGE_ID_PREFIX = 'page_';

/** The page that a payment was made on; null for every other payment. */
export function pageIdOf({ origin }: Pick<Payment, 'origin'>): string | null {
  return origin?.startsWith(PAGE_ID_PREFIX) === true ? origin : null;
}

/** What payments of the API do not have. */
export const noOrder = { orderLine: null, origin: null } as const satisfies Partial<Payment>;

/** The difference between received and requested amount, where the merchant should know it. */
export const amountMismatches = ['partially_paid', 'overpaid'] as const;
export type AmountMismatch = (typeof amountMismatches)[number];

export type CancelReason = 'expired' | 'merchant' | 'operator';

/** Whether the customer pays from a wallet instead of by card: it is paid when its deposit is final, and forwarded later. */
export function isDirect({ provider }: Pick<Payment, 'provider'>): boolean {
  return provider === DIRECT_PROVIDER;
}

/** The value of a USDC amount in the payment's currency, at the rate of its creation. Rounded. */
export function aboutCents(
  { amountCents, usdUnits }: Pick<Payment, 'amountCents' | 'usdUnits'>,
  units: bigint,
): number {
  return usdUnits === 0n ? 0 : Number((units * BigInt(amountCents) + usdUnits / 2n) / usdUnits);
}

/** The fields of a payment that change after its creation. */
export const changingFields = [
  ...(Object.keys(untouchedProgress) as (keyof typeof untouchedProgress)[]),
  'paidThresholdUnits',
  'note',
] as const;
export type PaymentChange = Partial<Pick<Payment, (typeof changingFields)[number]>>;

/** A position in the chain; log index −1 means a whole transaction. */
export interface ChainPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly transactionHash: string;
}

/** A USDC transfer to a deposit address. */
export interface Deposit extends ChainPosition {
  readonly units: bigint;
}

/** A `Forwarded` event of a payment's deposit address, whichever account triggered it. */
export interface Release extends ChainPosition {
  readonly toMerchantUnits: bigint;
  readonly feeUnits: bigint;
}

/** A `Rescued` event of a payment's deposit address: a token that was no payment went to the merchant. */
export interface Rescue extends ChainPosition {
  /** The zero address for the chain's own coin. */
  readonly token: Address;
  readonly units: bigint;
}

/** All deposits and releases of one payment observed on the chain, in chain order. Rows at or below `finalBlock` are final. */
export interface ChainObservations {
  readonly deposits: readonly Deposit[];
  readonly releases: readonly Release[];
  readonly finalBlock: number;
}

/** A UUIDv7 in its canonical lower-case text. */
export type PaymentId = string;

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const PAYMENT_ID_CHARACTERS = 36;

export function isPaymentId(value: unknown): value is PaymentId {
  return typeof value === 'string' && uuid7.test(value);
}

/** The millisecond of a payment id's creation, since 1970. */
export function paymentIdTimeMs(id: PaymentId): number {
  return readHexNumber(id, 0, 8) * 2 ** 16 + readHexNumber(id, 9, 13);
}

/**
 * Makes UUIDv7s that never go backwards within this process, because time-ordered keys are several times cheaper
 * to insert (and `crypto.randomUUIDv7` is not ordered within a millisecond). Layout after the 48-bit time:
 * a 10-bit counter within the millisecond, then 64 random bits, so that every id stays unguessable.
 */
export function createPaymentIdGenerator(nowMs: () => number): () => PaymentId {
  const pool = Buffer.alloc(8 * 256);
  let poolDigits = '';
  let poolOffset = 0;
  let lastMs = 0;
  let time = '';
  let counter = 0;

  function moveTo(timeMs: number): void {
    lastMs = timeMs;
    time = timeMs.toString(16).padStart(12, '0');
    counter = 0;
  }

  return () => {
    const currentMs = nowMs();
    if (currentMs > lastMs) moveTo(currentMs);
    // More than 1,024 in a millisecond, or a clock that went back: borrow from the next millisecond.
    else if (++counter > 0x3ff) moveTo(lastMs + 1);
    if (poolOffset === poolDigits.length) {
      poolDigits = randomFillSync(pool).toString('hex');
      poolOffset = 0;
    }
    const random = poolDigits.slice(poolOffset, poolOffset + 16);
    const randomHigh = readHexNumber(random, 0, 2);
    poolOffset += 16;
    // 12 bits: the counter and the first two random bits; then the two variant bits; then 62 random bits.
    const counterAndTwoBits = ((counter << 2) | (randomHigh >> 6)).toString(16).padStart(3, '0');
    const variantNibble = (0x8 | ((randomHigh >> 4) & 0x3)).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counterAndTwoBits}-${variantNibble}${random.slice(1, 4)}-${random.slice(4)}`;
  };
}

/** A text that sorts before all payment ids of this millisecond and later, and after all earlier ones. */
export function firstIdAtMs(timeMs: number): string {
  const digits = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/**
 * The short code is the payment id without its fixed bits, in letters that cannot be mistaken for each other
 * (Crockford's base 32: no i, l, o, u). Being derived it needs no index of random values, which would slow the
 * inserts down, and it is found again by the primary key. It carries the id's 64 random bits.
 */
const crockford = '0123456789abcdefghjkmnpqrstvwxyz';

/** Start of the time count, which leaves 41 bits: enough until 2093. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
const TIME_BITS = 41n;
/** 41 bits of time and the id's 74 bits of counter and randomness, five to a letter. */
const SHORT_CODE_LENGTH = 23;

const shortCodePattern = new RegExp(`^[${crockford}]{${SHORT_CODE_LENGTH}}$`);

/** Two digits of base 32 in our letters, for each value of ten bits: half as many steps as letter by letter. */
const letterPairs = Array.from(
  { length: 1024 },
  (_, value) => `${crockford[value >> 5]}${crockford[value & 31]}`,
);

/**
 * The short code of a payment id: 41 bits of time, 12 of the counter, 62 random ones, the highest first. Cut where a
 * letter ends, every part is a number that JavaScript counts exactly: one of 115 bits would take twice as long.
 */
export function shortCodeOf(id: PaymentId): string {
  const timeMs = paymentIdTimeMs(id) - EPOCH_MS;
  const counterBits = readHexNumber(id, 15, 18);
  const randomHigh14 = readHexNumber(id, 19, 23) & 0x3fff;
  const randomLow48 = readHexNumber(id, 24, 36);

  const counter13 = (timeMs % 2) * 2 ** 12 + counterBits;
  const random17 = ((counter13 & 0b111) << 14) | randomHigh14;
  const last50 = (random17 & 0b11) * 2 ** 48 + randomLow48;
  return (
    letters(Math.floor(timeMs / 2), 4) +
    letters(counter13 >> 3, 1) +
    crockford[random17 >> 12] +
    letters((random17 >> 2) & 0x3ff, 1) +
    letters(last50, 5)
  );
}

/** A number in pairs of letters. */
function letters(value: number, pairs: number): string {
  let text = '';
  for (let rest = value, pair = 0; pair < pairs; pair++) {
    text = letterPairs[rest % 1024] + text;
    rest = Math.floor(rest / 1024);
  }
  return text;
}

/** The payment id of a short code, or null when the text is none. */
export function paymentIdOfShortCode(code: string): PaymentId | null {
  if (!shortCodePattern.test(code)) return null;
  let bits = 0n;
  for (const letter of code) bits = (bits << 5n) | BigInt(crockford.indexOf(letter));
  const offsetMs = bits >> 74n;
  if (offsetMs >> TIME_BITS !== 0n) return null;
  const time = (Number(offsetMs) + EPOCH_MS).toString(16).padStart(12, '0');
  const counter = ((bits >> 62n) & 0xfffn).toString(16).padStart(3, '0');
  const random = ((bits & ((1n << 62n) - 1n)) | (0b10n << 62n)).toString(16);
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${random.slice(0, 4)}-${random.slice(4)}`;
  return isPaymentId(id) ? id : null;
}
