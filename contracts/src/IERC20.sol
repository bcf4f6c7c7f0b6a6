// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The ERC-20 functions that a deposit needs.
interface IERC20 {
    /// @notice Balance of `account` in units.
    function balanceOf(address account) external view returns (uint256);

    /// @notice Moves `amount` units from the caller to `to`.
    function transfer(address to, uint256 amount) external returns (bool);
}
