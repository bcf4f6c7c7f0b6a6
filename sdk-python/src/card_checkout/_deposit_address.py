"""Recomputes the deposit address of a payment from your payout wallet, the fee and the payment's id."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ._errors import DepositAddressError
from ._types import Payment, SettlementPublication

#: The most that the service lets the fee of an account be.
_HIGHEST_FEE_PERCENT = 10.0
#: More than a service has. A longer list would only cost time.
_MAXIMUM_CANDIDATES = 256


@dataclass(frozen=True)
class DepositProof:
    """With what the deposit address was made."""

    factory: str
    fee_wallet: str
    fee_basis_points: int


def verify_deposit_address(
    payment: Payment,
    *,
    payout_address: str,
    publication: SettlementPublication,
    maximum_fee_percent: float = _HIGHEST_FEE_PERCENT,
) -> DepositProof:
    """Proves that USDC at the payment's deposit address can go to your wallet, less the fee, and to no other.

    ``payout_address`` is from your configuration. ``publication`` is best a copy that you keep with your code. The
    proof rests on the factory being the published contract: check that once on the chain.

    Raises DepositAddressError when the address is another one: do not use the payment.
    """
    factories, fee_wallets = publication["factories"], publication["fee_wallets"]
    if len(factories) * len(fee_wallets) > _MAXIMUM_CANDIDATES:
        raise DepositAddressError("more factories and fee wallets are published than can be right")
    percent = payment["fee_percent"]
    if isinstance(percent, bool) or not isinstance(percent, (int, float)) or not percent <= maximum_fee_percent:
        raise DepositAddressError(f"the fee is {percent} %, more than {maximum_fee_percent} %")
    fee_basis_points = _to_basis_points(percent)
    merchant = _read_address(payout_address, "payout_address")
    given = _read_address(payment["polygon_address_in"], "polygon_address_in")
    reference = keccak_256(payment["payment_id"].encode())
    chain_id = publication["chain_id"]
    if type(chain_id) is not int or not 0 <= chain_id < 2**53:
        raise DepositAddressError(f"{chain_id} is no chain id")

    for published in factories:
        factory = _read_address(published["address"], "a factory")
        implementation = _read_address(published["implementation"], "an implementation")
        if implementation != _first_contract_of(factory):
            raise DepositAddressError("an implementation is not what its factory deployed first")
        code_hash = _clone_code_hash(implementation)
        for fee_wallet in fee_wallets:
            words = (
                chain_id.to_bytes(32, "big"),
                merchant.rjust(32, b"\0"),
                _read_address(fee_wallet, "a fee wallet").rjust(32, b"\0"),
                fee_basis_points.to_bytes(32, "big"),
                reference,
            )
            salt = keccak_256(b"".join(words))
            if keccak_256(b"\xff" + factory + salt + code_hash)[-20:] == given:
                return DepositProof(published["address"], fee_wallet, fee_basis_points)
    raise DepositAddressError(
        f"{payment['polygon_address_in']} is not the deposit address of payment {payment['payment_id']}"
        f" to {payout_address}"
    )


def _read_address(text: str, what: str) -> bytes:
    if not isinstance(text, str) or re.fullmatch(r"0x[0-9a-fA-F]{40}", text) is None:
        raise DepositAddressError(f"{what} is no address: {text}")
    return bytes.fromhex(text[2:])


def _to_basis_points(percent: float) -> int:
    """A percentage has at most two decimals; 2.3 × 100 is not quite 230 in floating point."""
    basis_points = round(percent * 100)
    if not 0 <= basis_points <= 10_000 or abs(basis_points - percent * 100) > 1e-6:
        raise DepositAddressError(f"{percent} is no fee")
    return basis_points


def _first_contract_of(creator: bytes) -> bytes:
    """The address of the first contract that a contract creates: keccak256(rlp([creator, 1]))."""
    return keccak_256(b"\xd6\x94" + creator + b"\x01")[-20:]


def _clone_code_hash(implementation: bytes) -> bytes:
    """keccak-256 of the creation code of an ERC-1167 clone."""
    before = bytes.fromhex("3d602d80600a3d3981f3363d3d373d3d3d363d73")
    after = bytes.fromhex("5af43d82803e903d91602b57fd5bf3")
    return keccak_256(before + implementation + after)


_RATE_BYTES = 136
_MASK = (1 << 64) - 1


def keccak_256(data: bytes) -> bytes:
    """Keccak-256 as Ethereum uses it. hashlib.sha3_256 pads differently and gives other hashes."""
    padded = bytearray(data + b"\x01")
    padded += bytes(-len(padded) % _RATE_BYTES)
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE_BYTES):
        for index in range(_RATE_BYTES // 8):
            offset = start + 8 * index
            lanes[index] ^= int.from_bytes(padded[offset : offset + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _permute(lanes: "list[int]") -> None:
    """Keccak-f[1600], in place. Lane (x, y) is at x + 5 y; the round constants come from their shift register."""
    register = 1
    for _ in range(24):
        parities = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        for x in range(5):
            effect = parities[(x + 4) % 5] ^ _rotate(parities[(x + 1) % 5], 1)
            for y in range(0, 25, 5):
                lanes[x + y] ^= effect
        x, y, moved = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            lanes[x + 5 * y], moved = _rotate(moved, (step + 1) * (step + 2) // 2 % 64), lanes[x + 5 * y]
        for row in range(0, 25, 5):
            copy = lanes[row : row + 5]
            for x in range(5):
                lanes[row + x] = copy[x] ^ (~copy[(x + 1) % 5] & copy[(x + 2) % 5] & _MASK)
        for bit in range(7):
            if register & 1:
                lanes[0] ^= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)


def _rotate(lane: int, by: int) -> int:
    return ((lane << by) | (lane >> (64 - by))) & _MASK
