"""Fulfills an order once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Callable, Generic, Literal, Optional, Protocol, TypeVar, Union

from ._client import Client
from ._errors import WrongAmountError
from ._transport import text_of
from ._types import PaymentStatus

Transaction = TypeVar("Transaction")
Transaction_co = TypeVar("Transaction_co", covariant=True)


class FulfilmentStore(Protocol[Transaction_co]):
    """Where it is stored that a payment was fulfilled: your database."""

    def run_once(self, payment_id: str, work: Callable[[Transaction_co], None]) -> bool:
        """Opens a transaction, sets the payment's mark (a unique row), and runs ``work`` in it if the mark is new.

        Mark and work commit together or not at all. Returns whether ``work`` ran.
        """
        ...


@dataclass(frozen=True)
class Fulfilment(Generic[Transaction]):
    #: ``fulfilled`` by this call, ``already_fulfilled``, or ``not_paid``.
    outcome: Literal["fulfilled", "already_fulfilled", "not_paid"]
    payment: PaymentStatus


def fulfil_once(
    store: FulfilmentStore[Transaction],
    *,
    client: Client,
    payment_id: Optional[str] = None,
    ipn_token: Optional[str] = None,
    expected_amount: Union[str, Decimal],
    expected_currency: str,
    fulfil: Callable[[Transaction, PaymentStatus], None],
) -> "Fulfilment[Transaction]":
    """Confirms with the service that the payment is paid in the expected amount and currency, and fulfills it once.

    Raises ApiError, ApiConnectionError, ArgumentError, WrongAmountError, and what the store raises. Then nothing was
    fulfilled, and the call may be repeated.
    """
    payment = client.payment_status(payment_id, ipn_token=ipn_token)
    if payment["status"] != "paid":
        return Fulfilment("not_paid", payment)
    charged = (_to_cents(payment["amount"]), payment["currency"])
    if charged != (_to_cents(expected_amount), expected_currency):
        raise WrongAmountError(
            f"{payment['payment_id']}: {payment['amount']} {payment['currency']} were charged"
            f" instead of {expected_amount} {expected_currency}"
        )
    # The id from the service, in its one spelling: a mark must not exist twice because an id was written differently.
    has_run = store.run_once(payment["payment_id"], lambda transaction: fulfil(transaction, payment))
    return Fulfilment("fulfilled" if has_run else "already_fulfilled", payment)


def _to_cents(amount: Union[str, Decimal]) -> int:
    """Whole cents, without rounding: 25, 25.0 and 25.00 are the same."""
    text = text_of(amount) if isinstance(amount, Decimal) else amount
    match = re.fullmatch(r"([0-9]+)(?:\.([0-9]{1,2}))?", text) if isinstance(text, str) else None
    if match is None:
        raise WrongAmountError(f"{amount!r} is no amount")
    return int(match[1] + (match[2] or "").ljust(2, "0"))
