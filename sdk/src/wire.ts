/** Requests, answers and events, under the names of the API. Generated from the schemas of the service. */

/** The currencies that a checkout can have. */
export type Currency = PaymentStatus['currency'];
/** One on-ramp, or `multi`: the customer chooses. */
export type Provider = Payment['provider'];
/** One entry of the account's event log. Numbers increase from each event to the next, but with gaps. */
export type MerchantEvent = MerchantEventPage['events'][number];
/** What an event says happened. Other types can be added: ignore those that you do not know. */
export type MerchantEventType = MerchantEvent['type'];
/** Every event that your callback receives. */
export type WebhookEvent = PaymentPaidEvent | PaymentForwardedEvent;

/** The request that creates a checkout. */
export interface CheckoutRequest {
  /** Your payout wallet on Polygon: `0x` and 40 hex digits. A mixed-case address must have a valid checksum. The zero address and the service's own addresses are refused. If payouts are locked to the account's wallet, all other addresses are refused. */
  readonly address: string;
  /** The webhook URL: `https://`, a public host, no credentials, at most 2048 characters. Hosts that resolve to a private address or to this service are refused. */
  readonly callback: string;
  /** From 0.01 to 10000, at most two decimals. Prefer a string such as `"25.00"`. The digits of a number count as written: `10.001` and `10.100` are refused, and `1e2` is 100. */
  readonly amount: string | number;
  /** The currency of the amount. Default: `USD`. */
  readonly currency?: 'USD' | 'EUR' | 'CAD' | 'INR' | null;
  /** `true` increases the charge so that the amount you requested remains after the account's fee. It does not cover the provider's fee. The total including the fee must not exceed 10000. Alias: `pass_fee_to_customer`. Default: `false`. */
  readonly passFeeToCustomer?: boolean | null;
  /** Alias of `passFeeToCustomer`. If you send both, they must be equal. */
  readonly pass_fee_to_customer?: boolean | null;
  /** `multi` lets the customer choose. An id selects one provider. `klarna` supports EUR only. A provider that is not enabled for the account returns 403, and the message lists the enabled ones. Default: `multi`. */
  readonly provider?: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna' | null;
  /** The customer's email address, at most 254 ASCII characters, with an internationalized domain in its `xn--` form. The webhook contains it. A provider receives it if the customer opens `checkout_url`, except Coinbase, Crypto.com and Revolut. Surrounding spaces are removed. An empty string means absent. */
  readonly email?: string | null;
  /** At most 500 characters. Included in the webhook and in the preview of the short link, and hidden from the checkout page. CRLF line breaks are stored as LF and count as one character. An empty note is refused: omit it, or send `null`. */
  readonly note?: string | null;
}

/** A payment, as returned when it is created. */
export interface Payment {
  /** The payment's id, a lower-case UUID. */
  readonly payment_id: string;
  /** Secret. Signs the webhook and identifies the payment. Never show it to the customer. */
  readonly ipn_token: string;
  /** Where to send the customer. `auto=1` with a single provider, `email=…` with an email address. */
  readonly checkout_url: string;
  /** The short code of the checkout. */
  readonly short_code: string;
  /** A short link to the same checkout, for messages and print. */
  readonly short_url: string;
  /** The callback from the create request. */
  readonly callback_url: string;
  /** The deposit address, for reconciliation only. */
  readonly address_in: string;
  /** The same address as `address_in`. */
  readonly polygon_address_in: string;
  /** Always `card`. */
  readonly payment_type: 'card';
  /** `multi`, or the requested provider. */
  readonly provider: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna';
  /** The amount charged to the customer, including a fee passed on. */
  readonly amount: string;
  /** With fee pass-through: the requested amount. Otherwise null. */
  readonly original_amount: string | null;
  /** With fee pass-through: the fee added to it. Otherwise null. */
  readonly customer_fee_amount: string | null;
  /** Whether the fee is passed on to the customer. */
  readonly pass_fee_to_customer: boolean;
  /** The account's card fee in percent. */
  readonly fee_percent: number;
  /** Always `unpaid` at creation. Read the status for later changes. */
  readonly status: 'unpaid';
}

