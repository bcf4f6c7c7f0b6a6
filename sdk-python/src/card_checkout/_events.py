"""Follows the event log of the account."""

from __future__ import annotations

import threading
from typing import Callable, Optional, Protocol, TypeVar

from ._client import Client
from ._errors import ApiError, EventGapError
from ._types import MerchantEvent

Transaction = TypeVar("Transaction")
Transaction_co = TypeVar("Transaction_co", covariant=True)

_POLL_SECONDS = 5.0
#: After an error without a Retry-After.
_ERROR_PAUSE_SECONDS = 10.0


class EventCursor(Protocol[Transaction_co]):
    """Where the number of the last processed event is stored: your database, in one row."""

    def read(self) -> int:
        """The number of the last processed event; 0 before the first."""
        ...

    def advance(self, previous: int, number: int, work: Callable[[Transaction_co], None]) -> bool:
        """Opens a transaction, sets the stored number to ``number`` if it is ``previous``, and runs ``work`` in it.

        Both commit together or not at all. Returns False, and runs nothing, when another number is stored.
        """
        ...

    def skip_to(self, number: int) -> None:
        """Sets the stored number where the events in between no longer exist."""
        ...


def follow_events(
    client: Client,
    cursor: EventCursor[Transaction],
    on_event: Callable[[Transaction, MerchantEvent], None],
    *,
    on_gap: Optional[Callable[[int], None]] = None,
    on_error: Optional[Callable[[Exception], None]] = None,
    stop: Optional[threading.Event] = None,
    poll_seconds: float = _POLL_SECONDS,
    wait: Optional[Callable[[float], object]] = None,
) -> None:
    """Processes the events in order and each exactly once, until ``stop`` is set. After a crash it continues after the
    last event that was committed.

    ``on_event`` writes to the transaction that it is given. An error in it goes to ``on_error``, and the event is
    retried. ``on_gap`` is called with the stored number when events after it are older than 30 days and no longer
    exist: read your open orders one by one there. Without it, EventGapError is raised.
    """
    stop = stop or threading.Event()
    wait = wait or stop.wait
    while not stop.is_set():
        pause = poll_seconds
        try:
            if _process_page(client, cursor, on_event, on_gap, stop):
                continue
        except EventGapError:
            raise
        except Exception as error:
            if on_error is not None:
                on_error(error)
            asked = error.retry_after if isinstance(error, ApiError) else None
            pause = max(asked or 0, _ERROR_PAUSE_SECONDS)
        if not stop.is_set():
            wait(pause)


def _process_page(
    client: Client,
    cursor: EventCursor[Transaction],
    on_event: Callable[[Transaction, MerchantEvent], None],
    on_gap: Optional[Callable[[int], None]],
    stop: threading.Event,
) -> bool:
    """Processes the next page. Returns whether more events exist."""
    after = cursor.read()
    try:
        page = client.list_events(after)
    except ApiError as error:
        if error.code != "cursor_expired":
            raise
        if on_gap is None:
            raise EventGapError(f"events after {after} no longer exist") from error
        oldest = client.list_events()
        on_gap(after)
        events = oldest["events"]
        cursor.skip_to(events[0]["number"] - 1 if events else oldest["next_after"])
        return True
    previous = after
    for event in page["events"]:
        if stop.is_set():
            return False
        number = event["number"]
        # Another process was faster: the next page begins where it is.
        if not cursor.advance(previous, number, _work_of(on_event, event)):
            return True
        previous = number
    return page["has_more"]


def _work_of(
    on_event: Callable[[Transaction, MerchantEvent], None], event: MerchantEvent
) -> Callable[[Transaction], None]:
    return lambda transaction: on_event(transaction, event)
