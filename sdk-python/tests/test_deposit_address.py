import unittest

from card_checkout import DepositAddressError, verify_deposit_address
from card_checkout._deposit_address import keccak_256


class DepositAddress(unittest.TestCase):
    def test_keccak_256_is_that_of_ethereum_also_around_the_length_of_a_block(self):
        known = {
            b"": "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
            b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
            b"a" * 135: "34367dc248bbd832f4e3e69dfaac2f92638bd0bbd18f2912ba4ef454919cf446",
            b"a" * 136: "a6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e",
        }
        for data, digest in known.items():
            self.assertEqual(keccak_256(data).hex(), digest)

    def test_impossible_terms_are_refused(self):
        address = "0x" + "12" * 20
        publication = {"chain_id": 137, "token": address, "factories": [], "fee_wallets": [address]}
        payment = {"payment_id": "p", "polygon_address_in": address, "fee_percent": 2.5}
        factory = {"address": address, "implementation": address, "code_hash": ""}
        for change, published in (
            ({"fee_percent": 10.01}, {}),
            ({"fee_percent": float("nan")}, {}),
            ({"fee_percent": 2.345}, {}),
            ({"polygon_address_in": "0x12"}, {}),
            ({}, {}),
            ({}, {"chain_id": "137"}),
            ({}, {"factories": [factory]}),
            ({}, {"factories": [factory] * 257}),
        ):
            with self.assertRaises(DepositAddressError):
                verify_deposit_address(
                    {**payment, **change}, payout_address=address, publication={**publication, **published}
                )


if __name__ == "__main__":
    unittest.main()
