import builtins
import json
import re
import sys
import traceback
import unittest
from decimal import Decimal
from pathlib import Path

import card_checkout
from card_checkout import ApiConnectionError, ApiError, ArgumentError, CardCheckoutError, Client
from serving import Service

KEY = "service_live_test"
PAYMENT = {"payment_id": "p", "ipn_token": "t", "checkout_url": "https://x", "status": "unpaid"}
STATUS = {"payment_id": "p", "status": "paid", "amount": "25.00", "currency": "USD"}
ORDER = {"address": "0x1", "callback": "https://shop.example/webhook", "amount": "25.00"}


def client_of(service, **options):
    return Client(KEY, service.url, wait=lambda _: None, **options)


class Requests(unittest.TestCase):
    def test_a_create_sends_key_order_and_idempotency_key(self):
        with Service((200, {}, PAYMENT)) as service:
            payment = client_of(service).create_checkout(
                **ORDER, pass_fee_to_customer=True, idempotency_key="order-7"
            )
            method, path, headers, body = service.requests[0]
        self.assertEqual(payment["payment_id"], "p")
        self.assertEqual((method, path), ("POST", "/api/v1/wallet"))
        self.assertEqual((headers["X-Api-Key"], headers["Idempotency-Key"]), (KEY, "order-7"))
        self.assertEqual(json.loads(body), {**ORDER, "passFeeToCustomer": True})

    def test_a_direct_payment_has_its_own_path(self):
        with Service((200, {}, {**PAYMENT, "usdc_amount": "25.000000"})) as service:
            client_of(service).create_direct_payment(amount="25.00", idempotency_key="order-8")
            method, path, headers, body = service.requests[0]
        self.assertEqual((method, path), ("POST", "/merchant/v1/direct-payments"))
        self.assertEqual((headers["Idempotency-Key"], json.loads(body)), ("order-8", {"amount": "25.00"}))

    def test_refunds_have_their_paths_and_bodies(self):
        refund = {"refund_id": "rfd_1", "payment_id": "p", "status": "awaiting_transfer", "amount": "5.000000"}
        with Service((200, {}, refund)) as service:
            client = client_of(service)
            opened = client.create_refund("p/q", destination="0x2", amount="5.00", idempotency_key="return-1")
            client.get_refund("rfd_1")
            client.submit_refund_transaction("rfd_1", "0xab")
            client.cancel_refund("rfd_1")
            client.create_refund("p", share="50")
            client.confirm_refund("rfd_1", "0x2")
            sent = [(method, path, body) for method, path, _, body in service.requests]
            self.assertEqual(service.requests[0][2]["Idempotency-Key"], "return-1")
        self.assertEqual(opened["status"], "awaiting_transfer")
        self.assertEqual(sent[0][:2], ("POST", "/merchant/v1/payments/p%2Fq/refunds"))
        self.assertEqual(json.loads(sent[0][2]), {"amount": "5.00", "destination": "0x2"})
        self.assertEqual(sent[1][:2], ("GET", "/merchant/v1/refunds/rfd_1"))
        self.assertEqual(sent[2][:2], ("POST", "/merchant/v1/refunds/rfd_1/transaction"))
        self.assertEqual(json.loads(sent[2][2]), {"transaction": "0xab"})
        self.assertEqual(sent[3][:2], ("POST", "/merchant/v1/refunds/rfd_1/cancel"))
        self.assertEqual(json.loads(sent[4][2]), {"share": "50"})
        self.assertEqual(sent[5][:2], ("POST", "/merchant/v1/refunds/rfd_1/confirm"))
        self.assertEqual(json.loads(sent[5][2]), {"destination": "0x2"})
        with Service((200, {}, {"refunds": [refund], "refundable_amount": "20.000000"})) as service:
            self.assertEqual(client_of(service).list_refunds("p")["refunds"], [refund])
            self.assertEqual(service.requests[0][1], "/merchant/v1/payments/p/refunds")
        with Service((200, {}, {"status": "paid"})) as service:
            with self.assertRaises(ApiConnectionError):
                client_of(service).get_refund("rfd_1")

    def test_the_audit_log_is_read_in_pages(self):
        pages = [{"entries": [{"position": 3}], "next": 3}, {"entries": [], "next": None}]
        with Service(*[(200, {}, page) for page in pages]) as service:
            page = client_of(service).list_audit_entries(limit=1, created_from="2026-11-01T00:00:00Z")
            self.assertEqual(client_of(service).list_audit_entries(before=page["next"])["entries"], [])
            paths = [request[1] for request in service.requests]
        start = "/merchant/v1/audit?limit=1&created_from=2026-11-01T00%3A00%3A00Z"
        self.assertEqual(paths, [start, "/merchant/v1/audit?before=3"])

    def test_a_checkout_of_a_platform_has_its_own_path_and_parameters(self):
        order = {"reference": "cart-1", "items": [{"name": "Cup", "amount": Decimal("9.90")}], "metadata": {"a": "b"}}
        with Service((200, {}, PAYMENT)) as service:
            client_of(service).create_merchant_checkout(amount="9.90", pass_fee_to_customer=True, **order)
            method, path, _, body = service.requests[0]
        self.assertEqual((method, path), ("POST", "/merchant/v1/checkouts"))
        items = [{"name": "Cup", "amount": "9.90"}]
        self.assertEqual(json.loads(body), {"amount": "9.90", "passFeeToCustomer": True, **order, "items": items})

    def test_a_decimal_is_sent_as_the_exact_amount(self):
        amounts = {"25.00": "25.00", "25.000": "25.00", "6.2500": "6.25", "1E+2": "100", "10.001": "10.001"}
        with Service((200, {}, PAYMENT)) as service:
            for amount in amounts:
                client_of(service).create_checkout(**{**ORDER, "amount": Decimal(amount)})
            self.assertEqual([json.loads(body)["amount"] for *_, body in service.requests], [*amounts.values()])
            for amount in ("NaN", "Infinity", "1E+999999"):
                with self.assertRaises(ArgumentError):
                    client_of(service).create_checkout(**{**ORDER, "amount": Decimal(amount)})

    def test_requests_name_the_package_in_its_version(self):
        with Service((200, {}, STATUS)) as service:
            client_of(service).payment_status("p")
            agent = service.requests[0][2]["User-Agent"]
        project = (Path(__file__).parent.parent / "pyproject.toml").read_text()
        self.assertEqual(agent, f"card-checkout-python/{re.search('^version = .(.+).$', project, re.M)[1]}")

    def test_payments_are_iterated_over_all_pages(self):
        pages = [{"payments": [{"payment_id": name}], "next": more} for name, more in (("a", "c1"), ("b", None))]
        with Service(*[(200, {}, page) for page in pages]) as service:
            found = [payment["payment_id"] for payment in client_of(service).iterate_payments(status="paid")]
            paths = [path for _, path, _, _ in service.requests]
        self.assertEqual(found, ["a", "b"])
        self.assertEqual(paths[1:], ["/merchant/v1/payments?status=paid&before=c1"])

    def test_a_missing_id_is_refused_before_a_request(self):
        with Service((200, {}, {})) as service:
            client = client_of(service)
            for missing in (None, "", 7, ".."):
                for call in (
                    client.payment_status,
                    client.get_payment,
                    client.cancel_payment,
                    client.create_refund,
                    client.list_refunds,
                    client.get_refund,
                    client.cancel_refund,
                    lambda refund_id: client.confirm_refund(refund_id, "0x2"),
                    lambda refund_id: client.submit_refund_transaction(refund_id, "0xab"),
                    lambda token: client.payment_status(ipn_token="" if token is None else token),
                ):
                    with self.assertRaises(ArgumentError) as raised:
                        call(missing)
            self.assertEqual((service.requests, raised.exception.argument), ([], "ipn_token"))

    def test_a_retried_create_keeps_its_idempotency_key(self):
        with Service((503, {}, {"error": "later"}), (200, {}, PAYMENT)) as service:
            client_of(service).create_checkout(**ORDER)
            keys = {headers["Idempotency-Key"] for _, _, headers, _ in service.requests}
            self.assertEqual((len(service.requests), len(keys)), (2, 1))

    def test_queries_are_encoded_and_none_is_left_out(self):
        with Service((200, {}, {"payments": [], "next": None})) as service:
            client_of(service).list_payments(search="a&b=c d", before=None, limit=5)
            self.assertEqual(service.requests[0][1], "/merchant/v1/payments?search=a%26b%3Dc+d&limit=5")
        with Service((200, {}, STATUS)) as service:
            client_of(service).get_payment("../days")
            self.assertEqual(service.requests[0][1], "/merchant/v1/payments/..%2Fdays")


