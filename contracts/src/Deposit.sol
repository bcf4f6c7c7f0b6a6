// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "./IERC20.sol";

/// @title The code behind every deposit address
/// @notice A deposit address is a 45-byte clone (ERC-1167) that runs this code. It holds a payment until the factory
/// releases it. It has no owner and no storage, cannot be changed or destroyed, and only the factory can make it send.
contract Deposit {
    /// @notice A call ran out of gas, or too little was left to determine the cause. Nothing moved: send more gas.
    error NotEnoughGas();

    /// @notice Only the factory may call a deposit.
    error OnlyFactory();

    /// @notice The token returned data other than `true`.
    error TransferRefused();

    /// @notice The factory that deployed this code and its clones.
    address public immutable factory;

    /// @notice The payment token.
    IERC20 public immutable token;

    modifier onlyFactory() {
        if (msg.sender != factory) revert OnlyFactory();
        _;
    }

    /// @dev Called by the factory's constructor, so the deployer is the factory.
    constructor(IERC20 token_) {
        factory = msg.sender;
        token = token_;
    }

    /// @notice Sends `amount` of the payment token: the fee to `feeTo`, everything else to `merchant`.
    /// @dev The merchant's transfer comes first, and fails with the token's own reason. A fee that the token refuses to
    /// deliver (for example to a blocklisted fee wallet) also goes to the merchant, so that a bad fee wallet blocks no
    /// payment. A fee transfer that only ran out of gas must not count as refused: see `isGenuineFailure`.
    /// @param feeBps The fee in basis points, at most 10,000; checked by the factory.
    /// @return toMerchant Units received by the merchant.
    /// @return fee Units received by the fee wallet.
    function release(address merchant, address feeTo, uint256 feeBps, uint256 amount)
        external
        onlyFactory
        returns (uint256 toMerchant, uint256 fee)
    {
        fee = amount * feeBps / 10_000;
        toMerchant = amount - fee;
        _send(token, merchant, toMerchant);
        if (fee == 0) return (toMerchant, 0);

        uint256 gasBefore = gasleft();
        (bool sent,) = _trySend(token, feeTo, fee);
        if (sent) return (toMerchant, fee);

        if (!isGenuineFailure(gasBefore)) revert NotEnoughGas();
        _send(token, merchant, fee);
        return (amount, 0);
    }

    /// @notice Sends another token, or the chain's native coin, to the merchant.
    /// @param other The token, or zero for the coin.
    function rescue(address other, address merchant, uint256 amount) external onlyFactory {
        if (other != address(0)) return _send(IERC20(other), merchant, amount);
        (bool sent, bytes memory answer) = merchant.call{value: amount}("");
        if (!sent) _revertWith(answer);
    }

    /// @dev Sends, or reverts with the token's own reason.
    function _send(IERC20 what, address to, uint256 amount) private {
        (bool sent, bytes memory answer) = _trySend(what, to, amount);
        if (!sent) _revertWith(answer);
    }

    /// @dev Sends, and returns whether it worked. Old tokens return nothing on success; the factory has checked that
    /// the token's address has code.
    function _trySend(IERC20 what, address to, uint256 amount) private returns (bool sent, bytes memory answer) {
        (sent, answer) = address(what).call(abi.encodeCall(IERC20.transfer, (to, amount)));
        if (!sent || answer.length == 0) return (sent, answer);
        if (answer.length < 32 || abi.decode(answer, (uint256)) != 1) {
            return (false, abi.encodeWithSelector(TransferRefused.selector));
        }
    }

    /// @dev Reverts with the failed call's data.
    function _revertWith(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 32), mload(reason))
        }
    }
}

/// @notice Whether a call that has just failed did so for a reason other than too little gas.
/// @dev The sender of a transaction chooses its gas, and could let one inner call run out of it while the rest succeeds.
/// A call gets 63/64 of the remaining gas; one that runs out returns almost none of it, and one that refuses returns
/// nearly all. A failure is therefore genuine if at least half of the gas is left. This compares two readings without
/// assuming the cost of any operation, so it survives repricings of the chain's gas.
/// @param gasBefore `gasleft()` just before the call.
function isGenuineFailure(uint256 gasBefore) view returns (bool) {
    return gasleft() >= gasBefore / 2;
}