/** The state of a payment. */
export interface PaymentStatus {
  /** The payment's id, a lower-case UUID. */
  readonly payment_id: string;
  /** Fulfill the order only if it is `paid`. */
  readonly status: 'unpaid' | 'paid' | 'canceled';
  /** The progress of the transfer to the merchant wallet. `completed` is final. */
  readonly forward_status: 'pending' | 'ready' | 'processing' | 'failed' | 'manual_required' | 'completed' | 'canceled';
  /** The amount charged to the customer, including a fee passed on. */
  readonly amount: string;
  /** With fee pass-through: the requested amount. Otherwise null. */
  readonly original_amount: string | null;
  /** With fee pass-through: the fee added to it. Otherwise null. */
  readonly customer_fee_amount: string | null;
  /** Whether the fee is passed on to the customer. */
  readonly pass_fee_to_customer: boolean;
  /** The currency of the amount. */
  readonly currency: 'USD' | 'EUR' | 'CAD' | 'INR';
  /** The settlement asset. */
  readonly coin: 'polygon_usdc';
  /** The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`. */
  readonly value_coin: string;
  /** The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release. */
  readonly forwarded_amount: string;
  /** The deposit that reached the paid threshold. Before that, the last deposit seen, or null. */
  readonly txid_in: string | null;
  /** The transaction that paid the merchant. */
  readonly txid_out: string | null;
  /** The deposit address. */
  readonly address_in: string;
  /** The time at which the payment became `paid`, or null. */
  readonly paid_at: string | null;
  /** The time of creation. */
  readonly created_at: string;
}

/** A payment of your account, as `/merchant/v1` shows it. */
export interface MerchantPayment {
  /** The payment's id, a lower-case UUID. */
  readonly payment_id: string;
  /** Fulfill the order only if it is `paid`. */
  readonly status: 'unpaid' | 'paid' | 'canceled';
  /** The progress of the transfer to the merchant wallet. `completed` is final. */
  readonly forward_status: 'pending' | 'ready' | 'processing' | 'failed' | 'manual_required' | 'completed' | 'canceled';
  /** The amount charged to the customer, including a fee passed on. */
  readonly amount: string;
  /** With fee pass-through: the requested amount. Otherwise null. */
  readonly original_amount: string | null;
  /** With fee pass-through: the fee added to it. Otherwise null. */
  readonly customer_fee_amount: string | null;
  /** Whether the fee is passed on to the customer. */
  readonly pass_fee_to_customer: boolean;
  /** The currency of the amount. */
  readonly currency: 'USD' | 'EUR' | 'CAD' | 'INR';
  /** The settlement asset. */
  readonly coin: 'polygon_usdc';
  /** The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`. */
  readonly value_coin: string;
  /** The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release. */
  readonly forwarded_amount: string;
  /** The deposit that reached the paid threshold. Before that, the last deposit seen, or null. */
  readonly txid_in: string | null;
  /** The transaction that paid the merchant. */
  readonly txid_out: string | null;
  /** The deposit address. */
  readonly address_in: string;
  /** The time at which the payment became `paid`, or null. */
  readonly paid_at: string | null;
  /** The time of creation. */
  readonly created_at: string;
  /** The provider that the payment was created with. */
  readonly provider: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna' | 'direct';
  /** The account's fee in percent. */
  readonly fee_percent: number;
  /** The rate at which the charge was converted: USD for one unit of the currency. */
  readonly usd_rate: string;
  /** The payout wallet. */
  readonly payout_address: string;
  /** The page on which the customer pays. */
  readonly checkout_url: string;
  /** The customer's email address, or null. It is not verified. */
  readonly email: string | null;
  /** The note, or null. Only the merchant sees it. */
  readonly note: string | null;
  /** Your id of the order, or null. */
  readonly reference: string | null;
  /** Your metadata; empty if there is none, or after it was erased. */
  readonly metadata: Readonly<Record<string, string>>;
  /** What the customer buys; empty if you named nothing. */
  readonly items: ReadonlyArray<{
    /** The name. */
    readonly name: string;
    /** The quantity. */
    readonly quantity: number;
    /** The amount of the whole line; negative for a discount. */
    readonly amount: string;
  }>;
  /** Where the customer goes after the payment, or null for the account’s setting. */
  readonly return_url: string | null;
  /** Where the customer goes from a canceled or expired checkout, or null for `return_url` or the account’s setting. */
  readonly cancel_url: string | null;
  /** When the open payment expires, or null if the service's default applies. */
  readonly expires_at: string | null;
  /** Set if clearly less or clearly more than the price arrived; otherwise null. */
  readonly amount_mismatch: 'partially_paid' | 'overpaid' | null;
  /** What is missing of an open, partially paid payment, and the link to pay it. Otherwise null. */
  readonly rest: {
    /** The amount that a provider charges, in the currency of the payment. */
    readonly amount: string;
    /** The USDC to send from a wallet instead. */
    readonly usdc_amount: string;
    /** The page on which the customer pays the rest. */
    readonly url: string;
  } | null;
  /** Why the payment was canceled, or null. */
  readonly cancel_reason: 'expired' | 'merchant' | 'operator' | null;
  /** With `expand=deposits`: the USDC transfers to the deposit address. */
  readonly deposits?: ReadonlyArray<{
    /** The transaction hash. */
    readonly transaction: string;
    /** The number of its block. */
    readonly block_number: number;
    /** Whether the block is final. */
    readonly is_final: boolean;
    /** The USDC that arrived. */
    readonly amount: string;
  }>;
  /** With `expand=releases`: the transactions that paid the merchant. */
  readonly releases?: ReadonlyArray<{
    /** The transaction hash. */
    readonly transaction: string;
    /** The number of its block. */
    readonly block_number: number;
    /** Whether the block is final. */
    readonly is_final: boolean;
    /** The merchant's part. */
    readonly forwarded_amount: string;
    /** The fee wallet's part. */
    readonly fee_amount: string;
  }>;
  /** With `expand=sessions`: the customer's sessions at providers. */
  readonly sessions?: ReadonlyArray<{
    /** The provider's id. */
    readonly provider: 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna';
    /** The amount that it charges: the whole amount, or the rest. */
    readonly charged_amount: string;
    /** The USDC that the provider quoted, or null. */
    readonly quoted_amount: string | null;
    /** The provider's last report, or null. Informational only. */
    readonly progress: string | null;
    /** When the session started. */
    readonly created_at: string;
    /** Latest time at which the customer can begin to pay in it. */
    readonly expires_at: string;
  }>;
  /** With `expand=webhooks`: the webhooks of the payment and their one delivery. */
  readonly webhooks?: ReadonlyArray<{
    /** The event type. */
    readonly event: string;
    /** The status of the single delivery. */
    readonly status: string;
    /** The HTTP status that the receiver returned. */
    readonly http_status: number | null;
    /** Why it was not delivered, or null. */
    readonly reason: string | null;
    /** When the webhook was queued. */
    readonly created_at: string;
    /** When the delivery ended, or null. */
    readonly finished_at: string | null;
  }>;
}

