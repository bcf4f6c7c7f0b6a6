"""Errors by class. All of them are a CardCheckoutError."""

from __future__ import annotations

from typing import Optional


class CardCheckoutError(Exception):
    """The base of all errors of this package."""


class ApiError(CardCheckoutError):
    """The service answered with an error. The message is the service's sentence, for people."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: Optional[str] = None,
        retry_after: Optional[int] = None,
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        #: The HTTP status.
        self.status = status
        #: For programs, such as ``below_minimum``; None where a program can do nothing.
        self.code = code
        #: Seconds to wait, of a 429.
        self.retry_after = retry_after
        #: Names the request in the service's log.
        self.request_id = request_id

    @property
    def is_temporary(self) -> bool:
        """Whether the same request can succeed later."""
        return is_temporary_status(self.status) or self.code == "conversion_failed"


class ArgumentError(CardCheckoutError, ValueError):
    """A value from the shop that cannot be sent. No request was made, and the message does not repeat the value."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument} {problem}")
        #: The name of the argument, such as ``idempotency_key``.
        self.argument = argument


class ApiConnectionError(CardCheckoutError):
    """No answer, or an answer of another server. A create may have happened: repeat it with the same key."""


class WebhookError(CardCheckoutError):
    """An invalid webhook. Answer with ``http_status`` and do nothing else.

    ``reason`` is ``no_signature``, ``unknown_payment``, ``wrong_signature``, ``not_fresh``, ``malformed`` or
    ``unknown_event``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def http_status(self) -> int:
        """401 if the webhook may be forged or replayed, 400 if its body is malformed or its type unknown."""
        return 400 if self.reason in ("malformed", "unknown_event") else 401


class DepositAddressError(CardCheckoutError):
    """The money of this payment could go to another wallet: do not send a customer to it."""


class WrongAmountError(CardCheckoutError):
    """The service reports an amount or currency other than the order's."""


class EventGapError(CardCheckoutError):
    """Events that were not processed no longer exist, and no ``on_gap`` was given."""


def is_temporary_status(status: int) -> bool:
    """520 to 524 come from Cloudflare when it does not reach the service."""
    return status in (408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524)
