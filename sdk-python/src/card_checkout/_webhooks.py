"""Verifies webhooks: the signature over the raw body, and the age."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Callable, Optional, cast

from ._errors import WebhookError
from ._transport import parse_object
from ._types import WebhookEvent

SIGNATURE_HEADER = "X-Service-Signature"
#: An event has a few hundred bytes.
MAXIMUM_BODY_BYTES = 65_536
_DEFAULT_TOLERANCE_SECONDS = 300.0


def construct_event(
    raw_body: bytes,
    signature: Optional[str],
    ipn_token: str,
    *,
    tolerance_seconds: float = _DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookEvent:
    """The event of a webhook whose signature and age are verified. ``raw_body`` is the body before it was parsed.

    Raises WebhookError when the event must not be acted upon, and TypeError where the endpoint is wrong: a parsed
    body, or no token.
    """
    _check_body(raw_body)
    _check_token(ipn_token)
    _verify_signature(raw_body, signature, ipn_token)
    return _check_fresh(_read_event(raw_body), tolerance_seconds, time.time() if now is None else now)


def construct_event_with(
    raw_body: bytes,
    signature: Optional[str],
    find_token: Callable[[str], Optional[str]],
    *,
    tolerance_seconds: float = _DEFAULT_TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookEvent:
    """The same where the order is not known yet: ``find_token`` gets the payment's id that the body claims.

    Do not trust the body before this returns. ``find_token`` returns None for an unknown payment.
    """
    _check_body(raw_body)
    claimed = (parse_object(raw_body) or {}).get("paymentId")
    if not isinstance(claimed, str) or re.fullmatch(r"[0-9a-fA-F-]{36}", claimed) is None:
        raise WebhookError("malformed", "the body names no payment")
    ipn_token = find_token(claimed)
    if not ipn_token:
        raise WebhookError("unknown_payment", "no token is stored for this payment")
    return construct_event(raw_body, signature, ipn_token, tolerance_seconds=tolerance_seconds, now=now)


def sign_webhook(raw_body: bytes, ipn_token: str) -> str:
    """The signature of a body, as the service sends it in ``X-Service-Signature``. For tests of your endpoint."""
    _check_body(raw_body)
    _check_token(ipn_token)
    return hmac.new(ipn_token.encode(), raw_body, hashlib.sha256).hexdigest()


def _check_token(ipn_token: str) -> None:
    if not isinstance(ipn_token, str) or ipn_token == "":
        raise TypeError("ipn_token must be the token that was stored with the order")


def _check_body(raw_body: bytes) -> None:
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        raise TypeError("raw_body must be the bytes as they came: a parsed body has other bytes")
    if len(raw_body) > MAXIMUM_BODY_BYTES:
        raise WebhookError("malformed", "the body is too large")


def _verify_signature(raw_body: bytes, signature: Optional[str], ipn_token: str) -> None:
    if not isinstance(signature, str) or re.fullmatch(r"[0-9a-f]{64}", signature) is None:
        raise WebhookError("no_signature", "X-Service-Signature is missing or is not a signature")
    if not hmac.compare_digest(sign_webhook(raw_body, ipn_token), signature):
        raise WebhookError("wrong_signature", "the signature is not that of this body and the payment's token")


def _read_event(raw_body: bytes) -> WebhookEvent:
    fields = parse_object(bytes(raw_body))
    if fields is None:
        raise WebhookError("malformed", "the body is not a JSON object in UTF-8")
    event, timestamp = fields.get("event"), fields.get("timestamp")
    if not isinstance(event, str) or not isinstance(fields.get("paymentId"), str):
        raise WebhookError("malformed", "the body has no event or names no payment")
    # A bound, because math.isfinite raises OverflowError for a long integer.
    if isinstance(timestamp, bool) or not isinstance(timestamp, (int, float)) or not abs(timestamp) < 1e15:
        raise WebhookError("malformed", "the body does not say when it was sent")
    if event not in ("payment.paid", "payment.forwarded"):
        raise WebhookError("unknown_event", f"there is no event {json.dumps(event)}")
    if event == "payment.paid" and fields.get("status") != "paid":
        raise WebhookError("malformed", "a paid event that is not paid")
    return cast(WebhookEvent, fields)


def _check_fresh(event: WebhookEvent, tolerance_seconds: float, now: float) -> WebhookEvent:
    age = now - event["timestamp"]
    # Not "above the tolerance", so that a tolerance that is not a number lets nothing through.
    if not abs(age) <= tolerance_seconds:
        raise WebhookError("not_fresh", f"it was sent {round(age)} seconds ago")
    return event