/** The request of a platform that creates a checkout. */
export interface MerchantCheckoutRequest {
  /** Your payout wallet on Polygon: `0x` and 40 hex digits. A mixed-case address must have a valid checksum. The zero address and the service's own addresses are refused. If payouts are locked to the account's wallet, all other addresses are refused. Default: the account's wallet. */
  readonly address?: string | null;
  /** The webhook URL: `https://`, a public host, no credentials, at most 2048 characters. Hosts that resolve to a private address or to this service are refused. Default: the account's callback URL. */
  readonly callback?: string | null;
  /** From 0.01 to 10000, at most two decimals. Prefer a string such as `"25.00"`. The digits of a number count as written: `10.001` and `10.100` are refused, and `1e2` is 100. */
  readonly amount: string | number;
  /** The currency of the amount. Default: `USD`. */
  readonly currency?: 'USD' | 'EUR' | 'CAD' | 'INR' | null;
  /** `true` increases the charge so that the amount you requested remains after the account's fee. It does not cover the provider's fee. The total including the fee must not exceed 10000. Alias: `pass_fee_to_customer`. Default: `false`. */
  readonly passFeeToCustomer?: boolean | null;
  /** Alias of `passFeeToCustomer`. If you send both, they must be equal. */
  readonly pass_fee_to_customer?: boolean | null;
  /** `multi` lets the customer choose. An id selects one provider. `klarna` supports EUR only. A provider that is not enabled for the account returns 403, and the message lists the enabled ones. Default: `multi`. */
  readonly provider?: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna' | null;
  /** The customer's email address, at most 254 ASCII characters, with an internationalized domain in its `xn--` form. The webhook contains it. A provider receives it if the customer opens `checkout_url`, except Coinbase, Crypto.com and Revolut. Surrounding spaces are removed. An empty string means absent. */
  readonly email?: string | null;
  /** At most 500 characters. Included in the webhook and in the preview of the short link, and hidden from the checkout page. CRLF line breaks are stored as LF and count as one character. An empty note is refused: omit it, or send `null`. */
  readonly note?: string | null;
  /** Your id of the order or session, at most 200 characters. Not interpreted, not shown to the customer, and not unique. Payments can be listed by it. Put no personal data into it: it is kept. */
  readonly reference?: string | null;
  /** Your own values: at most 20 keys of at most 40 letters, digits, `_`, `.` and `-`, with texts of at most 500 characters. Not shown to the customer, and erased with the email address. */
  readonly metadata?: Readonly<Record<string, string>> | null;
  /** What the customer buys, for the checkout and the receipt: 1 to 50 lines. `amount` is that of the whole line, as text; a discount is negative. The amounts must add up to `amount`. `quantity` is 1 if absent. */
  readonly items?: ReadonlyArray<{
    readonly name: string;
    readonly quantity?: number;
    readonly amount: string;
  }> | null;
  /** Where the customer goes after the payment: `https://`, on a host that the account's owner saved under Settings, Return hosts. Host and port must be the same. `{payment_id}` in the path or query becomes the payment’s id. */
  readonly return_url?: string | null;
  /** Where the customer goes from a canceled or expired checkout (if absent, to `return_url`): `https://`, on a host that the account's owner saved under Settings, Return hosts. Host and port must be the same. `{payment_id}` in the path or query becomes the payment’s id. */
  readonly cancel_url?: string | null;
  /** Seconds until the checkout expires, from 900 up to the service's default, which applies if absent. A customer who is at a provider at that time can still pay. */
  readonly expires_in_seconds?: number | null;
}

