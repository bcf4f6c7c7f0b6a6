import hashlib
import hmac
import json
import unittest

from card_checkout import WebhookError, construct_event, construct_event_with, sign_webhook

TOKEN = "ipn_test"
NOW = 1_790_000_000
PAYMENT_ID = "01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4"
EVENT = {"event": "payment.paid", "paymentId": PAYMENT_ID, "status": "paid", "timestamp": NOW, "note": "Grüße"}


def body_of(**change):
    return json.dumps({**EVENT, **change}, ensure_ascii=False).encode()


def sign(body, token=TOKEN):
    return hmac.new(token.encode(), body, hashlib.sha256).hexdigest()


class Webhooks(unittest.TestCase):
    def refuse(self, reason, body, signature, **options):
        with self.assertRaises(WebhookError) as raised:
            construct_event(body, signature, TOKEN, now=NOW, **options)
        self.assertEqual(raised.exception.reason, reason)
        return raised.exception.http_status

    def test_a_genuine_event_is_returned(self):
        body = body_of()
        self.assertEqual(construct_event(body, sign(body), TOKEN, now=NOW), EVENT)
        forwarded = body_of(event="payment.forwarded", status=None)
        self.assertEqual(construct_event(forwarded, sign(forwarded), TOKEN, now=NOW)["event"], "payment.forwarded")

    def test_the_signature_of_the_specification_is_lower_case_hexadecimal_of_the_raw_body(self):
        body = body_of()
        for signature in (None, "", sign(body).upper(), sign(body)[1:], sign(body) + "00", "ü" * 64, ["a"]):
            self.assertEqual(self.refuse("no_signature", body, signature), 401)
        for other in (sign(body + b" "), sign(body, "other")):
            self.assertEqual(self.refuse("wrong_signature", body, other), 401)

    def test_a_test_can_sign_a_body(self):
        self.assertEqual(sign_webhook(body_of(), TOKEN), sign(body_of()))
        for body, token in ((EVENT, TOKEN), (body_of(), "")):
            with self.assertRaises(TypeError):
                sign_webhook(body, token)

    def test_recordings_and_clocks_far_ahead_are_refused(self):
        for timestamp in (NOW - 301, NOW + 301):
            body = body_of(timestamp=timestamp)
            self.refuse("not_fresh", body, sign(body))
        body = body_of()
        self.refuse("not_fresh", body, sign(body), tolerance_seconds=float("nan"))

    def test_what_is_genuine_and_no_event_is_refused(self):
        bodies = [b"x", b"[]", b"\xff", b"{}", b"[" * 60_000]
        bodies += [body_of(timestamp=value) for value in (None, "1", True, 10**400)]
        bodies += [body_of(timestamp=float("nan")), body_of(paymentId=3), body_of(status="unpaid")]
        for body in bodies:
            self.assertEqual(self.refuse("malformed", body, sign(body)), 400)
        body = body_of(event="payment.lost")
        self.refuse("unknown_event", body, sign(body))
        self.refuse("malformed", b" " * 70_000, sign(b" " * 70_000))

    def test_a_parsed_body_or_a_missing_token_is_a_mistake_of_the_endpoint(self):
        for body, token in ((EVENT, TOKEN), (body_of().decode(), TOKEN), (body_of(), "")):
            with self.assertRaises(TypeError):
                construct_event(body, sign(body_of()), token)

    def test_the_token_is_found_by_the_claimed_payment(self):
        body = body_of()
        tokens = {PAYMENT_ID: TOKEN}
        self.assertEqual(construct_event_with(body, sign(body), tokens.get, now=NOW), EVENT)
        with self.assertRaises(WebhookError) as raised:
            construct_event_with(body, sign(body), {}.get, now=NOW)
        self.assertEqual(raised.exception.reason, "unknown_payment")
        asked = []
        with self.assertRaises(WebhookError):
            construct_event_with(body_of(paymentId="' OR 1=1"), "", asked.append)
        self.assertEqual(asked, [])


if __name__ == "__main__":
    unittest.main()
