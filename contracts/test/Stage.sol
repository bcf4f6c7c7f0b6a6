// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUsdc, TestUsdcLogic} from "../sandbox/TestUsdc.sol";
import {Deposit} from "../src/Deposit.sol";
import {DepositFactory, Terms} from "../src/DepositFactory.sol";
import {IERC20} from "../src/IERC20.sol";
import {Test} from "./Test.sol";

/// @notice Functions that set up Circle's token.
interface ICircleToken {
    function changeAdmin(address admin) external;
    function initialize(
        string memory name,
        string memory symbol,
        string memory currency,
        uint8 decimals,
        address masterMinter,
        address pauser,
        address blacklister,
        address owner
    ) external;
    function initializeV2(string calldata name) external;
    function initializeV2_1(address lostAndFound) external;
    function initializeV2_2(address[] calldata blocklisted, string calldata symbol) external;
    function configureMinter(address minter, uint256 allowance) external;
}

/// @notice Fixture: a token, a factory, a merchant, a fee wallet and a stranger, who has no special rights.
abstract contract Stage is Test {
    TestUsdcLogic internal usdc;
    DepositFactory internal factory;
    address internal merchant = address(0xA11CE);
    address internal feeWallet = address(0xFEE);
    address internal stranger = address(0x57A6E2);

    /// @dev Errors of the token for a blocklisted account and while the token is paused.
    bytes internal constant BLOCKLISTED =
        abi.encodeWithSignature("Error(string)", "Blacklistable: account is blacklisted");
    bytes internal constant PAUSED = abi.encodeWithSignature("Error(string)", "Pausable: paused");

    function setUp() public virtual {
        bytes memory logic = vm.envOr("CIRCLE_TOKEN_LOGIC", bytes(""));
        usdc = TestUsdcLogic(logic.length == 0 ? address(new TestUsdc()) : circleToken(logic));
        factory = new DepositFactory(IERC20(address(usdc)));
    }

    /// @dev Deploys Circle's own token, from `node tools/contracts.ts circle`, with all roles for this contract.
    function circleToken(bytes memory logic) private returns (address proxy) {
        address implementation = create(logic);
        proxy = create(abi.encodePacked(vm.envOr("CIRCLE_TOKEN_PROXY", bytes("")), abi.encode(implementation)));
        // The proxy does not let its admin call the token, so another address becomes the admin.
        ICircleToken token = ICircleToken(proxy);
        token.changeAdmin(address(1));
        token.initialize(
            "USD Coin", "USDC", "USD", 6, address(this), address(this), address(this), address(this)
        );
        token.initializeV2("USD Coin");
        token.initializeV2_1(address(this));
        token.initializeV2_2(new address[](0), "USDC");
        token.configureMinter(address(this), type(uint256).max);
    }

    function create(bytes memory code) private returns (address created) {
        assembly ("memory-safe") {
            created := create(0, add(code, 32), mload(code))
        }
        assertTrue(created != address(0), "Circle's token is deployed");
    }

    /// @dev Returns terms with the usual merchant, fee wallet and 2.5 %.
    function payment(uint256 number) internal view returns (Terms memory) {
        return Terms({merchant: merchant, feeBps: 250, feeTo: feeWallet, ref: bytes32(number)});
    }

    /// @dev Mints `amount` to the deposit address of `terms`.
    function pay(Terms memory terms, uint256 amount) internal returns (address deposit) {
        deposit = factory.depositOf(terms);
        usdc.mint(deposit, amount);
    }

    function forwardOne(Terms memory terms) internal {
        factory.forward(list(terms));
    }

    function list(Terms memory first) internal pure returns (Terms[] memory terms) {
        terms = new Terms[](1);
        terms[0] = first;
    }

    function list(Terms memory first, Terms memory second, Terms memory third)
        internal
        pure
        returns (Terms[] memory terms)
    {
        terms = new Terms[](3);
        (terms[0], terms[1], terms[2]) = (first, second, third);
    }

    /// @dev Computes the deposit address from CREATE2 (EIP-1014) and ERC-1167.
    function rawDepositOf(DepositFactory from, Terms memory terms) internal view returns (address) {
        bytes memory initCode = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", from.implementation(), hex"5af43d82803e903d91602b57fd5bf3"
        );
        bytes32 salt = keccak256(
            abi.encodePacked(
                block.chainid,
                uint256(uint160(terms.merchant)),
                uint256(uint160(terms.feeTo)),
                uint256(terms.feeBps),
                terms.ref
            )
        );
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(from), salt, keccak256(initCode))))));
    }

    function feeOf(uint256 amount, uint256 feeBps) internal pure returns (uint256) {
        return amount * feeBps / 10_000;
    }

    function expectForwarded(Terms memory terms, uint256 toMerchant, uint256 fee) internal {
        vm.expectEmit(true, true, true, true, address(factory));
        emit DepositFactory.Forwarded(factory.depositOf(terms), terms.ref, terms.merchant, toMerchant, fee);
    }

    function expectForwardFailed(address deposit, bytes32 ref, bytes memory reason) internal {
        vm.expectEmit(true, true, true, true, address(factory));
        emit DepositFactory.ForwardFailed(deposit, ref, reason);
    }
}
