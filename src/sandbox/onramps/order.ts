import type { Currency } from '../../domain/money.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';

/**
 * The life of an order at a simulated on-ramp:
 * open → accepted (the card was charged) → signed (its transfer is stored) → sent (the node has it) → delivered
 * (final on the chain), or → failed (the token refused it again and again). A declined card leaves it open.
 */
export const orderStates = ['open', 'accepted', 'signed', 'sent', 'delivered', 'failed'] as const;
export type OrderState = (typeof orderStates)[number];

/** What a customer buys at a simulated on-ramp. */
export interface Order {
  readonly id: string;
  readonly provider: ProviderId;
  readonly amountCents: number;
  readonly currency: Currency;
  readonly walletAddress: Address;
  /** The shop's own name for it. */
  readonly externalId: string;
  readonly email: string | null;
  /** Empty at a provider that leads nobody back. */
  readonly returnUrl: string;
  /** What was promised when the session began, 10⁻⁶ units. */
  readonly quotedUnits: bigint;
  readonly createdAtMs: number;
  /** Until then it can be paid. */
  readonly expiresAtMs: number;
  readonly state: OrderState;
  /** What is or will be delivered once paid, 10⁻⁶ units; null while open. */
  readonly deliveryUnits: bigint | null;
  /** Whether another token than USDC is or will be delivered. */
  readonly isWrongToken: boolean;
  /** When the delivery is due once paid; null while open. */
  readonly dueAtMs: number | null;
  /** Of the transfer that counts; null until one is signed. */
  readonly transactionHash: string | null;
  /** How often the token refused the transfer. */
  readonly refusals: number;
}

/** A session is good for this long, like the real ones. */
export const SESSION_LIFETIME_MS = 30 * 60_000;

/**
 * One nonce of the treasury and the one transaction that may use it. `void` ones move nothing: their order was given
 * another nonce, and should theirs become free again, an empty transaction takes it.
 */
export interface Transfer {
  readonly nonce: number;
  /** Null for an empty transaction that only fills a gap. */
  readonly orderId: string | null;
  readonly hash: string;
  readonly rawTransaction: string;
  readonly state: 'pending' | 'final' | 'void';
}
