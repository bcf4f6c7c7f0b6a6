"""The operations of the service."""

from __future__ import annotations

import re
import secrets
import time
from typing import Any, Callable, Dict, Mapping, Optional, Union, cast
from urllib.parse import quote, urlencode

from ._errors import ConnectionError
from ._transport import Transport
from ._types import (
    DirectPayment,
    MerchantCheckout,
    EventPage,
    MerchantPayment,
    MerchantPaymentPage,
    Payment,
    PaymentStatus,
    Refund,
    RefundList,
    SettlementPublication,
)

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

    def create_checkout(
        self,
        *,
        address: str,
        callback: str,
        amount: str,
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
        amount: str,
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
        self, *, amount: str, idempotency_key: Optional[str] = None, **order: Any
    ) -> MerchantCheckout:
        """Creates a checkout for an order of a platform.

        ``order`` has the parameters of a checkout, and ``reference``, ``metadata``, ``items``, ``return_url``,
        ``cancel_url`` and ``expires_in_seconds``. ``idempotency_key`` as with a checkout.
        """
        answer = self._create("/merchant/v1/checkouts", {"amount": amount, **order}, idempotency_key)
        return cast(MerchantCheckout, _expect(answer, "payment_id", "ipn_token", "checkout_url"))

    def _create(self, path: str, given: Mapping[str, Any], idempotency_key: Optional[str]) -> Dict[str, Any]:
        key = idempotency_key or f"sdk-{secrets.token_hex(16)}"
        if re.fullmatch(r"[!-~]{1,255}", key) is None:
            raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
        body = {name: value for name, value in given.items() if value is not None}
        return self._transport.send("POST", path, headers={"Idempotency-Key": key}, body=body)

    def payment_status(
        self, payment_id: Optional[str] = None, *, ipn_token: Optional[str] = None
    ) -> PaymentStatus:
        """Reads the state of a payment, by its id or its token. ApiError 404: your account has no such payment."""
        query = {"payment_id": payment_id} if ipn_token is None else {"ipn_token": ipn_token}
        answer = self._transport.send("GET", _with_query("/api/v1/payment-status", query))
        return cast(PaymentStatus, _expect(answer, "payment_id", "status", "amount", "currency"))

    def list_payments(self, **filters: Union[str, int, None]) -> MerchantPaymentPage:
        """Lists payments, newest first. The filters have the names of the API: ``status``, ``created_from`` and so on.

        ``before`` is the ``next`` of the page before.
        """
        answer = self._transport.send("GET", _with_query("/merchant/v1/payments", filters))
        return cast(MerchantPaymentPage, _expect_list(answer, "payments"))

    def get_payment(self, payment_id: str, *, expand: Optional[str] = None) -> MerchantPayment:
        """Reads a payment. ``expand`` adds parts, such as ``"deposits,releases"``."""
        path = _with_query(f"/merchant/v1/payments/{quote(payment_id, safe='')}", {"expand": expand})
        answer = self._transport.send("GET", path)
        return cast(MerchantPayment, _expect(answer, "payment_id", "status", "amount", "currency"))

    def cancel_payment(self, payment_id: str) -> MerchantPayment:
        """Cancels a payment for which less than 0.01 USDC has arrived. ApiError 409: its state does not allow it."""
        answer = self._transport.send("POST", f"/merchant/v1/payments/{quote(payment_id, safe='')}/cancel")
        return cast(MerchantPayment, _expect(answer, "payment_id", "status"))

    def create_refund(
        self,
        payment_id: str,
        *,
        destination: Optional[str] = None,
        amount: Optional[str] = None,
        charge_amount: Optional[str] = None,
        share: Optional[str] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Refund:
        """Opens a refund, which you transfer from your own wallet.

        Without ``destination``, ``address_url`` of the answer is the link with which the customer names an address.
        ``amount`` is an amount in USDC, ``all`` (the default) for what is left, or ``surplus``. Instead of it,
        ``charge_amount`` is an amount of the charge in its currency, and ``share`` a percentage of the charge, both as
        text. ``idempotency_key`` should be your number of the return: then it gets one refund. ApiError 409: less can be
        refunded, or the key was used with other parameters.
        """
        given = {"amount": amount, "charge_amount": charge_amount, "share": share}
        given.update(reason=reason, destination=destination)
        answer = self._create(f"/merchant/v1/payments/{quote(payment_id, safe='')}/refunds", given, idempotency_key)
        return _expect_refund(answer)

    def list_refunds(self, payment_id: str) -> RefundList:
        """Lists the refunds of a payment, and what can still be refunded."""
        answer = self._transport.send("GET", f"/merchant/v1/payments/{quote(payment_id, safe='')}/refunds")
        return cast(RefundList, _expect_list(answer, "refunds"))

    def get_refund(self, refund_id: str) -> Refund:
        """Reads a refund, as it is now."""
        return _expect_refund(self._transport.send("GET", f"/merchant/v1/refunds/{quote(refund_id, safe='')}"))

    def confirm_refund(self, refund_id: str, destination: str) -> Refund:
        """Confirms the address that the customer named, as you saw it. ApiError 409: it is another one."""
        path = f"/merchant/v1/refunds/{quote(refund_id, safe='')}/confirm"
        return _expect_refund(self._transport.send("POST", path, body={"destination": destination}))

    def submit_refund_transaction(self, refund_id: str, transaction: str) -> Refund:
        """Submits the hash of a transfer of another amount. It is checked and booked when it is final."""
        path = f"/merchant/v1/refunds/{quote(refund_id, safe='')}/transaction"
        return _expect_refund(self._transport.send("POST", path, body={"transaction": transaction}))

    def cancel_refund(self, refund_id: str) -> Refund:
        """Cancels a refund that is not paid. ApiError 409: it is paid or canceled."""
        return _expect_refund(self._transport.send("POST", f"/merchant/v1/refunds/{quote(refund_id, safe='')}/cancel"))

    def list_events(self, after: Optional[int] = None, *, limit: int = EVENTS_OF_A_PAGE) -> EventPage:
        """Reads the events after a number, or from the oldest that exists. ``follow_events`` does so in a loop.

        ApiError 410 with the code ``cursor_expired``: events after that number no longer exist.
        """
        answer = self._transport.send("GET", _with_query("/merchant/v1/events", {"after": after, "limit": limit}))
        if type(answer.get("next_after")) is not int:
            raise ConnectionError("the answer has no next_after")
        return cast(EventPage, _expect_list(answer, "events"))

    def journal_csv(self, month: str) -> str:
        """Reads the double-entry journal of a month, such as ``2026-11``, as CSV."""
        path = _with_query("/merchant/v1/journal.csv", {"month": month})
        return self._transport.send_for_bytes("GET", path, limit=MAXIMUM_JOURNAL_BYTES).decode()

    def settlement(self) -> SettlementPublication:
        """Reads from what the deposit addresses follow. Keep a copy with your code rather than reading it each time."""
        answer = self._transport.send("GET", "/.well-known/card-checkout.json")
        return cast(SettlementPublication, _expect_list(_expect_list(answer, "factories"), "fee_wallets"))


def _with_query(path: str, parameters: Mapping[str, Union[str, int, None]]) -> str:
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{path}?{query}" if query else path


def _expect(answer: Dict[str, Any], *fields: str) -> Dict[str, Any]:
    """An answer without these is not the service's."""
    missing = [field for field in fields if not isinstance(answer.get(field), str)]
    if missing:
        raise ConnectionError(f"the answer has no {', '.join(missing)}")
    return answer


def _expect_refund(answer: Dict[str, Any]) -> Refund:
    return cast(Refund, _expect(answer, "refund_id", "payment_id", "status", "amount"))


def _expect_list(answer: Dict[str, Any], field: str) -> Dict[str, Any]:
    if not isinstance(answer.get(field), list):
        raise ConnectionError(f"the answer has no {field}")
    return answer