/** A checkout of a platform, as returned when it is created. */
export interface MerchantCheckout {
  /** The payment's id, a lower-case UUID. */
  readonly payment_id: string;
  /** Fulfill the order only if it is `paid`. */
  readonly status: 'unpaid' | 'paid' | 'canceled';
  /** The progress of the transfer to the merchant wallet. `completed` is final. */
  readonly forward_status: 'pending' | 'ready' | 'processing' | 'failed' | 'manual_required' | 'completed' | 'canceled';
  /** The amount charged to the customer, including a fee passed on. */
  readonly amount: string;
  /** With fee pass-through: the requested amount. Otherwise null. */
  readonly original_amount: string | null;
  /** With fee pass-through: the fee added to it. Otherwise null. */
  readonly customer_fee_amount: string | null;
  /** Whether the fee is passed on to the customer. */
  readonly pass_fee_to_customer: boolean;
  /** The currency of the amount. */
  readonly currency: 'USD' | 'EUR' | 'CAD' | 'INR';
  /** The settlement asset. */
  readonly coin: 'polygon_usdc';
  /** The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`. */
  readonly value_coin: string;
  /** The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release. */
  readonly forwarded_amount: string;
  /** The deposit that reached the paid threshold. Before that, the last deposit seen, or null. */
  readonly txid_in: string | null;
  /** The transaction that paid the merchant. */
  readonly txid_out: string | null;
  /** The deposit address. */
  readonly address_in: string;
  /** The time at which the payment became `paid`, or null. */
  readonly paid_at: string | null;
  /** The time of creation. */
  readonly created_at: string;
  /** The provider that the payment was created with. */
  readonly provider: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna' | 'direct';
  /** The account's fee in percent. */
  readonly fee_percent: number;
  /** The rate at which the charge was converted: USD for one unit of the currency. */
  readonly usd_rate: string;
  /** The payout wallet. */
  readonly payout_address: string;
  /** The page on which the customer pays. */
  readonly checkout_url: string;
  /** The customer's email address, or null. It is not verified. */
  readonly email: string | null;
  /** The note, or null. Only the merchant sees it. */
  readonly note: string | null;
  /** Your id of the order, or null. */
  readonly reference: string | null;
  /** Your metadata; empty if there is none, or after it was erased. */
  readonly metadata: Readonly<Record<string, string>>;
  /** What the customer buys; empty if you named nothing. */
  readonly items: ReadonlyArray<{
    /** The name. */
    readonly name: string;
    /** The quantity. */
    readonly quantity: number;
    /** The amount of the whole line; negative for a discount. */
    readonly amount: string;
  }>;
  /** Where the customer goes after the payment, or null for the account’s setting. */
  readonly return_url: string | null;
  /** Where the customer goes from a canceled or expired checkout, or null for `return_url` or the account’s setting. */
  readonly cancel_url: string | null;
  /** When the open payment expires, or null if the service's default applies. */
  readonly expires_at: string | null;
  /** Set if clearly less or clearly more than the price arrived; otherwise null. */
  readonly amount_mismatch: 'partially_paid' | 'overpaid' | null;
  /** What is missing of an open, partially paid payment, and the link to pay it. Otherwise null. */
  readonly rest: {
    /** The amount that a provider charges, in the currency of the payment. */
    readonly amount: string;
    /** The USDC to send from a wallet instead. */
    readonly usdc_amount: string;
    /** The page on which the customer pays the rest. */
    readonly url: string;
  } | null;
  /** Why the payment was canceled, or null. */
  readonly cancel_reason: 'expired' | 'merchant' | 'operator' | null;
  /** Secret: it signs the webhooks of the payment. */
  readonly ipn_token: string;
  /** A short link to the same checkout. */
  readonly short_url: string;
}

