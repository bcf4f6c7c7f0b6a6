/** What travels, under the names it has on the wire. */

/** Which currencies a checkout can have. */
export type Currency = 'USD' | 'EUR' | 'CAD' | 'INR';

/** One on-ramp, or `multi`: the customer chooses. */
export type Provider =
  | 'multi'
  | 'moonpay'
  | 'wert'
  | 'revolut'
  | 'cryptocom'
  | 'rampnetwork'
  | 'transak'
  | 'coinbase'
  | 'paypal'
  | 'stripe'
  | 'banxa'
  | 'klarna';

/** What a checkout is created with. */
export interface CheckoutRequest {
  /** Your payout wallet on Polygon, `0x` and 40 hex digits. */
  readonly address: string;
  /** Where the webhook goes: https, a public host. */
  readonly callback: string;
  /** From 0.01 to 10000, at most two decimals. A string like `'25.00'` is better than a number. */
  readonly amount: string | number;
  /** USD if left out. */
  readonly currency?: Currency | null;
  /** Raise the charge, so that the account's fee leaves you the amount you asked for. */
  readonly passFeeToCustomer?: boolean | null;
  /** `multi` if left out. */
  readonly provider?: Provider | null;
  /** The customer's. */
  readonly email?: string | null;
  /** At most 500 characters: in the webhook, and in the preview of the short link. */
  readonly note?: string | null;
}

/** A payment as creation answers it. */
export interface Payment {
  readonly payment_id: string;
  /** Secret. Store it with the order; never show it to the customer. */
  readonly ipn_token: string;
  /** Send the customer here. */
  readonly checkout_url: string;
  readonly short_code: string;
  readonly short_url: string;
  readonly callback_url: string;
  readonly address_in: string;
  readonly polygon_address_in: string;
  readonly payment_type: string;
  readonly provider: string;
  /** What the customer pays, a decimal string. */
  readonly amount: string;
  readonly original_amount: string | null;
  readonly customer_fee_amount: string | null;
  readonly pass_fee_to_customer: boolean;
  readonly fee_percent: number;
  readonly status: 'unpaid';
}

/** What became of a payment. */
export interface PaymentStatus {
  readonly payment_id: string;
  /** Fulfil when it is `paid`, and never before. */
  readonly status: 'unpaid' | 'paid' | 'canceled';
  readonly forward_status:
    | 'pending'
    | 'ready'
    | 'processing'
    | 'completed'
    | 'failed'
    | 'manual_required'
    | 'canceled';
  readonly amount: string;
  readonly original_amount: string | null;
  readonly customer_fee_amount: string | null;
  readonly pass_fee_to_customer: boolean;
  readonly currency: Currency;
  readonly coin: string;
  /** USDC that arrived, six decimals. */
  readonly value_coin: string;
  /** Your part of it. */
  readonly forwarded_amount: string;
  readonly txid_in: string | null;
  readonly txid_out: string | null;
  readonly address_in: string;
  /** ISO 8601; null until it is paid. */
  readonly paid_at: string | null;
  readonly created_at: string;
}

/** A payment of your account, as `/merchant/v1` shows it. */
export interface MerchantPayment extends PaymentStatus {
  readonly provider: string;
  readonly fee_percent: number;
  readonly payout_address: string;
  readonly checkout_url: string;
  /** Not verified. */
  readonly email: string | null;
  readonly note: string | null;
  readonly amount_mismatch: 'partially_paid' | 'overpaid' | null;
  /** What is missing of an open, partially paid payment, and the link to pay it: `amount` at a provider, or `usdc_amount` from a wallet. */
  readonly rest: { readonly amount: string; readonly usdc_amount: string; readonly url: string } | null;
  readonly cancel_reason: 'expired' | 'merchant' | 'operator' | null;
}

/** What a direct payment is created with. */
export interface DirectPaymentRequest
  extends Pick<CheckoutRequest, 'amount' | 'currency' | 'email' | 'note'>,
    Partial<Pick<CheckoutRequest, 'address' | 'callback'>> {}

/** A direct payment as creation answers it. */
export interface DirectPayment extends MerchantPayment {
  /** Secret. Store it with the order; never show it to the customer. */
  readonly ipn_token: string;
  /** The USDC that the customer has to send. */
  readonly usdc_amount: string;
}

/** Payments, newest first. */
export interface MerchantPaymentPage {
  readonly payments: readonly MerchantPayment[];
  /** The `before` of the next page; null at the end. */
  readonly next: string | null;
}

