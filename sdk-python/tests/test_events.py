import unittest
from decimal import Decimal

from card_checkout import ApiError, EventGapError, WrongAmountError, follow_events, fulfil_once


class Stop(Exception):
    pass


class Log:
    """A client whose event log is a list of the numbers 10, 20 …; ``oldest`` is the smallest ``after`` that works."""

    def __init__(self, last, oldest=0):
        self.numbers = range(oldest + 10, last + 10, 10)
        self.oldest = oldest
        self.fail = None

    def list_events(self, after=None, **_):
        if self.fail:
            error, self.fail = self.fail, None
            raise error
        if after is not None and after < self.oldest:
            raise ApiError("gone", status=410, code="cursor_expired")
        rest = [number for number in self.numbers if number > (after or 0)]
        page = [{"number": number, "type": "payment.paid", "payment": {}} for number in rest[:2]]
        return {"events": page, "next_after": page[-1]["number"] if page else after, "has_more": len(rest) > 2}


class Cursor:
    def __init__(self):
        self.number = 0

    def read(self):
        return self.number

    def advance(self, previous, number, work):
        if self.number != previous:
            return False
        work(None)
        self.number = number
        return True

    def skip_to(self, number):
        self.number = number


def end(_):
    raise Stop


class FollowEvents(unittest.TestCase):
    def follow(self, log, cursor, on_event, **options):
        with self.assertRaises(Stop):
            follow_events(log, cursor, on_event, **{"wait": end, **options})

    def test_processes_each_event_once_in_order_over_pages_and_continues_after_the_last(self):
        seen, cursor = [], Cursor()
        self.follow(Log(50), cursor, lambda _, event: seen.append(event["number"]))
        self.follow(Log(70), cursor, lambda _, event: seen.append(event["number"]))
        self.assertEqual((seen, cursor.number), ([10, 20, 30, 40, 50, 60, 70], 70))

    def test_an_error_stops_at_its_event_and_repeats_it_after_a_pause(self):
        seen, errors, pauses = [], [], []

        def process(_, event):
            if event["number"] == 20 and not errors:
                raise OSError("the database is down")
            seen.append(event["number"])

        def wait(seconds):
            pauses.append(seconds)
            if len(pauses) == 2:
                raise Stop

        self.follow(Log(30), Cursor(), process, on_error=errors.append, wait=wait)
        self.assertEqual((seen, pauses, len(errors)), ([10, 20, 30], [10, 5], 1))

    def test_waits_as_long_as_the_service_asks(self):
        log, pauses = Log(0), []
        log.fail = ApiError("slow", status=429, retry_after=42)

        def wait(seconds):
            pauses.append(seconds)
            raise Stop

        self.follow(log, Cursor(), None, wait=wait)
        self.assertEqual(pauses, [42])

    def test_a_gap_is_an_error_or_is_handled_and_followed_by_the_oldest_event(self):
        with self.assertRaises(EventGapError):
            follow_events(Log(90, oldest=40), Cursor(), None)
        gaps, seen, cursor = [], [], Cursor()
        self.follow(Log(90, oldest=40), cursor, lambda _, event: seen.append(event["number"]), on_gap=gaps.append)
        self.assertEqual((gaps, seen), ([0], [50, 60, 70, 80, 90]))

    def test_another_process_that_was_faster_is_no_error(self):
        class Contested(Cursor):
            def advance(self, previous, number, work):
                self.number = max(self.number, 20)
                return super().advance(previous, number, work)

        seen = []
        self.follow(Log(30), Contested(), lambda _, event: seen.append(event["number"]))
        self.assertEqual(seen, [30])


class Store:
    def __init__(self):
        self.marks = set()

    def run_once(self, payment_id, work):
        if payment_id in self.marks:
            return False
        work(None)
        self.marks.add(payment_id)
        return True


class StatusClient:
    def __init__(self, **payment):
        self.payment = {"payment_id": "p", "status": "paid", "amount": "25.00", "currency": "USD", **payment}

    def payment_status(self, *_, **__):
        return self.payment


class FulfilOnce(unittest.TestCase):
    def fulfil(self, client, store, amount="25.0", currency="USD"):
        done = []
        fulfilment = fulfil_once(
            store,
            client=client,
            payment_id="P",
            expected_amount=amount,
            expected_currency=currency,
            fulfil=lambda _, payment: done.append(payment["payment_id"]),
        )
        return fulfilment.outcome, done

    def test_fulfills_once(self):
        store = Store()
        self.assertEqual(self.fulfil(StatusClient(), store), ("fulfilled", ["p"]))
        self.assertEqual(self.fulfil(StatusClient(), store), ("already_fulfilled", []))
        self.assertEqual(self.fulfil(StatusClient(), Store(), Decimal("25.000")), ("fulfilled", ["p"]))

    def test_fulfills_nothing_that_is_not_paid(self):
        self.assertEqual(self.fulfil(StatusClient(status="unpaid"), Store()), ("not_paid", []))

    def test_compares_amount_and_currency(self):
        for amount, currency in (("24.99", "USD"), ("25", "EUR"), ("25.000", "USD"), ("٢٥", "USD"), (25, "USD"), (Decimal("25.01"), "USD")):
            with self.assertRaises(WrongAmountError):
                self.fulfil(StatusClient(), Store(), amount, currency)


if __name__ == "__main__":
    unittest.main()