/** The request that creates a direct payment. */
export interface DirectPaymentRequest {
  /** Your payout wallet on Polygon: `0x` and 40 hex digits. A mixed-case address must have a valid checksum. The zero address and the service's own addresses are refused. If payouts are locked to the account's wallet, all other addresses are refused. Default: the account's wallet. */
  readonly address?: string | null;
  /** The webhook URL: `https://`, a public host, no credentials, at most 2048 characters. Hosts that resolve to a private address or to this service are refused. Default: the account's callback URL. */
  readonly callback?: string | null;
  /** From 0.01 to 10000, at most two decimals. Prefer a string such as `"25.00"`. The digits of a number count as written: `10.001` and `10.100` are refused, and `1e2` is 100. */
  readonly amount: string | number;
  /** The currency of the amount. Default: `USD`. */
  readonly currency?: 'USD' | 'EUR' | 'CAD' | 'INR' | null;
  /** The customer's email address, at most 254 ASCII characters, with an internationalized domain in its `xn--` form. The webhook contains it. A provider receives it if the customer opens `checkout_url`, except Coinbase, Crypto.com and Revolut. Surrounding spaces are removed. An empty string means absent. */
  readonly email?: string | null;
  /** At most 500 characters. Included in the webhook and in the preview of the short link, and hidden from the checkout page. CRLF line breaks are stored as LF and count as one character. An empty note is refused: omit it, or send `null`. */
  readonly note?: string | null;
}

