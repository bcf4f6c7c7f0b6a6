"""Answers and events, under the names of the API. Generated from the schemas of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Payment(TypedDict):
    """A payment, as returned when it is created."""

    #: The payment's id, a lower-case UUID.
    payment_id: str
    #: Secret. Signs the webhook and identifies the payment. Never show it to the customer.
    ipn_token: str
    #: Where to send the customer. ``auto=1`` with a single provider, ``email=…`` with an email address.
    checkout_url: str
    #: The short code of the checkout.
    short_code: str
    #: A short link to the same checkout, for messages and print.
    short_url: str
    #: The callback from the create request.
    callback_url: str
    #: The deposit address, for reconciliation only.
    address_in: str
    #: The same address as ``address_in``.
    polygon_address_in: str
    #: Always ``card``.
    payment_type: Literal["card"]
    #: ``multi``, or the requested provider.
    provider: str
    #: The amount charged to the customer, including a fee passed on.
    amount: str
    #: With fee pass-through: the requested amount. Otherwise None.
    original_amount: Optional[str]
    #: With fee pass-through: the fee added to it. Otherwise None.
    customer_fee_amount: Optional[str]
    #: Whether the fee is passed on to the customer.
    pass_fee_to_customer: bool
    #: The account's card fee in percent.
    fee_percent: float
    #: Always ``unpaid`` at creation. Read the status for later changes.
    status: Literal["unpaid"]


class PaymentStatus(TypedDict):
    """The state of a payment."""

    #: The payment's id, a lower-case UUID.
    payment_id: str
    #: Fulfill the order only if it is ``paid``.
    status: str
    #: The progress of the transfer to the merchant wallet. ``completed`` is final.
    forward_status: str
    #: The amount charged to the customer, including a fee passed on.
    amount: str
    #: With fee pass-through: the requested amount. Otherwise None.
    original_amount: Optional[str]
    #: With fee pass-through: the fee added to it. Otherwise None.
    customer_fee_amount: Optional[str]
    #: Whether the fee is passed on to the customer.
    pass_fee_to_customer: bool
    #: The currency of the amount.
    currency: str
    #: The settlement asset.
    coin: Literal["polygon_usdc"]
    #: The USDC that arrived and was released. While ``unpaid``, the USDC seen so far, which a reorganization can remove. Compare it with ``amount`` and ``currency``.
    value_coin: str
    #: The USDC sent to the merchant's wallet, after the fee. ``0.000000`` until the release.
    forwarded_amount: str
    #: The deposit that reached the paid threshold. Before that, the last deposit seen, or None.
    txid_in: Optional[str]
    #: The transaction that paid the merchant.
    txid_out: Optional[str]
    #: The deposit address.
    address_in: str
    #: The time at which the payment became ``paid``, or None.
    paid_at: Optional[str]
    #: The time of creation.
    created_at: str


class Item(TypedDict):
    #: The name.
    name: str
    #: The quantity.
    quantity: int
    #: The amount of the whole line; negative for a discount.
    amount: str


class Rest(TypedDict):
    #: The amount that a provider charges, in the currency of the payment.
    amount: str
    #: The USDC to send from a wallet instead.
    usdc_amount: str
    #: The page on which the customer pays the rest.
    url: str


class Deposit(TypedDict):
    #: The transaction hash.
    transaction: str
    #: The number of its block.
    block_number: int
    #: Whether the block is final.
    is_final: bool
    #: The USDC that arrived.
    amount: str


class Release(TypedDict):
    #: The transaction hash.
    transaction: str
    #: The number of its block.
    block_number: int
    #: Whether the block is final.
    is_final: bool
    #: The merchant's part.
    forwarded_amount: str
    #: The fee wallet's part.
    fee_amount: str


class Session(TypedDict):
    #: The provider's id.
    provider: str
    #: The amount that it charges: the whole amount, or the rest.
    charged_amount: str
    #: The USDC that the provider quoted, or None.
    quoted_amount: Optional[str]
    #: The provider's last report, or None. Informational only.
    progress: Optional[str]
    #: When the session started.
    created_at: str
    #: Latest time at which the customer can begin to pay in it.
    expires_at: str


class Webhook(TypedDict):
    #: The event type.
    event: str
    #: The status of the single delivery.
    status: str
    #: The HTTP status that the receiver returned.
    http_status: Optional[int]
    #: Why it was not delivered, or None.
    reason: Optional[str]
    #: When the webhook was queued.
    created_at: str
    #: When the delivery ended, or None.
    finished_at: Optional[str]


class MerchantPayment(TypedDict):
    """A payment of your account, as ``/merchant/v1`` shows it."""

    #: The payment's id, a lower-case UUID.
    payment_id: str
    #: Fulfill the order only if it is ``paid``.
    status: str
    #: The progress of the transfer to the merchant wallet. ``completed`` is final.
    forward_status: str
    #: The amount charged to the customer, including a fee passed on.
    amount: str
    #: With fee pass-through: the requested amount. Otherwise None.
    original_amount: Optional[str]
    #: With fee pass-through: the fee added to it. Otherwise None.
    customer_fee_amount: Optional[str]
    #: Whether the fee is passed on to the customer.
    pass_fee_to_customer: bool
    #: The currency of the amount.
    currency: str
    #: The settlement asset.
    coin: Literal["polygon_usdc"]
    #: The USDC that arrived and was released. While ``unpaid``, the USDC seen so far, which a reorganization can remove. Compare it with ``amount`` and ``currency``.
    value_coin: str
    #: The USDC sent to the merchant's wallet, after the fee. ``0.000000`` until the release.
    forwarded_amount: str
    #: The deposit that reached the paid threshold. Before that, the last deposit seen, or None.
    txid_in: Optional[str]
    #: The transaction that paid the merchant.
    txid_out: Optional[str]
    #: The deposit address.
    address_in: str
    #: The time at which the payment became ``paid``, or None.
    paid_at: Optional[str]
    #: The time of creation.
    created_at: str
    #: The provider that the payment was created with.
    provider: str
    #: The account's fee in percent.
    fee_percent: float
    #: The rate at which the charge was converted: USD for one unit of the currency.
    usd_rate: str
    #: The payout wallet.
    payout_address: str
    #: The page on which the customer pays.
    checkout_url: str
    #: The customer's email address, or None. It is not verified.
    email: Optional[str]
    #: The note, or None. Only the merchant sees it.
    note: Optional[str]
    #: Your id of the order, or None.
    reference: Optional[str]
    #: Your metadata; empty if there is none, or after it was erased.
    metadata: Dict[str, str]
    #: What the customer buys; empty if you named nothing.
    items: List[Item]
    #: Where the customer goes after the payment, or None for the account’s setting.
    return_url: Optional[str]
    #: Where the customer goes from a canceled or expired checkout, or None for ``return_url`` or the account’s setting.
    cancel_url: Optional[str]
    #: When the open payment expires, or None if the service's default applies.
    expires_at: Optional[str]
    #: Set if clearly less or clearly more than the price arrived; otherwise None.
    amount_mismatch: Optional[str]
    #: What is missing of an open, partially paid payment, and the link to pay it. Otherwise None.
    rest: Optional[Rest]
    #: Why the payment was canceled, or None.
    cancel_reason: Optional[str]
    #: With ``expand=deposits``: the USDC transfers to the deposit address.
    deposits: NotRequired[List[Deposit]]
    #: With ``expand=releases``: the transactions that paid the merchant.
    releases: NotRequired[List[Release]]
    #: With ``expand=sessions``: the customer's sessions at providers.
    sessions: NotRequired[List[Session]]
    #: With ``expand=webhooks``: the webhooks of the payment and their one delivery.
    webhooks: NotRequired[List[Webhook]]


class MerchantCheckout(TypedDict):
    """A checkout of a platform, as returned when it is created."""

    #: The payment's id, a lower-case UUID.
    payment_id: str
    #: Fulfill the order only if it is ``paid``.
    status: str
    #: The progress of the transfer to the merchant wallet. ``completed`` is final.
    forward_status: str
    #: The amount charged to the customer, including a fee passed on.
    amount: str
    #: With fee pass-through: the requested amount. Otherwise None.
    original_amount: Optional[str]
    #: With fee pass-through: the fee added to it. Otherwise None.
    customer_fee_amount: Optional[str]
    #: Whether the fee is passed on to the customer.
    pass_fee_to_customer: bool
    #: The currency of the amount.
    currency: str
    #: The settlement asset.
    coin: Literal["polygon_usdc"]
    #: The USDC that arrived and was released. While ``unpaid``, the USDC seen so far, which a reorganization can remove. Compare it with ``amount`` and ``currency``.
    value_coin: str
    #: The USDC sent to the merchant's wallet, after the fee. ``0.000000`` until the release.
    forwarded_amount: str
    #: The deposit that reached the paid threshold. Before that, the last deposit seen, or None.
    txid_in: Optional[str]
    #: The transaction that paid the merchant.
    txid_out: Optional[str]
    #: The deposit address.
    address_in: str
    #: The time at which the payment became ``paid``, or None.
    paid_at: Optional[str]
    #: The time of creation.
    created_at: str
    #: The provider that the payment was created with.
    provider: str
    #: The account's fee in percent.
    fee_percent: float
    #: The rate at which the charge was converted: USD for one unit of the currency.
    usd_rate: str
    #: The payout wallet.
    payout_address: str
    #: The page on which the customer pays.
    checkout_url: str
    #: The customer's email address, or None. It is not verified.
    email: Optional[str]
    #: The note, or None. Only the merchant sees it.
    note: Optional[str]
    #: Your id of the order, or None.
    reference: Optional[str]
    #: Your metadata; empty if there is none, or after it was erased.
    metadata: Dict[str, str]
    #: What the customer buys; empty if you named nothing.
    items: List[Item]
    #: Where the customer goes after the payment, or None for the account’s setting.
    return_url: Optional[str]
    #: Where the customer goes from a canceled or expired checkout, or None for ``return_url`` or the account’s setting.
    cancel_url: Optional[str]
    #: When the open payment expires, or None if the service's default applies.
    expires_at: Optional[str]
    #: Set if clearly less or clearly more than the price arrived; otherwise None.
    amount_mismatch: Optional[str]
    #: What is missing of an open, partially paid payment, and the link to pay it. Otherwise None.
    rest: Optional[Rest]
    #: Why the payment was canceled, or None.
    cancel_reason: Optional[str]
    #: Secret: it signs the webhooks of the payment.
    ipn_token: str
    #: A short link to the same checkout.
    short_url: str


class DirectPayment(TypedDict):
    """A direct payment, as returned when it is created."""

    #: The payment's id, a lower-case UUID.
    payment_id: str
    #: Fulfill the order only if it is ``paid``.
    status: str
    #: The progress of the transfer to the merchant wallet. ``completed`` is final.
    forward_status: str
    #: The amount charged to the customer, including a fee passed on.
    amount: str
    #: With fee pass-through: the requested amount. Otherwise None.
    original_amount: Optional[str]
    #: With fee pass-through: the fee added to it. Otherwise None.
    customer_fee_amount: Optional[str]
    #: Whether the fee is passed on to the customer.
    pass_fee_to_customer: bool
    #: The currency of the amount.
    currency: str
    #: The settlement asset.
    coin: Literal["polygon_usdc"]
    #: The USDC that arrived and was released. While ``unpaid``, the USDC seen so far, which a reorganization can remove. Compare it with ``amount`` and ``currency``.
    value_coin: str
    #: The USDC sent to the merchant's wallet, after the fee. ``0.000000`` until the release.
    forwarded_amount: str
    #: The deposit that reached the paid threshold. Before that, the last deposit seen, or None.
    txid_in: Optional[str]
    #: The transaction that paid the merchant.
    txid_out: Optional[str]
    #: The deposit address.
    address_in: str
    #: The time at which the payment became ``paid``, or None.
    paid_at: Optional[str]
    #: The time of creation.
    created_at: str
    #: The provider that the payment was created with.
    provider: str
    #: The account's fee in percent.
    fee_percent: float
    #: The rate at which the charge was converted: USD for one unit of the currency.
    usd_rate: str
    #: The payout wallet.
    payout_address: str
    #: The page on which the customer pays.
    checkout_url: str
    #: The customer's email address, or None. It is not verified.
    email: Optional[str]
    #: The note, or None. Only the merchant sees it.
    note: Optional[str]
    #: Your id of the order, or None.
    reference: Optional[str]
    #: Your metadata; empty if there is none, or after it was erased.
    metadata: Dict[str, str]
    #: What the customer buys; empty if you named nothing.
    items: List[Item]
    #: Where the customer goes after the payment, or None for the account’s setting.
    return_url: Optional[str]
    #: Where the customer goes from a canceled or expired checkout, or None for ``return_url`` or the account’s setting.
    cancel_url: Optional[str]
    #: When the open payment expires, or None if the service's default applies.
    expires_at: Optional[str]
    #: Set if clearly less or clearly more than the price arrived; otherwise None.
    amount_mismatch: Optional[str]
    #: What is missing of an open, partially paid payment, and the link to pay it. Otherwise None.
    rest: Optional[Rest]
    #: Why the payment was canceled, or None.
    cancel_reason: Optional[str]
    #: Secret: it signs the webhooks of the payment.
    ipn_token: str
    #: The USDC that the customer has to send.
    usdc_amount: str


class MerchantPaymentPage(TypedDict):
    """Payments, newest first."""

    #: The payments, newest first.
    payments: List[MerchantPayment]
    #: The ``before`` of the next page, or None at the end. A page can be short and still have a next one.
    next: Optional[str]


class Refund(TypedDict):
    """A refund in USDC, which you transfer from your own wallet."""

    #: The refund's id: ``rfd_`` and 20 hex digits.
    refund_id: str
    #: The payment's id, a lower-case UUID.
    payment_id: str
    #: The state.
    status: str
    #: The USDC that you transfer; once paid, what was transferred. The last digits identify the refund.
    amount: str
    #: The reason, or None.
    reason: Optional[str]
    #: The customer's address, or None until the customer enters it.
    destination: Optional[str]
    #: The transfer for a wallet (EIP-681) while it is expected; otherwise None.
    payment_uri: Optional[str]
    #: The transaction that you submitted, until it is checked.
    submitted_transaction: Optional[str]
    #: Why the last transaction is not the refund's, or None.
    transaction_problem: Optional[str]
    #: The final transaction, or None.
    transaction: Optional[str]
    #: The address that sent the USDC, or None. It may be that of an exchange.
    sender: Optional[str]
    #: When it was opened.
    created_at: str
    #: Deadline for the address or the transfer.
    expires_at: str
    #: When the transfer was booked, or None.
    paid_at: Optional[str]
    #: The link through which the customer enters an address. Null except in the response that opens a refund without a destination.
    address_url: Optional[str]


class RefundList(TypedDict):
    """Refunds of a payment, oldest first."""

    #: The refunds of the payment, the oldest first.
    refunds: List[Refund]
    #: The USDC that can still be refunded.
    refundable_amount: str


class MerchantEvent(TypedDict):
    #: The event's number, above that of the event before it.
    number: int
    #: What happened.
    type: str
    #: When it happened.
    created_at: str
    #: The ``webhook-id`` of the webhook, or None for an event without one.
    webhook_id: Optional[str]
    payment: MerchantPayment
    #: For an event of a refund: the refund as it is now. Null for other events.
    refund: Optional[Refund]


class MerchantEventPage(TypedDict):
    """Events, in order."""

    #: The events, in order.
    events: List[MerchantEvent]
    #: The ``after`` of the next request.
    next_after: int
    #: Whether more events are available now.
    has_more: bool


class AuditEntry(TypedDict):
    #: The number of the entry in your account, which increases with time.
    position: int
    #: When it happened.
    created_at: str
    #: The person's email address, or ``operator`` for the command line.
    actor: str
    #: What was done.
    action: str
    #: What it was done to, or None.
    target: Optional[str]
    #: The IP address, or None for the command line.
    address: Optional[str]


class AuditLog(TypedDict):
    """Who did what in your account, newest first."""

    #: The entries, newest first. Repeats of frequent actions within an hour share one entry.
    entries: List[AuditEntry]
    #: Pass it as ``before`` to get the next page, or None on the last one.
    next: Optional[int]


class PaymentPaidEvent(TypedDict):
    """A payment is paid."""

    #: The event type.
    event: Literal["payment.paid"]
    #: The same as ``paymentId``.
    id: str
    #: The payment's id, a lower-case UUID.
    paymentId: str
    #: Always ``paid``.
    status: Literal["paid"]
    #: The amount charged to the customer.
    amount: Optional[str]
    #: With fee pass-through: the requested amount.
    originalAmount: Optional[str]
    #: With fee pass-through: the fee added to it.
    customerFeeAmount: Optional[str]
    #: Whether the fee was passed on to the customer.
    passFeeToCustomer: bool
    #: The currency of the amount.
    currency: str
    #: The settlement asset.
    coin: Optional[str]
    #: The USDC that arrived.
    receivedAmount: Optional[str]
    #: The USDC sent to the merchant's wallet.
    forwardedAmount: Optional[str]
    #: The transaction of the deposit.
    txidIn: Optional[str]
    #: The transaction that paid the merchant.
    txidOut: Optional[str]
    #: The note from the create request.
    note: Optional[str]
    #: The email address from the create request.
    email: Optional[str]
    #: The time of sending, in Unix seconds.
    timestamp: int


class PaymentForwardedEvent(TypedDict):
    """The money of a direct payment was sent to your wallet."""

    #: The event type.
    event: Literal["payment.forwarded"]
    #: The payment's id, a lower-case UUID.
    paymentId: str
    #: The transaction that paid the merchant.
    forwardTxid: str
    #: The USDC that was forwarded.
    amountForwarded: str
    #: The merchant's wallet.
    toWallet: str
    #: The time of sending, in Unix seconds.
    timestamp: int


class Factory(TypedDict):
    #: The factory.
    address: str
    #: The implementation contract of the deposit proxies.
    implementation: str
    #: The keccak-256 hash of the factory's code on the chain.
    code_hash: str


class SettlementPublication(TypedDict):
    """``/.well-known/card-checkout.json``: what anyone needs to prove where the money of a payment can go."""

    #: The chain: 137 is Polygon.
    chain_id: int
    #: The USDC contract.
    token: str
    #: All deposit factories of existing payments, the current one first.
    factories: List[Factory]
    #: Where the fees go or went, the current one first.
    fee_wallets: List[str]
    #: The computation, step by step.
    recompute_deposit_address: Dict[str, str]


WebhookEvent = Union[PaymentPaidEvent, PaymentForwardedEvent]
