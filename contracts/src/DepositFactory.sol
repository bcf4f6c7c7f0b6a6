// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deposit, isGenuineFailure} from "./Deposit.sol";
import {IERC20} from "./IERC20.sol";

/// @notice Terms of a payment. They determine its deposit address, so they cannot change afterwards.
/// @param merchant Receives the payment less the fee. Not zero.
/// @param feeBps The fee in basis points (250 is 2.5 %), at most `MAX_FEE_BPS`.
/// @param feeTo Receives the fee.
/// @param ref Distinguishes payments with the same terms: keccak256 of the payment's id.
struct Terms {
    address merchant;
    uint16 feeBps;
    address feeTo;
    bytes32 ref;
}

/// @title Deposit addresses that can only pay their merchant
/// @notice Every payment has its own deposit address, known before anything is deployed there. All deposits are released
/// to the merchant, less the fee. Anyone can trigger the release, and no one can redirect it. There is no owner, no key,
/// no upgrade, no pause and no storage. One factory serves one token on one chain.
contract DepositFactory {
    /// @notice A payment was released, with the units received by the merchant and the fee wallet.
    event Forwarded(
        address indexed deposit, bytes32 indexed ref, address indexed merchant, uint256 toMerchant, uint256 fee
    );

    /// @notice A payment could not be released because of the token or its terms, never for lack of gas. The money stays
    /// at the deposit address and can be released later. Anyone can cause this event, so it is only a hint.
    event ForwardFailed(address indexed deposit, bytes32 indexed ref, bytes reason);

    /// @notice An asset other than the payment token was sent to the merchant. A zero `token` is the chain's native
    /// coin. The caller chooses any other token, so `amount` is only as trustworthy as that token.
    event Rescued(address indexed deposit, address indexed token, uint256 amount);

    /// @notice A clone could not be deployed, which only too little gas can cause.
    error CloneFailed();

    /// @notice Terms that could never be paid out: no merchant, or a fee above `MAX_FEE_BPS`.
    error InvalidTerms();

    /// @notice The payment token leaves a deposit only by `forward`; otherwise the fee could be avoided.
    error NotRescuable();

    /// @notice The maximum fee: the whole payment.
    uint16 public constant MAX_FEE_BPS = 10_000;

    /// @notice The payment token.
    IERC20 public immutable token;

    /// @notice The code that every deposit runs.
    address public immutable implementation;

    /// @notice The chain of this factory, which is part of every deposit address.
    uint256 public immutable chainId;

    /// @notice keccak256 of the 55 bytes that deploy a clone. A deposit address can be computed offline from it, this
    /// contract's address and the terms.
    bytes32 public immutable cloneInitCodeHash;

    /// @param token_ The payment token; it must already be deployed.
    constructor(IERC20 token_) {
        token_.balanceOf(address(this)); // reverts without a token
        token = token_;
        implementation = address(new Deposit(token_));
        chainId = block.chainid;
        cloneInitCodeHash = keccak256(_cloneInitCode(implementation));
    }

    /// @notice The deposit address of a payment.
    function depositOf(Terms calldata terms) external view returns (address) {
        if (!_valid(terms)) revert InvalidTerms();
        return _depositAt(_saltOf(terms));
    }

    /// @notice Releases each payment to its merchant, less its fee. Skips empty deposits, so a second release moves
    /// nothing. A payment that fails does not block the others; too little gas reverts the whole call.
    function forward(Terms[] calldata payments) external {
        for (uint256 i = 0; i < payments.length; ++i) {
            _forward(payments[i]);
        }
    }

    /// @notice Sends tokens that reached a deposit by mistake to its merchant, without a fee.
    /// @param other Any token except the payment token, or zero for the chain's native coin.
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

    /// @dev Releases one payment. The deposit moves all of its money or none.
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
            // Reverting also keeps gas estimates correct, which search for the lowest gas that does not revert.
            if (!isGenuineFailure(gasBefore) || bytes4(reason) == Deposit.NotEnoughGas.selector) {
                revert Deposit.NotEnoughGas();
            }
            emit ForwardFailed(deposit, terms.ref, reason);
        }
    }

    /// @dev Invalid terms get no address and move nothing.
    function _valid(Terms calldata terms) private pure returns (bool) {
        return terms.merchant != address(0) && terms.feeBps <= MAX_FEE_BPS;
    }

    function _saltOf(Terms calldata terms) private view returns (bytes32) {
        return keccak256(abi.encode(chainId, terms.merchant, terms.feeTo, terms.feeBps, terms.ref));
    }

    /// @dev CREATE2 address of a clone (EIP-1014).
    function _depositAt(bytes32 salt) private view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), salt, cloneInitCodeHash));
        return address(uint160(uint256(hash)));
    }

    /// @dev Deploys the clone unless it exists.
    function _ensureClone(address deposit, bytes32 salt) private {
        if (deposit.code.length != 0) return;
        bytes memory initCode = _cloneInitCode(implementation);
        address created;
        assembly ("memory-safe") {
            created := create2(0, add(initCode, 32), mload(initCode), salt)
        }
        if (created != deposit) revert CloneFailed();
    }

    /// @dev ERC-1167: ten bytes that return the next 45, which delegate every call to the implementation.
    function _cloneInitCode(address target) private pure returns (bytes memory) {
        return abi.encodePacked(
            hex"3d602d80600a3d3981f3", hex"363d3d373d3d3d363d73", target, hex"5af43d82803e903d91602b57fd5bf3"
        );
    }
}