/** A direct payment, as returned when it is created. */
export interface DirectPayment {
  /** The payment's id, a lower-case UUID. */
  readonly payment_id: string;
  /** Fulfill the order only if it is `paid`. */
  readonly status: 'unpaid' | 'paid' | 'canceled';
  /** The progress of the transfer to the merchant wallet. `completed` is final. */
  readonly forward_status: 'pending' | 'ready' | 'processing' | 'failed' | 'manual_required' | 'completed' | 'canceled';
  /** The amount charged to the customer, including a fee passed on. */
  readonly amount: string;
  /** With fee pass-through: the requested amount. Otherwise null. */
  readonly original_amount: string | null;
  /** With fee pass-through: the fee added to it. Otherwise null. */
  readonly customer_fee_amount: string | null;
  /** Whether the fee is passed on to the customer. */
  readonly pass_fee_to_customer: boolean;
  /** The currency of the amount. */
  readonly currency: 'USD' | 'EUR' | 'CAD' | 'INR';
  /** The settlement asset. */
  readonly coin: 'polygon_usdc';
  /** The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`. */
  readonly value_coin: string;
  /** The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release. */
  readonly forwarded_amount: string;
  /** The deposit that reached the paid threshold. Before that, the last deposit seen, or null. */
  readonly txid_in: string | null;
  /** The transaction that paid the merchant. */
  readonly txid_out: string | null;
  /** The deposit address. */
  readonly address_in: string;
  /** The time at which the payment became `paid`, or null. */
  readonly paid_at: string | null;
  /** The time of creation. */
  readonly created_at: string;
  /** The provider that the payment was created with. */
  readonly provider: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna' | 'direct';
  /** The account's fee in percent. */
  readonly fee_percent: number;
  /** The rate at which the charge was converted: USD for one unit of the currency. */
  readonly usd_rate: string;
  /** The payout wallet. */
  readonly payout_address: string;
  /** The page on which the customer pays. */
  readonly checkout_url: string;
  /** The customer's email address, or null. It is not verified. */
  readonly email: string | null;
  /** The note, or null. Only the merchant sees it. */
  readonly note: string | null;
  /** Your id of the order, or null. */
  readonly reference: string | null;
  /** Your metadata; empty if there is none, or after it was erased. */
  readonly metadata: Readonly<Record<string, string>>;
  /** What the customer buys; empty if you named nothing. */
  readonly items: ReadonlyArray<{
    /** The name. */
    readonly name: string;
    /** The quantity. */
    readonly quantity: number;
    /** The amount of the whole line; negative for a discount. */
    readonly amount: string;
  }>;
  /** Where the customer goes after the payment, or null for the account’s setting. */
  readonly return_url: string | null;
  /** Where the customer goes from a canceled or expired checkout, or null for `return_url` or the account’s setting. */
  readonly cancel_url: string | null;
  /** When the open payment expires, or null if the service's default applies. */
  readonly expires_at: string | null;
  /** Set if clearly less or clearly more than the price arrived; otherwise null. */
  readonly amount_mismatch: 'partially_paid' | 'overpaid' | null;
  /** What is missing of an open, partially paid payment, and the link to pay it. Otherwise null. */
  readonly rest: {
    /** The amount that a provider charges, in the currency of the payment. */
    readonly amount: string;
    /** The USDC to send from a wallet instead. */
    readonly usdc_amount: string;
    /** The page on which the customer pays the rest. */
    readonly url: string;
  } | null;
  /** Why the payment was canceled, or null. */
  readonly cancel_reason: 'expired' | 'merchant' | 'operator' | null;
  /** Secret: it signs the webhooks of the payment. */
  readonly ipn_token: string;
  /** The USDC that the customer has to send. */
  readonly usdc_amount: string;
}

/** Payments, newest first. */
export interface MerchantPaymentPage {
  /** The payments, newest first. */
  readonly payments: ReadonlyArray<MerchantPayment>;
  /** The `before` of the next page, or null at the end. A page can be short and still have a next one. */
  readonly next: string | null;
}

/** The request that opens a refund. */
export interface RefundRequest {
  /** An amount in USDC, `all` for what is left, or `surplus` for the excess of an overpaid payment. Default: `all`. */
  readonly amount?: string | null;
  /** Instead of `amount`: an amount of the charge, in its currency. */
  readonly charge_amount?: string | null;
  /** Instead of `amount`: a share of the charge, in percent. */
  readonly share?: string | null;
  /** Why you refund it. The customer does not see it. */
  readonly reason?: string | null;
  /** The customer's Polygon address, if you know it. Without it, the response has a link for the customer. */
  readonly destination?: string | null;
}

/** A refund in USDC, which you transfer from your own wallet. */
export interface Refund {
  /** The refund's id: `rfd_` and 20 hex digits. */
  readonly refund_id: string;
  /** The payment's id, a lower-case UUID. */
  readonly payment_id: string;
  /** The state. */
  readonly status: 'awaiting_address' | 'awaiting_confirmation' | 'awaiting_transfer' | 'paid' | 'canceled' | 'expired';
  /** The USDC that you transfer; once paid, what was transferred. The last digits identify the refund. */
  readonly amount: string;
  /** The reason, or null. */
  readonly reason: string | null;
  /** The customer's address, or null until the customer enters it. */
  readonly destination: string | null;
  /** The transfer for a wallet (EIP-681) while it is expected; otherwise null. */
  readonly payment_uri: string | null;
  /** The transaction that you submitted, until it is checked. */
  readonly submitted_transaction: string | null;
  /** Why the last transaction is not the refund's, or null. */
  readonly transaction_problem: 'no_transfer' | 'too_early' | 'exceeds_received' | 'already_counted' | null;
  /** The final transaction, or null. */
  readonly transaction: string | null;
  /** The address that sent the USDC, or null. It may be that of an exchange. */
  readonly sender: string | null;
  /** When it was opened. */
  readonly created_at: string;
  /** Deadline for the address or the transfer. */
  readonly expires_at: string;
  /** When the transfer was booked, or null. */
  readonly paid_at: string | null;
  /** The link through which the customer enters an address. Null except in the response that opens a refund without a destination. */
  readonly address_url: string | null;
}

