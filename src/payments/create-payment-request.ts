import type { Currency } from '../domain/money.ts';
import type { Address } from '../domain/payout-address.ts';

/** A create request whose form was found good; `provider` is still any text. */
export interface CreatePaymentRequest {
  readonly payoutAddress: Address;
  readonly callbackUrl: string;
  readonly amountCents: number;
  readonly currency: Currency;
  readonly passFeeToCustomer: boolean;
  readonly provider: string;
  readonly email: string | null;
  readonly note: string | null;
  readonly idempotencyKey: string | null;
}
