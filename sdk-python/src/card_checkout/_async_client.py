"""The operations of the service for asyncio."""

from __future__ import annotations

import asyncio
import copy
import functools
from typing import TYPE_CHECKING, AsyncIterator, Awaitable, Callable, Optional, TypeVar

from ._client import Client, Parameter
from ._types import MerchantPayment

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    Parameters = ParamSpec("Parameters")

Answer = TypeVar("Answer")


def _in_thread(
    operation: Callable[Concatenate[Client, Parameters], Answer],
) -> Callable[Concatenate[AsyncClient, Parameters], Awaitable[Answer]]:
    @functools.wraps(operation)
    async def call(self: AsyncClient, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        return await asyncio.to_thread(functools.partial(operation, self.client, *args, **kwargs))

    return call


class AsyncClient:
    """The operations of ``Client`` to await, each in a thread of the event loop's default executor.

    The size of that executor bounds the calls at once. A call that is canceled goes on in its thread, so a create may
    happen: repeat it with the same key. ``client`` is the client for ``follow_events`` and ``fulfil_once``, which run
    in a thread as a whole.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float = 30,
        maximum_retries: int = 2,
        maximum_pause: float = 10,
        allow_insecure_http: bool = False,
    ) -> None:
        self.client = Client(
            api_key,
            base_url,
            timeout=timeout,
            maximum_retries=maximum_retries,
            maximum_pause=maximum_pause,
            allow_insecure_http=allow_insecure_http,
        )

    def with_options(
        self, *, timeout: Optional[float] = None, maximum_retries: Optional[int] = None
    ) -> AsyncClient:
        """The same client with another timeout or number of retries, for single calls."""
        changed = copy.copy(self)
        changed.client = self.client.with_options(timeout=timeout, maximum_retries=maximum_retries)
        return changed

    create_checkout = _in_thread(Client.create_checkout)
    create_direct_payment = _in_thread(Client.create_direct_payment)
    create_merchant_checkout = _in_thread(Client.create_merchant_checkout)
    payment_status = _in_thread(Client.payment_status)
    list_payments = _in_thread(Client.list_payments)
    get_payment = _in_thread(Client.get_payment)
    cancel_payment = _in_thread(Client.cancel_payment)
    create_refund = _in_thread(Client.create_refund)
    list_refunds = _in_thread(Client.list_refunds)
    get_refund = _in_thread(Client.get_refund)
    confirm_refund = _in_thread(Client.confirm_refund)
    submit_refund_transaction = _in_thread(Client.submit_refund_transaction)
    cancel_refund = _in_thread(Client.cancel_refund)
    list_events = _in_thread(Client.list_events)
    list_audit_entries = _in_thread(Client.list_audit_entries)
    journal_csv = _in_thread(Client.journal_csv)
    settlement = _in_thread(Client.settlement)

    async def iterate_payments(self, /, **filters: Parameter) -> AsyncIterator[MerchantPayment]:
        """Iterates over all payments that match, newest first, and reads page after page."""
        pages = self.client._pages(filters)
        while (page := await asyncio.to_thread(lambda: next(pages, None))) is not None:
            for payment in page:
                yield payment