/** What an event says happened. Other types can be added: ignore those that you do not know. */
export type MerchantEventType =
  | 'payment.deposit_seen'
  | 'payment.deposit_reverted'
  | 'payment.partially_paid'
  | 'payment.overpaid'
  | 'payment.paid'
  | 'payment.forwarded'
  | 'payment.canceled'
  | 'payment.attention_required'
  | 'payment.updated'
  | 'refund.opened'
  | 'refund.address_named'
  | 'refund.address_confirmed'
  | 'refund.transaction_refused'
  | 'refund.paid'
  | 'refund.transfer_reverted'
  | 'refund.canceled';

/** A refund in USDC, which you transfer from your own wallet. */
export interface Refund {
  readonly refund_id: string;
  readonly payment_id: string;
  readonly status:
    | 'awaiting_address'
    | 'awaiting_confirmation'
    | 'awaiting_transfer'
    | 'paid'
    | 'canceled'
    | 'expired';
  /** In USDC. Transfer exactly this amount. */
  readonly amount: string;
  readonly reason: string | null;
  /** Null until the customer names it. */
  readonly destination: string | null;
  /** The transfer for a wallet (EIP-681) while it is expected. */
  readonly payment_uri: string | null;
  readonly submitted_transaction: string | null;
  readonly transaction_problem: 'no_transfer' | 'too_early' | 'exceeds_received' | 'already_counted' | null;
  readonly transaction: string | null;
  readonly sender: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly paid_at: string | null;
  /** The link with which the customer names an address: only in the response that opens a refund without one. */
  readonly address_url: string | null;
}

/** What a refund is opened with. */
export interface RefundRequest {
  /** In USDC, `all` (the default) or `surplus`. */
  readonly amount?: string;
  readonly reason?: string | null;
  /** The customer's Polygon address, if you know it. Without it, the response has a link for the customer. */
  readonly destination?: string | null;
}

/** Refunds of a payment, the oldest first. */
export interface RefundList {
  readonly refunds: readonly Refund[];
  readonly refundable_amount: string;
}

/** One entry of the account's event log. */
export interface MerchantEvent {
  /** Higher than that of the event before, and not consecutive. */
  readonly number: number;
  readonly type: MerchantEventType;
  readonly created_at: string;
  /** The payment as it is now, not as it was then. */
  readonly payment: MerchantPayment;
  /** The refund as it is now, in an event of a refund; else null. */
  readonly refund: Refund | null;
}

/** Events in their order. */
export interface MerchantEventPage {
  readonly events: readonly MerchantEvent[];
  /** The `after` of the next request. */
  readonly next_after: number;
  readonly has_more: boolean;
}

/** A payment was received. Of a card payment, the money is in your wallet as well. */
export interface PaymentPaidEvent {
  readonly event: 'payment.paid';
  readonly id: string;
  readonly paymentId: string;
  readonly status: 'paid';
  readonly amount: string | null;
  readonly originalAmount: string | null;
  readonly customerFeeAmount: string | null;
  readonly passFeeToCustomer: boolean;
  readonly currency: string;
  readonly coin: string | null;
  /** USDC that arrived, less than `amount` by the provider's fee: compare it with `amount` and `currency`. */
  readonly receivedAmount: string | null;
  readonly forwardedAmount: string | null;
  readonly txidIn: string | null;
  readonly txidOut: string | null;
  readonly note: string | null;
  readonly email?: string | null;
  /** The time of sending, in Unix seconds. */
  readonly timestamp: number;
}

/** The money of a payment made directly in USDC was sent to your wallet. */
export interface PaymentForwardedEvent {
  readonly event: 'payment.forwarded';
  readonly paymentId: string;
  readonly forwardTxid: string;
  readonly amountForwarded: string;
  readonly toWallet: string;
  /** The time of sending, in Unix seconds. */
  readonly timestamp: number;
}

/** Every kind of event that exists. */
export type WebhookEvent = PaymentPaidEvent | PaymentForwardedEvent;

/** `/.well-known/card-checkout.json`: what anyone needs to prove where the money of a payment can go. */
export interface SettlementPublication {
  readonly chain_id: number;
  readonly token: string;
  readonly factories: readonly {
    readonly address: string;
    readonly implementation: string;
    readonly code_hash: string;
  }[];
  readonly fee_wallets: readonly string[];
}