class Failures(unittest.TestCase):
    def test_a_refusal_has_status_code_and_request_and_is_not_repeated(self):
        answer = {"error": "Too small.", "code": "below_minimum"}
        with Service((400, {"X-Request-Id": "r1"}, answer)) as service:
            with self.assertRaises(ApiError) as raised:
                client_of(service).create_checkout(**ORDER)
            self.assertEqual(len(service.requests), 1)
        error = raised.exception
        self.assertEqual((str(error), error.status, error.code), ("Too small.", 400, "below_minimum"))
        self.assertEqual((error.request_id, error.is_temporary), ("r1", False))

    def test_temporary_failures_are_repeated_twice(self):
        with Service((500, {}, {"error": "no"})) as service:
            with self.assertRaises(ApiError):
                client_of(service).payment_status("p")
            self.assertEqual(len(service.requests), 3)

    def test_a_gateway_that_does_not_reach_the_service_is_temporary(self):
        for status in (504, 520, 524):
            with Service((status, {}, b"<html>"), (200, {}, STATUS)) as service:
                client_of(service).payment_status("p")
                self.assertEqual(len(service.requests), 2)

    def test_what_a_repetition_would_find_done_is_sent_once(self):
        for call in (
            lambda client: client.confirm_refund("r", "0x2"),
            lambda client: client.submit_refund_transaction("r", "0xab"),
            lambda client: client.cancel_refund("r"),
            lambda client: client.cancel_payment("p"),
        ):
            with Service((503, {}, {"error": "later"})) as service:
                with self.assertRaises(ApiError):
                    call(client_of(service))
                self.assertEqual(len(service.requests), 1)

    def test_single_calls_have_their_own_timeout_and_retries(self):
        with Service((503, {}, {"error": "later"})) as service:
            client = client_of(service)
            with self.assertRaises(ApiError):
                client.with_options(maximum_retries=0).payment_status("p")
            self.assertEqual(len(service.requests), 1)
            with self.assertRaises(ApiConnectionError):
                client.with_options(timeout=1e-9, maximum_retries=0).payment_status("p")
            with self.assertRaises(ApiError):
                client.payment_status("p")
            self.assertGreaterEqual(len(service.requests), 4)

    def test_no_error_repeats_a_key(self):
        for key in ("service_live_geheim\n", "service_live_gehéim", "geheim", "service_live_geheim x", b"geheim"):
            with self.assertRaises(ArgumentError) as raised:
                Client(key, "https://pay.example.com")
            self.assertNotIn("geh", "".join(traceback.format_exception_only(ArgumentError, raised.exception)))
        client = Client(KEY, "https://pay.example.com")
        for key in ("", "geheim\n", "gehéim", "geheim" * 50, 7):
            with self.assertRaises(ArgumentError) as raised:
                client.create_checkout(**ORDER, idempotency_key=key)
            error = raised.exception
            self.assertEqual((error.argument, "geh" in str(error)), ("idempotency_key", False))
            self.assertIsInstance(error, CardCheckoutError)

    def test_a_pause_that_the_service_asks_for_is_kept_or_raised_when_too_long(self):
        pauses = []
        with Service((429, {"Retry-After": "7"}, {"error": "slow"}), (200, {}, STATUS)) as service:
            Client(KEY, service.url, wait=pauses.append).payment_status("p")
        self.assertTrue(7 <= pauses[0] <= 8)
        with Service((429, {"Retry-After": "60"}, {"error": "slow"})) as service:
            with self.assertRaises(ApiError) as raised:
                client_of(service).payment_status("p")
            self.assertEqual((raised.exception.retry_after, len(service.requests)), (60, 1))

    def test_a_redirect_is_not_followed_so_the_key_stays_with_the_service(self):
        for status in (301, 302, 303, 307, 308):
            with Service((200, {}, STATUS)) as elsewhere:
                with Service((status, {"Location": elsewhere.url}, {})) as service:
                    with self.assertRaises(ApiError) as raised:
                        client_of(service).payment_status("p")
                self.assertEqual((raised.exception.status, elsewhere.requests), (status, []))

    def test_an_answer_is_read_up_to_a_limit(self):
        with Service((200, {}, b" " * 2_000_000 + b"{}")) as service:
            with self.assertRaisesRegex(ApiConnectionError, "too large"):
                client_of(service, maximum_retries=0).payment_status("p")

    def test_what_is_no_answer_of_the_service_is_an_error(self):
        cut = (200, {"Content-Length": "500"}, b'{"payment_id":')
        for answer in ((200, {}, b"<html>"), (200, {}, [1]), (200, {}, {"status": "paid"}), cut):
            with Service(answer) as service:
                with self.assertRaises(ApiConnectionError):
                    client_of(service, maximum_retries=0).payment_status("p")
        with Service((200, {}, {"events": []})) as service:
            with self.assertRaises(ApiConnectionError):
                client_of(service).list_events()

    def test_a_service_that_is_down_is_a_connection_error(self):
        with Service((200, {}, {})) as service:
            gone = client_of(service, maximum_retries=1)
        with self.assertRaises(ApiConnectionError):
            gone.payment_status("p")

    def test_plain_http_and_half_keys_are_refused(self):
        bad = ("http://pay.example.com", "pay.example.com", "https://a:b@pay.example.com", "https://x/?a=b", None)
        for base_url in bad:
            with self.assertRaises(ValueError):
                Client(KEY, base_url)
        Client(KEY, "http://checkout:3000", allow_insecure_http=True)
        with self.assertRaises(ValueError):
            Client(KEY, "ftp://checkout", allow_insecure_http=True)
        for key in ("", "live_x", "service_live_x\r\ny: z", None):
            with self.assertRaises(ValueError):
                Client(key, "https://pay.example.com")

    def test_no_exported_name_hides_one_of_python(self):
        taken = {*dir(builtins), *getattr(sys, "stdlib_module_names", ()), "Event"}
        self.assertEqual(taken & set(card_checkout.__all__), set())


if __name__ == "__main__":
    unittest.main()
