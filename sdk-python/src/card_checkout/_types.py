"""Requests and answers, under the names of the API."""

from __future__ import annotations

from typing import List, Optional, TypedDict


class Payment(TypedDict):
    """A payment as creation answers it."""

    payment_id: str
    #: Secret. Store it with the order; never show it to the customer.
    ipn_token: str
    #: Send the customer here.
    checkout_url: str
    short_code: str
    short_url: str
    callback_url: str
    address_in: str
    polygon_address_in: str
    payment_type: str
    provider: str
    #: What the customer pays, a decimal string.
    amount: str
    original_amount: Optional[str]
    customer_fee_amount: Optional[str]
    pass_fee_to_customer: bool
    fee_percent: float
    status: str


class PaymentStatus(TypedDict):
    """The state of a payment."""

    payment_id: str
    #: ``unpaid``, ``paid`` or ``canceled``. Fulfill when it is ``paid``, and never before.
    status: str
    forward_status: str
    amount: str
    original_amount: Optional[str]
    customer_fee_amount: Optional[str]
    pass_fee_to_customer: bool
    currency: str
    coin: str
    #: USDC that arrived, six decimals.
    value_coin: str
    #: Your part of it.
    forwarded_amount: str
    txid_in: Optional[str]
    txid_out: Optional[str]
    address_in: str
    #: ISO 8601; None until it is paid.
    paid_at: Optional[str]
    created_at: str


class Rest(TypedDict):
    """What is missing of an open, partially paid payment."""

    #: What a provider charges, in the currency of the payment.
    amount: str
    #: The USDC to send from a wallet instead.
    usdc_amount: str
    #: The page on which the customer pays it.
    url: str


class MerchantPayment(PaymentStatus):
    """A payment of your account, as ``/merchant/v1`` shows it."""

    provider: str
    fee_percent: float
    payout_address: str
    checkout_url: str
    #: Not verified.
    email: Optional[str]
    note: Optional[str]
    amount_mismatch: Optional[str]
    rest: Optional[Rest]
    cancel_reason: Optional[str]


class DirectPayment(MerchantPayment):
    """A direct payment as creation answers it."""

    #: Secret. Store it with the order; never show it to the customer.
    ipn_token: str
    #: The USDC that the customer has to send.
    usdc_amount: str


class MerchantPaymentPage(TypedDict):
    """Payments, newest first."""

    payments: List[MerchantPayment]
    #: The ``before`` of the next page; None at the end.
    next: Optional[str]


class Refund(TypedDict):
    """A refund in USDC, which the merchant transfers from their own wallet."""

    refund_id: str
    payment_id: str
    #: ``awaiting_address``, ``awaiting_confirmation``, ``awaiting_transfer``, ``paid``, ``expired`` or ``canceled``.
    status: str
    #: USDC. Transfer exactly this amount: the last digits identify the refund.
    amount: str
    reason: Optional[str]
    #: The customer's Polygon address; None until the customer names it.
    destination: Optional[str]
    #: The transfer for a wallet (EIP-681) while it is expected, else None.
    payment_uri: Optional[str]
    submitted_transaction: Optional[str]
    #: Why the last transaction is not the refund's.
    transaction_problem: Optional[str]
    #: The final transaction.
    transaction: Optional[str]
    sender: Optional[str]
    created_at: str
    expires_at: str
    paid_at: Optional[str]
    #: The customer's link: only in the answer that opens a refund without a destination.
    address_url: Optional[str]


class RefundList(TypedDict):
    """The refunds of a payment, the oldest first."""

    refunds: List[Refund]
    #: USDC that can still be refunded.
    refundable_amount: str


class Event(TypedDict):
    """One entry of the event log. Its number is higher than that of the event before, and not consecutive."""

    number: int
    #: Such as ``payment.paid``. Other types can be added: ignore those that you do not know.
    type: str
    created_at: str
    #: The payment as it is now, not as it was at the event.
    payment: MerchantPayment
    #: The refund as it is now, in an event of a refund; else None.
    refund: Optional[Refund]


class EventPage(TypedDict):
    """Events in their order."""

    events: List[Event]
    #: The ``after`` of the next request.
    next_after: int
    has_more: bool


class _WebhookEvent(TypedDict):
    event: str
    paymentId: str
    #: The time of sending, in Unix seconds.
    timestamp: float


class WebhookEvent(_WebhookEvent, total=False):
    """``payment.paid`` or, for direct payments, ``payment.forwarded``."""

    id: str
    status: str
    amount: Optional[str]
    originalAmount: Optional[str]
    customerFeeAmount: Optional[str]
    passFeeToCustomer: bool
    currency: str
    coin: Optional[str]
    receivedAmount: Optional[str]
    forwardedAmount: Optional[str]
    txidIn: Optional[str]
    txidOut: Optional[str]
    note: Optional[str]
    email: Optional[str]
    forwardTxid: str
    amountForwarded: str
    toWallet: str


class Factory(TypedDict):
    address: str
    implementation: str
    code_hash: str


class SettlementPublication(TypedDict):
    """``/.well-known/card-checkout.json``: from what the deposit addresses follow."""

    chain_id: int
    token: str
    factories: List[Factory]
    fee_wallets: List[str]
