"""The operations of the service."""

from __future__ import annotations

import copy
import re
import secrets
import time
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union, cast
from urllib.parse import quote, urlencode

from ._errors import ApiConnectionError, ArgumentError
from ._transport import Transport
from ._types import (
    AuditLog,
    DirectPayment,
    MerchantCheckout,
    MerchantEventPage,
    MerchantPayment,
    MerchantPaymentPage,
    Payment,
    PaymentStatus,
    Refund,
    RefundList,
    SettlementPublication,
)

#: An exact amount: ``"25.00"`` or ``Decimal("25.00")``.
Amount = Union[str, Decimal]
#: What a filter can be; None leaves it out.
Parameter = Union[str, int, None]
#: With this many events an answer is well below what the client reads.
EVENTS_OF_A_PAGE = 50
#: The journal of more than 100,000 payments.
MAXIMUM_JOURNAL_BYTES = 134_217_728


class Client:
    """The service as a merchant's server uses it. It holds no connection and may be shared by threads.

    ``timeout``, in seconds, is for each attempt; ``maximum_retries`` counts the attempts after the first. When the
    service asks for a longer pause than ``maximum_pause`` seconds, the error is raised immediately.
    ``allow_insecure_http`` allows plain http to other machines, for a private network such as that of Docker Compose:
    everyone on the way can read the API key.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float = 30,
        maximum_retries: int = 2,
        maximum_pause: float = 10,
        wait: Callable[[float], None] = time.sleep,
        allow_insecure_http: bool = False,
    ) -> None:
        self._transport = Transport(
            api_key,
            base_url,
            timeout=timeout,
            maximum_retries=maximum_retries,
            maximum_pause=maximum_pause,
            wait=wait,
            allow_insecure_http=allow_insecure_http,
        )

    def with_options(self, *, timeout: Optional[float] = None, maximum_retries: Optional[int] = None) -> Client:
        """The same client with another timeout or number of retries, for single calls."""
        changed = copy.copy(self)
        changed._transport = self._transport.with_options(timeout, maximum_retries)
        return changed

    def create_checkout(
        self,
        *,
        address: str,
        callback: str,
        amount: Amount,
        currency: Optional[str] = None,
        provider: Optional[str] = None,
        email: Optional[str] = None,
        note: Optional[str] = None,
        pass_fee_to_customer: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Payment:
        """Creates a checkout.

        ``idempotency_key`` should be the number of your order: then an order has one payment. Without it, each call
        creates a payment, and only the retries inside the call do not.
        """
        given = {
            "address": address,
            "callback": callback,
            "amount": amount,
            "currency": currency,
            "provider": provider,
            "email": email,
            "note": note,
            "passFeeToCustomer": pass_fee_to_customer,
        }
        answer = self._create("/api/v1/wallet", given, idempotency_key)
        return cast(Payment, _expect(answer, "payment_id", "ipn_token", "checkout_url"))

    def create_direct_payment(
        self,
        *,
        amount: Amount,
        address: Optional[str] = None,
        callback: Optional[str] = None,
        currency: Optional[str] = None,
        email: Optional[str] = None,
        note: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> DirectPayment:
        """Creates a payment in USDC from the customer's own wallet.

        ``address`` and ``callback`` can be absent if the account has them. ``idempotency_key`` as with a checkout.
        """
        given = {
            "address": address,
            "callback": callback,
            "amount": amount,
            "currency": currency,
            "email": email,
            "note": note,
        }
        answer = self._create("/merchant/v1/direct-payments", given, idempotency_key)
        return cast(DirectPayment, _expect(answer, "payment_id", "ipn_token", "checkout_url", "usdc_amount"))

    def create_merchant_checkout(
        self,
        *,
        amount: Amount,
        address: Optional[str] = None,
        callback: Optional[str] = None,
        currency: Optional[str] = None,
        provider: Optional[str] = None,
        email: Optional[str] = None,
        note: Optional[str] = None,
        pass_fee_to_customer: Optional[bool] = None,
        reference: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        items: Optional[Sequence[Mapping[str, object]]] = None,
        return_url: Optional[str] = None,
        cancel_url: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> MerchantCheckout:
        """Creates a checkout with the order's reference, lines, return addresses and expiry.

        ``address`` and ``callback`` can be absent if the account has them. ``idempotency_key`` as with a checkout.
        """
        given = {
            "address": address,
            "callback": callback,
            "amount": amount,
            "currency": currency,
            "provider": provider,
            "email": email,
            "note": note,
            "passFeeToCustomer": pass_fee_to_customer,
            "reference": reference,
            "metadata": metadata,
            "items": items,
            "return_url": return_url,
            "cancel_url": cancel_url,
            "expires_in_seconds": expires_in_seconds,
        }
        answer = self._create("/merchant/v1/checkouts", given, idempotency_key)
        return cast(MerchantCheckout, _expect(answer, "payment_id", "ipn_token", "checkout_url"))

    def _create(self, path: str, given: Mapping[str, Any], idempotency_key: Optional[str]) -> Dict[str, Any]:
        key = f"sdk-{secrets.token_hex(16)}" if idempotency_key is None else idempotency_key
        if not isinstance(key, str) or re.fullmatch(r"[!-~]{1,255}", key) is None:
            raise ArgumentError("idempotency_key", "must be 1 to 255 visible ASCII characters")
        body = {name: value for name, value in given.items() if value is not None}
        return self._transport.send("POST", path, headers={"Idempotency-Key": key}, body=body)

    def payment_status(
        self, payment_id: Optional[str] = None, *, ipn_token: Optional[str] = None
    ) -> PaymentStatus:
        """Reads the state of a payment, by its id or its token. ApiError 404: your account has no such payment."""
        name, value = ("payment_id", payment_id) if ipn_token is None else ("ipn_token", ipn_token)
        answer = self._transport.send("GET", f"/api/v1/payment-status?{name}={_segment(name, value)}")
        return cast(PaymentStatus, _expect(answer, "payment_id", "status", "amount", "currency"))

    def list_payments(self, /, **filters: Parameter) -> MerchantPaymentPage:
        """Lists payments, newest first. The filters have the names of the API: ``status``, ``created_from`` and so on.

        ``before`` is the ``next`` of the page before.
        """
        answer = self._transport.send("GET", _with_query("/merchant/v1/payments", filters))
        return cast(MerchantPaymentPage, _expect_list(answer, "payments"))

    def iterate_payments(self, /, **filters: Parameter) -> Iterator[MerchantPayment]:
        """Iterates over all payments that match, newest first, and reads page after page."""
        for page in self._pages(filters):
            yield from page

    def _pages(self, filters: Mapping[str, Parameter]) -> Iterator[List[MerchantPayment]]:
        before = filters.get("before")
        while True:
            page = self.list_payments(**{**filters, "before": before})
            yield page["payments"]
            before = page.get("next")
            if before is None:
                return

    def get_payment(self, payment_id: str, *, expand: Optional[str] = None) -> MerchantPayment:
        """Reads a payment. ``expand`` adds parts, such as ``"deposits,releases"``."""
        path = _with_query(_payment_path(payment_id), {"expand": expand})
        answer = self._transport.send("GET", path)
        return cast(MerchantPayment, _expect(answer, "payment_id", "status", "amount", "currency"))

    def cancel_payment(self, payment_id: str) -> MerchantPayment:
        """Cancels a payment for which less than 0.01 USDC has arrived. ApiError 409: its state does not allow it."""
        answer = self._transport.send("POST", _payment_path(payment_id, "/cancel"), once=True)
        return cast(MerchantPayment, _expect(answer, "payment_id", "status"))

    def create_refund(
        self,
        payment_id: str,
        *,
        destination: Optional[str] = None,
        amount: Optional[Amount] = None,
        charge_amount: Optional[Amount] = None,
        share: Optional[Amount] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Refund:
        """Opens a refund, which you transfer from your own wallet.

        Without ``destination``, ``address_url`` of the answer is the link with which the customer names an address.
        ``amount`` is an amount in USDC, ``all`` (the default) for what is left, or ``surplus``. Instead of it,
        ``charge_amount`` is an amount of the charge in its currency, and ``share`` a percentage of the charge, both as
        text or ``Decimal``. ``idempotency_key`` should be your number of the return: then it gets one refund. ApiError
        409: less can be refunded, or the key was used with other parameters.
        """
        given = {"amount": amount, "charge_amount": charge_amount, "share": share}
        given.update(reason=reason, destination=destination)
        answer = self._create(_payment_path(payment_id, "/refunds"), given, idempotency_key)
        return _expect_refund(answer)

    def list_refunds(self, payment_id: str) -> RefundList:
        """Lists the refunds of a payment, and what can still be refunded."""
        answer = self._transport.send("GET", _payment_path(payment_id, "/refunds"))
        return cast(RefundList, _expect_list(answer, "refunds"))

    def get_refund(self, refund_id: str) -> Refund:
        """Reads a refund, as it is now."""
        return _expect_refund(self._transport.send("GET", _refund_path(refund_id)))

    def confirm_refund(self, refund_id: str, destination: str) -> Refund:
        """Confirms the address that the customer named, as you saw it. ApiError 409: it is another one."""
        path = _refund_path(refund_id, "/confirm")
        return _expect_refund(self._transport.send("POST", path, body={"destination": destination}, once=True))

    def submit_refund_transaction(self, refund_id: str, transaction: str) -> Refund:
        """Submits the hash of a transfer of another amount. It is checked and booked when it is final."""
        path = _refund_path(refund_id, "/transaction")
        return _expect_refund(self._transport.send("POST", path, body={"transaction": transaction}, once=True))

    def cancel_refund(self, refund_id: str) -> Refund:
        """Cancels a refund that is not paid. ApiError 409: it is paid or canceled."""
        path = _refund_path(refund_id, "/cancel")
        return _expect_refund(self._transport.send("POST", path, once=True))

    def list_events(self, after: Optional[int] = None, *, limit: int = EVENTS_OF_A_PAGE) -> MerchantEventPage:
        """Reads the events after a number, or from the oldest that exists. ``follow_events`` does so in a loop.

        ApiError 410 with the code ``cursor_expired``: events after that number no longer exist.
        """
        answer = self._transport.send("GET", _with_query("/merchant/v1/events", {"after": after, "limit": limit}))
        if type(answer.get("next_after")) is not int:
            raise ApiConnectionError("the answer has no next_after")
        return cast(MerchantEventPage, _expect_list(answer, "events"))

    def list_audit_entries(
        self,
        *,
        limit: Optional[int] = None,
        before: Optional[int] = None,
        created_from: Optional[str] = None,
        created_before: Optional[str] = None,
    ) -> AuditLog:
        """Reads a page of the audit log, newest first. The key needs the scope ``audit``.

        ``before`` is ``next`` of the page before; ``created_from`` and ``created_before`` are ISO times.
        """
        filters: Dict[str, Parameter] = {"limit": limit, "before": before}
        filters.update(created_from=created_from, created_before=created_before)
        answer = self._transport.send("GET", _with_query("/merchant/v1/audit", filters))
        return cast(AuditLog, _expect_list(answer, "entries"))

    def journal_csv(self, month: str) -> str:
        """Reads the double-entry journal of a month, such as ``2026-11``, as CSV."""
        path = _with_query("/merchant/v1/journal.csv", {"month": month})
        return self._transport.send_for_bytes("GET", path, limit=MAXIMUM_JOURNAL_BYTES).decode()

    def settlement(self) -> SettlementPublication:
        """Reads from what the deposit addresses follow. Keep a copy with your code rather than reading it each time."""
        answer = self._transport.send("GET", "/.well-known/card-checkout.json")
        return cast(SettlementPublication, _expect_list(_expect_list(answer, "factories"), "fee_wallets"))


def _with_query(path: str, parameters: Mapping[str, Parameter]) -> str:
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{path}?{query}" if query else path


def _payment_path(payment_id: str, operation: str = "") -> str:
    return f"/merchant/v1/payments/{_segment('payment_id', payment_id)}{operation}"


def _refund_path(refund_id: str, operation: str = "") -> str:
    return f"/merchant/v1/refunds/{_segment('refund_id', refund_id)}{operation}"


def _segment(argument: str, value: Optional[str]) -> str:
    """An id for a URL. Without the check, a missing one would be sent as a text or as nothing."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise ArgumentError(argument, "must be the text that the service gave")
    return quote(value, safe="")


def _expect(answer: Dict[str, Any], *fields: str) -> Dict[str, Any]:
    """An answer without these is not the service's."""
    missing = [field for field in fields if not isinstance(answer.get(field), str)]
    if missing:
        raise ApiConnectionError(f"the answer has no {', '.join(missing)}")
    return answer


def _expect_refund(answer: Dict[str, Any]) -> Refund:
    return cast(Refund, _expect(answer, "refund_id", "payment_id", "status", "amount"))


def _expect_list(answer: Dict[str, Any], field: str) -> Dict[str, Any]:
    if not isinstance(answer.get(field), list):
        raise ApiConnectionError(f"the answer has no {field}")
    return answer
