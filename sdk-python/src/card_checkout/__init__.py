"""The client of a card-checkout service for a merchant's server. Standard library only."""

from ._async_client import AsyncClient
from ._client import Client
from ._deposit_address import DepositProof, verify_deposit_address
from ._errors import (
    ApiConnectionError,
    ApiError,
    ArgumentError,
    CardCheckoutError,
    DepositAddressError,
    EventGapError,
    WebhookError,
    WrongAmountError,
)
from ._events import EventCursor, follow_events
from ._fulfil import Fulfilment, FulfilmentStore, fulfil_once
from ._types import (
    AuditLog,
    DirectPayment,
    Factory,
    MerchantCheckout,
    MerchantEvent,
    MerchantEventPage,
    MerchantPayment,
    MerchantPaymentPage,
    Payment,
    PaymentStatus,
    Refund,
    RefundList,
    SettlementPublication,
    WebhookEvent,
)
from ._webhooks import SIGNATURE_HEADER, construct_event, construct_event_with, sign_webhook

__all__ = [
    "SIGNATURE_HEADER",
    "ApiConnectionError",
    "ApiError",
    "ArgumentError",
    "AsyncClient",
    "AuditLog",
    "CardCheckoutError",
    "Client",
    "DepositAddressError",
    "DepositProof",
    "DirectPayment",
    "EventCursor",
    "EventGapError",
    "Factory",
    "Fulfilment",
    "FulfilmentStore",
    "MerchantCheckout",
    "MerchantEvent",
    "MerchantEventPage",
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
    "sign_webhook",
    "verify_deposit_address",
]