/** Refunds of a payment, oldest first. */
export interface RefundList {
  /** The refunds of the payment, the oldest first. */
  readonly refunds: ReadonlyArray<Refund>;
  /** The USDC that can still be refunded. */
  readonly refundable_amount: string;
}

/** Events, in order. */
export interface MerchantEventPage {
  /** The events, in order. */
  readonly events: ReadonlyArray<{
    /** The event's number, above that of the event before it. */
    readonly number: number;
    /** What happened. */
    readonly type: 'payment.deposit_seen' | 'payment.deposit_reverted' | 'payment.partially_paid' | 'payment.overpaid' | 'payment.paid' | 'payment.forwarded' | 'payment.canceled' | 'payment.attention_required' | 'payment.updated' | 'refund.opened' | 'refund.address_named' | 'refund.address_confirmed' | 'refund.transaction_refused' | 'refund.paid' | 'refund.transfer_reverted' | 'refund.canceled';
    /** When it happened. */
    readonly created_at: string;
    /** The `webhook-id` of the webhook, or null for an event without one. */
    readonly webhook_id: string | null;
    readonly payment: MerchantPayment;
    /** For an event of a refund: the refund as it is now. Null for other events. */
    readonly refund: Refund | null;
  }>;
  /** The `after` of the next request. */
  readonly next_after: number;
  /** Whether more events are available now. */
  readonly has_more: boolean;
}

/** Who did what in your account, newest first. */
export interface AuditLog {
  /** The entries, newest first. Repeats of frequent actions within an hour share one entry. */
  readonly entries: ReadonlyArray<{
    /** The number of the entry in your account, which increases with time. */
    readonly position: number;
    /** When it happened. */
    readonly created_at: string;
    /** The person's email address, or `operator` for the command line. */
    readonly actor: string;
    /** What was done. */
    readonly action: 'session.opened' | 'sign_in.failed' | 'password.failed' | 'second_factor.failed' | 'session.came_over' | 'session.ended' | 'password.set' | 'second_factor.added' | 'second_factor.removed' | 'second_factor.codes_renewed' | 'passkey.added' | 'passkey.removed' | 'password.link_created' | 'operator.granted' | 'operator.revoked' | 'member.added' | 'member.changed' | 'member.removed' | 'invitation.created' | 'invitation.withdrawn' | 'invitation.accepted' | 'account.created' | 'account.changed' | 'account.viewed' | 'provider.changed' | 'payment.released' | 'payment.rebuilt' | 'payment.rescued' | 'settings.changed' | 'wallet.changed' | 'key.created' | 'key.revoked' | 'webhook_secret.created' | 'webhook_secret.removed' | 'shop.approved' | 'shop.connected' | 'shop.refused' | 'payment.noted' | 'payment.settlement_noted' | 'alert.dismissed' | 'payment.email_erased' | 'customer.exported' | 'customer.erased' | 'account.emails_erased' | 'payment.canceled' | 'payment.accepted' | 'refund.opened' | 'refund.confirmed' | 'refund.submitted' | 'refund.canceled' | 'payments.exported' | 'link.created' | 'notification.added' | 'notification.removed' | 'page.created' | 'page.changed' | 'page.paused' | 'page.resumed';
    /** What it was done to, or null. */
    readonly target: string | null;
    /** The IP address, or null for the command line. */
    readonly address: string | null;
  }>;
  /** Pass it as `before` to get the next page, or null on the last one. */
  readonly next: number | null;
}

