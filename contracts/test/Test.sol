// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Forge's cheat codes that the tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function assume(bool condition) external pure;
    function prank(address sender) external;
    function deal(address account, uint256 balance) external;
    function etch(address account, bytes calldata code) external;
    function chainId(uint256 id) external;
    function expectRevert(bytes calldata reason) external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function snapshotState() external returns (uint256 id);
    function envOr(string calldata name, bytes calldata otherwise) external view returns (bytes memory value);
    function revertToState(uint256 id) external returns (bool);
}

/// @notice Base of all test contracts: cheat codes, and assertions with messages.
abstract contract Test {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// @notice Tells forge that the contract contains tests.
    bool public constant IS_TEST = true;

    error NotEqual(string what, uint256 actual, uint256 expected);
    error NotEqualBytes(string what, bytes actual, bytes expected);
    error NotTrue(string what);

    function assertEq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, actual, expected);
    }

    function assertEq(address actual, address expected, string memory what) internal pure {
        assertEq(uint256(uint160(actual)), uint256(uint160(expected)), what);
    }

    function assertEq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        assertEq(uint256(actual), uint256(expected), what);
    }

    function assertEq(bytes memory actual, bytes memory expected, string memory what) internal pure {
        if (keccak256(actual) != keccak256(expected)) revert NotEqualBytes(what, actual, expected);
    }

    function assertTrue(bool condition, string memory what) internal pure {
        if (!condition) revert NotTrue(what);
    }

    /// @notice Maps a number into the inclusive range from `low` to `high`.
    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        if (value >= low && value <= high) return value;
        return low + value % (high - low + 1);
    }
}
