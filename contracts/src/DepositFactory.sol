// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deposit, believed} from "./Deposit.sol";
import {IERC20} from "./IERC20.sol";

/// @notice Where a payment goes. A deposit address is made from its terms, so they cannot change afterwards.
/// @param merchant Receives the payment less the fee. Not zero.
/// @param feeBps The fee in hundredths of a percent (250 is 2.5 %), at most `MAX_FEE_BPS`.
/// @param feeTo Receives the fee.
/// @param ref Tells payments with the same terms apart: keccak256 of the payment's id.
struct Terms {
    address merchant;
    uint16 feeBps;
    address feeTo;
    bytes32 ref;
}

/// @title Deposit addresses that can only pay the merchant they were made for
/// @notice Every payment has its own deposit address, known before anything is deployed there. Whatever arrives is
/// released to the merchant, less the fee, and nowhere else. Anyone may release it; nobody can redirect it. There is no
/// owner, no key, no upgrade, no pause and no storage. One factory serves one token on one chain.
contract DepositFactory {
    /// @notice A payment was released: `toMerchant` and `fee` are what the merchant and the fee wallet received.
    event Forwarded(
        address indexed deposit, bytes32 indexed ref, address indexed merchant, uint256 toMerchant, uint256 fee
    );

    /// @notice A payment could not be released, for a reason of the token or the terms, never for lack of gas. The money
    /// stays where it is and can be released later. Anyone can bring this about: a hint, not a verdict.
    event ForwardFailed(address indexed deposit, bytes32 indexed ref, bytes reason);

    /// @notice Something that is not a payment was sent to the merchant. `token` zero is the chain's own coin; any other
    /// is whatever the caller named, so `amount` is worth no more than that token's word.
    event Rescued(address indexed deposit, address indexed token, uint256 amount);

    /// @notice A clone could not be deployed; too little gas is the only possible cause.
    error CloneFailed();

    /// @notice These terms could never be paid out: no merchant, or a fee above `MAX_FEE_BPS`.
    error InvalidTerms();

    /// @notice The payment token leaves a deposit by `forward` alone; otherwise the fee could be dodged.
    error NotRescuable();

    /// @notice The highest fee: all of it. Above, the arithmetic would make no sense.
    uint16 public constant MAX_FEE_BPS = 10_000;

    /// @notice The token that payments are made in.
    IERC20 public immutable token;

    /// @notice The code that every deposit runs.
    address public immutable implementation;

    /// @notice The chain that this factory was deployed on. It is part of every deposit address.
    uint256 public immutable chainId;

    /// @notice keccak256 of the 55 bytes that deploy a clone: with this contract's address and the terms, all that is
    /// needed to compute a deposit address offline.
    bytes32 public immutable cloneInitCodeHash;

    /// @param token_ The payment token; it must already be deployed.
    constructor(IERC20 token_) {
        token_.balanceOf(address(this)); // reverts where there is no token
        token = token_;
        implementation = address(new Deposit(token_));
        chainId = block.chainid;
        cloneInitCodeHash = keccak256(_cloneInitCode(implementation));
    }

    /// @notice The deposit address of a payment: send the token there.
    function depositOf(Terms calldata terms) external view returns (address) {
        if (!_valid(terms)) revert InvalidTerms();
        return _depositAt(_saltOf(terms));
    }

    /// @notice Releases payments: each to its merchant, less its fee. Empty deposits are skipped, so a second release
    /// moves nothing. One that fails does not hold up the others; too little gas undoes the whole call.
    function forward(Terms[] calldata payments) external {
        for (uint256 i = 0; i < payments.length; ++i) {
            _forward(payments[i]);
        }
    }

    /// @notice Sends what reached a deposit by mistake to its merchant, without a fee.
    /// @param other Any token except the payment token, or zero for the chain's own coin.
    function rescue(Terms calldata terms, address other) external {
        if (other == address(token)) revert NotRescuable();
        if (!_valid(terms)) revert InvalidTerms();
        bytes32 salt = _saltOf(terms);
        address deposit = _depositAt(salt);
        uint256 amount = other == address(0) ? deposit.balance : IERC20(other).balanceOf(deposit);
        if (amount == 0) return;

        _ensureClone(deposit, salt);
        Deposit(deposit).rescue(other, terms.merchant, amount);
        emit Rescued(deposit, other, amount);
    }

    /// @dev Releases one payment. The deposit moves all of the money or none of it.
    function _forward(Terms calldata terms) private {
        bytes32 salt = _saltOf(terms);
        address deposit = _depositAt(salt);
        uint256 amount = token.balanceOf(deposit);
        if (amount == 0) return;

        if (!_valid(terms)) {
            emit ForwardFailed(deposit, terms.ref, abi.encodeWithSelector(InvalidTerms.selector));
            return;
        }
        _ensureClone(deposit, salt);
        uint256 gasBefore = gasleft();
        try Deposit(deposit).release(terms.merchant, terms.feeTo, terms.feeBps, amount) returns (
            uint256 toMerchant, uint256 fee
        ) {
            emit Forwarded(deposit, terms.ref, terms.merchant, toMerchant, fee);
        } catch (bytes memory reason) {
            // Undoing everything also keeps gas estimates honest: they look for the least gas that does not revert.
            if (!believed(gasBefore) || bytes4(reason) == Deposit.NotEnoughGas.selector) revert Deposit.NotEnoughGas();
            emit ForwardFailed(deposit, terms.ref, reason);
        }
    }

    /// @dev Terms that pay out nowhere get no address and move nothing.
    function _valid(Terms calldata terms) private pure returns (bool) {
        return terms.merchant != address(0) && terms.feeBps <= MAX_FEE_BPS;
    }

    function _saltOf(Terms calldata terms) private view returns (bytes32) {
        return keccak256(abi.encode(chainId, terms.merchant, terms.feeTo, terms.feeBps, terms.ref));
    }

    /// @dev The address that CREATE2 gives to a clone (EIP-1014).
    function _depositAt(bytes32 salt) private view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), salt, cloneInitCodeHash));
        return address(uint160(uint256(hash)));
    }

    /// @dev Deploys the clone unless it is there.
    function _ensureClone(address deposit, bytes32 salt) private {
        if (deposit.code.length != 0) return;
        bytes memory initCode = _cloneInitCode(implementation);
        address created;
        assembly ("memory-safe") {
            created := create2(0, add(initCode, 32), mload(initCode), salt)
        }
        if (created != deposit) revert CloneFailed();
    }

    /// @dev ERC-1167: ten bytes that return the next 45, which pass every call on to the implementation.
    function _cloneInitCode(address target) private pure returns (bytes memory) {
        return abi.encodePacked(
            hex"3d602d80600a3d3981f3", hex"363d3d373d3d3d363d73", target, hex"5af43d82803e903d91602b57fd5bf3"
        );
    }
}