/** A payment is paid. */
export interface PaymentPaidEvent {
  /** The event type. */
  readonly event: 'payment.paid';
  /** The same as `paymentId`. */
  readonly id: string;
  /** The payment's id, a lower-case UUID. */
  readonly paymentId: string;
  /** Always `paid`. */
  readonly status: 'paid';
  /** The amount charged to the customer. */
  readonly amount: string | null;
  /** With fee pass-through: the requested amount. */
  readonly originalAmount: string | null;
  /** With fee pass-through: the fee added to it. */
  readonly customerFeeAmount: string | null;
  /** Whether the fee was passed on to the customer. */
  readonly passFeeToCustomer: boolean;
  /** The currency of the amount. */
  readonly currency: 'USD' | 'EUR' | 'CAD' | 'INR';
  /** The settlement asset. */
  readonly coin: 'polygon_usdc' | null;
  /** The USDC that arrived. */
  readonly receivedAmount: string | null;
  /** The USDC sent to the merchant's wallet. */
  readonly forwardedAmount: string | null;
  /** The transaction of the deposit. */
  readonly txidIn: string | null;
  /** The transaction that paid the merchant. */
  readonly txidOut: string | null;
  /** The note from the create request. */
  readonly note: string | null;
  /** The email address from the create request. */
  readonly email: string | null;
  /** The time of sending, in Unix seconds. */
  readonly timestamp: number;
}

/** The money of a direct payment was sent to your wallet. */
export interface PaymentForwardedEvent {
  /** The event type. */
  readonly event: 'payment.forwarded';
  /** The payment's id, a lower-case UUID. */
  readonly paymentId: string;
  /** The transaction that paid the merchant. */
  readonly forwardTxid: string;
  /** The USDC that was forwarded. */
  readonly amountForwarded: string;
  /** The merchant's wallet. */
  readonly toWallet: string;
  /** The time of sending, in Unix seconds. */
  readonly timestamp: number;
}

/** `/.well-known/card-checkout.json`: what anyone needs to prove where the money of a payment can go. */
export interface SettlementPublication {
  /** The chain: 137 is Polygon. */
  readonly chain_id: number;
  /** The USDC contract. */
  readonly token: string;
  /** All deposit factories of existing payments, the current one first. */
  readonly factories: ReadonlyArray<{
    /** The factory. */
    readonly address: string;
    /** The implementation contract of the deposit proxies. */
    readonly implementation: string;
    /** The keccak-256 hash of the factory's code on the chain. */
    readonly code_hash: string;
  }>;
  /** Where the fees go or went, the current one first. */
  readonly fee_wallets: ReadonlyArray<string>;
  /** The computation, step by step. */
  readonly recompute_deposit_address: Readonly<Record<string, string>>;
}

/** The filter of a payment list, under the names of the API. */
export interface PaymentListFilter {
  /** The length of the page. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly before?: string;
  /** Payments with this status. */
  readonly status?: 'unpaid' | 'paid' | 'canceled';
  /** Payments with this forward status. */
  readonly forward_status?: 'pending' | 'ready' | 'processing' | 'failed' | 'manual_required' | 'completed' | 'canceled';
  /** Payments created with this provider. */
  readonly provider?: 'multi' | 'moonpay' | 'wert' | 'revolut' | 'cryptocom' | 'rampnetwork' | 'transak' | 'coinbase' | 'paypal' | 'stripe' | 'banxa' | 'klarna' | 'direct';
  /** Payments in this currency. */
  readonly currency?: 'USD' | 'EUR' | 'CAD' | 'INR';
  /** Payments with this difference from the price. */
  readonly amount_mismatch?: 'partially_paid' | 'overpaid';
  /** Payments with this status in the dashboard. `at_provider` and `declined` are unpaid payments, classified by their last session at a provider. */
  readonly display_status?: 'open' | 'at_provider' | 'declined' | 'partially_paid' | 'overpaid' | 'paid' | 'expired' | 'canceled';
  /** Payments created at this time or later, ISO 8601. */
  readonly created_from?: string;
  /** Payments created before this time, ISO 8601. */
  readonly created_before?: string;
  /** An id, short code, transaction hash, amount or email address, or words from the note or the reference. */
  readonly search?: string;
  /** Payments with exactly this reference. */
  readonly reference?: string;
  /** Parts to include, separated by commas: `deposits`, `releases`, `sessions`, `webhooks`. In a list, with a `limit` of at most 20. */
  readonly expand?: string;
}
