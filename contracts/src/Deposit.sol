// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "./IERC20.sol";

/// @title The code behind every deposit address
/// @notice A deposit address is a 45-byte clone (ERC-1167) that runs this code. It holds a payment until the factory
/// releases it. It has no owner and no storage, cannot be changed or destroyed, and obeys nobody but the factory.
contract Deposit {
    /// @notice A call ran out of gas, or too little was left to tell why it failed. Nothing has moved: send more gas.
    error NotEnoughGas();

    /// @notice Only the factory may ask a deposit to send anything.
    error OnlyFactory();

    /// @notice The token answered `false` instead of sending.
    error TransferRefused();

    /// @notice The factory that made this code and the clones that run it.
    address public immutable factory;

    /// @notice The token that payments are made in.
    IERC20 public immutable token;

    modifier onlyFactory() {
        if (msg.sender != factory) revert OnlyFactory();
        _;
    }

    /// @dev Called by the factory's own constructor, so the factory is whoever deploys.
    constructor(IERC20 token_) {
        factory = msg.sender;
        token = token_;
    }

    /// @notice Sends `amount` of the payment token: the fee to `feeTo`, everything else to `merchant`.
    /// @dev The merchant comes first, and fails with the token's own reason. A fee that the token refuses to deliver
    /// (the fee wallet is blocklisted, say) goes to the merchant too, so that a bad fee wallet holds up nobody. What
    /// must not pass for such a refusal is a fee transfer starved of gas: see `believed`.
    /// @param feeBps The fee in hundredths of a percent, at most 10,000; the factory has checked it.
    /// @return toMerchant The units that the merchant received.
    /// @return fee The units that the fee wallet received.
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

        if (!believed(gasBefore)) revert NotEnoughGas();
        _send(token, merchant, fee);
        return (amount, 0);
    }

    /// @notice Sends what is not a payment to the merchant: another token, or the chain's own coin.
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

    /// @dev Sends, and tells whether it worked. Old tokens answer nothing at all when it did; the factory has seen that
    /// there is code at the token's address.
    function _trySend(IERC20 what, address to, uint256 amount) private returns (bool sent, bytes memory answer) {
        (sent, answer) = address(what).call(abi.encodeCall(IERC20.transfer, (to, amount)));
        if (!sent || answer.length == 0) return (sent, answer);
        if (answer.length < 32 || abi.decode(answer, (uint256)) != 1) {
            return (false, abi.encodeWithSelector(TransferRefused.selector));
        }
    }

    /// @dev Fails with the bytes that the failed call gave.
    function _revertWith(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 32), mload(reason))
        }
    }
}

/// @notice Whether a call that has just failed may be believed to have failed for reasons of its own.
/// @dev Whoever sends a transaction chooses its gas, and could choose it so that one inner call runs out while the rest
/// goes through. A call is offered 63/64 of what is left, and one that runs out gives back next to nothing; one that
/// refuses gives back nearly all. So a failure is believed only if at least half of the gas is still there. This
/// compares two readings and knows no price of any operation: it outlives every repricing of the chain's gas.
/// @param gasBefore What `gasleft()` said just before the call.
function believed(uint256 gasBefore) view returns (bool) {
    return gasleft() >= gasBefore / 2;
}
