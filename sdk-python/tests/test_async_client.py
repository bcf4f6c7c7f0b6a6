import asyncio
import inspect
import threading
import unittest

from card_checkout import ApiError, AsyncClient, Client
from serving import Service

KEY = "service_live_test"
STATUS = {"payment_id": "p", "status": "paid", "amount": "25.00", "currency": "USD"}


class Async(unittest.TestCase):
    def test_has_every_operation_of_the_client(self):
        operations = {name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")}
        self.assertEqual(operations - set(dir(AsyncClient)), set())

    def test_calls_run_at_once_beside_the_loop_and_keep_their_errors(self):
        both = threading.Barrier(2, timeout=10)

        async def call(url):
            client = AsyncClient(KEY, url)
            transport = client.client._transport
            original = transport.send

            def send(*given, **options):
                both.wait()
                return original(*given, **options)

            transport.send = send
            return await asyncio.gather(client.payment_status("p"), client.get_payment("p"))

        with Service((200, {}, STATUS)) as service:
            self.assertEqual(asyncio.run(call(service.url)), [STATUS, STATUS])
        with Service((404, {}, {"error": "no"})) as service:
            with self.assertRaises(ApiError):
                asyncio.run(AsyncClient(KEY, service.url).with_options(timeout=5).get_payment("p"))

    def test_iterates_over_all_pages(self):
        async def collect(url):
            found = AsyncClient(KEY, url).iterate_payments(status="paid")
            return [payment["payment_id"] async for payment in found]

        pages = [{"payments": [{"payment_id": name}], "next": more} for name, more in (("a", "c1"), ("b", None))]
        with Service(*[(200, {}, page) for page in pages]) as service:
            self.assertEqual(asyncio.run(collect(service.url)), ["a", "b"])
            self.assertEqual(service.requests[1][1], "/merchant/v1/payments?status=paid&before=c1")


if __name__ == "__main__":
    unittest.main()
