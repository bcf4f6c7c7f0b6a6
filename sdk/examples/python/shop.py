"""A small shop without a framework: orders in SQLite, and a webhook receiver that meets the five obligations.
`python3 shop.py reconcile` reads the event log to find payments whose webhook was missed.

The README beside the examples lists the environment variables.
"""

import hashlib
import hmac
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVICE = os.environ["CARD_CHECKOUT_URL"].rstrip("/")
KEY = os.environ["CARD_CHECKOUT_KEY"]
ORDERS_FILE = os.environ.get("ORDERS_FILE", "orders.sqlite")
CURRENCY = "USD"
MAXIMUM_BODY_BYTES = 65_536
MAXIMUM_ANSWER_BYTES = 262_144
TOLERANCE_SECONDS = 300
# Maximum age of checked orders, longer than a payment stays open.
RECONCILE_SECONDS = 9 * 86_400
# Maximum orders per run, below the rate limit of status requests per minute.
RECONCILED_AT_ONCE = 100
MAXIMUM_FAILURES = 3
EVENTS_A_PAGE = 50
# Maximum pages per run. The next run continues after them.
MAXIMUM_PAGES = 200


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects, which would carry the API key to another host."""

    def redirect_request(self, *_):
        return None


SERVICE_OPENER = urllib.request.build_opener(NoRedirects)


def open_database():
    # Autocommit, so that BEGIN and COMMIT are explicit.
    return closing(sqlite3.connect(ORDERS_FILE, timeout=5, isolation_level=None))


def call_service(path, body=None, idempotency_key=None):
    headers = {"X-API-Key": KEY, "Content-Type": "application/json"}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVICE + path, data=data, headers=headers)
    with SERVICE_OPENER.open(request, timeout=8) as response:
        answer = response.read(MAXIMUM_ANSWER_BYTES + 1)
    if len(answer) > MAXIMUM_ANSWER_BYTES:
        raise ValueError("the service's answer is too long")
    return json.loads(answer)


def create_order(amount):
    with open_database() as database:
        order = database.execute(
            "INSERT INTO orders (amount, created_at) VALUES (?, ?)", (amount, int(time.time()))
        ).lastrowid
        payment = call_service(
            "/api/v1/wallet",
            {
                "address": os.environ["PAYOUT_ADDRESS"],
                "callback": os.environ["CALLBACK_URL"],
                "amount": amount,
                "currency": CURRENCY,
                "note": f"Order {order}",
            },
            f"python-{hashlib.sha256(ORDERS_FILE.encode()).hexdigest()[:12]}-{order}",
        )
        database.execute(
            "UPDATE orders SET payment_id = ?, ipn_token = ? WHERE number = ?",
            (payment["payment_id"], payment["ipn_token"], order),
        )
    # The ipn_token must stay on the server.
    return {"order": order, "payment_id": payment["payment_id"], "checkout_url": payment["checkout_url"]}


def receive(raw_body, signature):
    """Receives a webhook and returns the HTTP status."""
    try:
        event = json.loads(raw_body)
        payment_id, sent_at = str(event["paymentId"]), float(event["timestamp"])
    except (ValueError, KeyError, TypeError):
        return 400
    with open_database() as database:
        row = database.execute("SELECT ipn_token FROM orders WHERE payment_id = ?", (payment_id,)).fetchone()
        if row is None:
            return 401

        # 2. Verify the signature of the raw bytes (1.) in constant time. An old event is a replay.
        expected = hmac.new(row[0].encode(), raw_body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected.encode(), (signature or "").encode()):
            return 401
        if not abs(time.time() - sent_at) <= TOLERANCE_SECONDS:
            return 401

        fulfil_if_paid(database, payment_id)  # 3. and 4.
    return 204  # 5. Respond within ten seconds. Another program sends the parcel.


def fulfil_if_paid(database, payment_id):
    """Fulfils a payment's order once, if it is paid in the order's amount and currency."""
    number, amount = database.execute(
        "SELECT number, amount FROM orders WHERE payment_id = ?", (payment_id,)
    ).fetchone()

    # 3. Confirm the payment. 25.00 in another currency is a different price.
    status = call_service("/api/v1/payment-status?payment_id=" + urllib.parse.quote(payment_id, safe=""))
    if status["status"] != "paid" or status["currency"] != CURRENCY:
        return False
    if float(status["amount"]) != float(amount):
        return False
    # The received amount lacks the provider's fee. Choose a minimum share below which a person reviews the order.
    print(f"{payment_id}: {status['value_coin']} USDC received for {amount} {CURRENCY}", file=sys.stderr)

    # 4. Mark the order and queue the parcel in one transaction, unless it is already marked.
    database.execute("BEGIN IMMEDIATE")
    try:
        changed = database.execute(
            "UPDATE orders SET fulfilled_at = ? WHERE payment_id = ? AND fulfilled_at IS NULL",
            (int(time.time()), payment_id),
        ).rowcount
        if changed == 1:
            database.execute("INSERT INTO parcels (order_number) VALUES (?)", (number,))
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    return changed == 1


def reconcile():
    """Reads the account's event log, because a webhook is sent only once and may be missed. Returns whether the
    service responded. The cursor advances after all orders of a page, so that the next run repeats failed ones.
    """
    with open_database() as database:
        for _ in range(MAXIMUM_PAGES):
            row = database.execute("SELECT after FROM cursor").fetchone()
            after = "" if row is None else f"&after={row[0]}"
            try:
                page = call_service(f"/merchant/v1/events?limit={EVENTS_A_PAGE}{after}")
                for event in page["events"]:
                    if event["type"] == "payment.paid":
                        fulfil_missed(database, event["payment"]["payment_id"])
                database.execute("INSERT OR REPLACE INTO cursor (id, after) VALUES (1, ?)", (page["next_after"],))
                if not page["has_more"]:
                    break
            except urllib.error.HTTPError as error:
                if error.code != 410:
                    print(error, file=sys.stderr)
                    return False
                # The cursor expires if the shop is offline for more than 30 days.
                if not check_open_orders(database):
                    return False
                database.execute("DELETE FROM cursor")
            except Exception as error:
                print(error, file=sys.stderr)
                return False
    return True


def fulfil_missed(database, payment_id):
    is_open = database.execute(
        "SELECT 1 FROM orders WHERE payment_id = ? AND fulfilled_at IS NULL", (payment_id,)
    ).fetchone()
    if is_open is not None and fulfil_if_paid(database, payment_id):
        print(f"{payment_id}: fulfilled")


def check_open_orders(database):
    """Reads the status of open orders, starting with the longest unchecked, so that none blocks the others. Returns
    whether the service responded.
    """
    failures = 0
    rows = database.execute(
        "SELECT payment_id FROM orders WHERE fulfilled_at IS NULL AND payment_id IS NOT NULL AND created_at > ?"
        " ORDER BY checked_at, number LIMIT ?",
        (int(time.time()) - RECONCILE_SECONDS, RECONCILED_AT_ONCE),
    ).fetchall()
    for (payment_id,) in rows:
        database.execute(
            "UPDATE orders SET checked_at = ? WHERE payment_id = ?", (int(time.time()), payment_id)
        )
        try:
            fulfil_missed(database, payment_id)
        except Exception as error:
            print(f"{payment_id}: {error}", file=sys.stderr)
            failures += 1
            if failures == MAXIMUM_FAILURES:
                break  # The next run continues.
    return failures == 0


def count_fulfilments(payment_id):
    with open_database() as database:
        return database.execute(
            "SELECT count(*) FROM parcels JOIN orders ON number = order_number WHERE payment_id = ?",
            (payment_id,),
        ).fetchone()[0]


class Handler(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        # A negative length would read until the caller disconnects.
        if not (length.isascii() and length.isdigit()):
            return self.answer(411)
        if len(length) > 9 or int(length) > MAXIMUM_BODY_BYTES:
            return self.answer(413)
        raw_body = self.rfile.read(int(length))
        try:
            if self.path == "/webhook":
                return self.answer(receive(raw_body, self.headers.get("X-Service-Signature")))
            if self.path == "/orders":
                return self.answer(200, create_order(str(json.loads(raw_body)["amount"])))
        except Exception as error:  # The webhook is not repeated, but `reconcile` finds the order.
            print(error, file=sys.stderr)
            return self.answer(500)
        return self.answer(404)

    def do_GET(self):
        if self.path.startswith("/orders/"):
            return self.answer(200, {"fulfilments": count_fulfilments(self.path.removeprefix("/orders/"))})
        return self.answer(404)

    def answer(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def create_tables():
    with open_database() as database:
        database.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE IF NOT EXISTS orders (
              number INTEGER PRIMARY KEY, amount TEXT NOT NULL, created_at INTEGER NOT NULL,
              payment_id TEXT UNIQUE, ipn_token TEXT, fulfilled_at INTEGER, checked_at INTEGER NOT NULL DEFAULT 0
            );
            CREATE TABLE IF NOT EXISTS parcels (order_number INTEGER NOT NULL);
            CREATE TABLE IF NOT EXISTS cursor (id INTEGER PRIMARY KEY, after INTEGER NOT NULL);
            """
        )


if __name__ == "__main__":
    create_tables()
    if sys.argv[1:] == ["reconcile"]:
        sys.exit(0 if reconcile() else 1)
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Handler).serve_forever()
