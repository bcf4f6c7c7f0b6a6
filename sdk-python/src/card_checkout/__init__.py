"""The client of a card-checkout service for a merchant's server. Standard library only."""

from ._client import Client
from ._deposit_address import DepositProof, verify_deposit_address
from ._errors import (
    ApiError,
    CardCheckoutError,
    ConnectionError,
    DepositAddressError,
    EventGapError,
    WebhookError,
    WrongAmountError,
)
from ._events import EventCursor, follow_events
from ._fulfil import Fulfilment, FulfilmentStore, fulfil_once
from ._types import (
    DirectPayment,
    Event,
    EventPage,
    Factory,
    MerchantCheckout,
    MerchantPayment,
    MerchantPaymentPage,
    Payment,
    PaymentStatus,
    Refund,
    RefundList,
    SettlementPublication,
    WebhookEvent,
)
from ._webhooks import SIGNATURE_HEADER, construct_event, construct_event_with

__all__ = [
    "SIGNATURE_HEADER",
    "ApiError",
    "CardCheckoutError",
    "Client",
    "ConnectionError",
    "DepositAddressError",
    "DepositProof",
    "DirectPayment",
    "Event",
    "EventCursor",
    "EventGapError",
    "EventPage",
    "Factory",
    "Fulfilment",
    "FulfilmentStore",
    "MerchantCheckout",
    "MerchantPayment",
    "MerchantPaymentPage",
    "Payment",
    "PaymentStatus",
    "Refund",
    "RefundList",
    "SettlementPublication",
    "WebhookError",
    "WebhookEvent",
    "WrongAmountError",
    "construct_event",
    "construct_event_with",
    "follow_events",
    "fulfil_once",
    "verify_deposit_address",
]
