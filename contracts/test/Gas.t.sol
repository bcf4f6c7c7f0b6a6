// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deposit} from "../src/Deposit.sol";
import {DepositFactory, Terms} from "../src/DepositFactory.sol";
import {IERC20} from "../src/IERC20.sol";
import {Stage} from "./Stage.sol";
import {Vm} from "./Test.sol";
import {HungryToken, WastefulToken} from "./Tokens.sol";

/// @notice Faulty `release` that treats every failed fee transfer as a refusal by the token.
contract GullibleDeposit {
    function release(IERC20 token, address merchant, address feeTo, uint256 fee, uint256 amount) external {
        require(token.transfer(merchant, amount - fee));
        (bool sent,) = address(token).call(abi.encodeCall(IERC20.transfer, (feeTo, fee)));
        if (!sent) require(token.transfer(merchant, fee));
    }
}

/// @notice Tests of the gas limit, which the caller chooses: a release has its full effect or none.
contract GasTest is Stage {
    uint256 private constant AMOUNT = 1_000_000;
    uint256 private constant FEE = 25_000;

    function test_at_every_gas_limit_a_release_pays_the_fee_or_does_nothing() public {
        pay(payment(1), AMOUNT);
        sweep(factory, IERC20(address(usdc)), list(payment(1)), 20_000, 260_000, 500, FEE);
    }

    function test_at_every_gas_limit_a_batch_is_released_whole_or_not_at_all() public {
        usdc.mint(merchant, 1);
        Terms[] memory batch = list(payment(1), payment(2), payment(3));
        for (uint256 i = 0; i < batch.length; ++i) {
            pay(batch[i], AMOUNT);
        }
        sweep(factory, IERC20(address(usdc)), batch, 20_000, 500_000, 1_000, 3 * FEE);
    }

    function test_at_every_gas_limit_a_refused_fee_goes_to_the_merchant_or_nothing_happens() public {
        pay(payment(1), AMOUNT);
        usdc.blacklist(feeWallet);
        sweep(factory, IERC20(address(usdc)), list(payment(1)), 20_000, 260_000, 500, 0);
    }

    function test_at_every_gas_limit_a_failure_is_reported_with_its_true_reason_or_not_at_all() public {
        address deposit = pay(payment(1), AMOUNT);
        usdc.blacklist(merchant);
        uint256 reports;
        for (uint256 gasLimit = 20_000; gasLimit <= 260_000; gasLimit += 500) {
            uint256 snapshot = vm.snapshotState();
            vm.recordLogs();
            (bool done,) = forwardWith(factory, list(payment(1)), gasLimit);
            Vm.Log[] memory logs = vm.getRecordedLogs();
            assertEq(logs.length, done ? 1 : 0, "events");
            if (done) {
                assertEq(abi.decode(logs[0].data, (bytes)), BLOCKLISTED, "reason");
                ++reports;
            }
            assertEq(usdc.balanceOf(deposit), AMOUNT, "deposit");
            vm.revertToState(snapshot);
        }
        assertTrue(reports > 0, "some were reported");
    }

    function test_starving_only_the_fee_transfer_is_impossible_however_much_it_needs() public {
        sweepHungry(0, false);
        sweepHungry(3, false);
        sweepHungry(0, true);
        sweepHungry(3, true);
    }

    function test_starving_the_merchants_transfer_is_no_failed_release_but_none() public {
        HungryToken token = new HungryToken(merchant, 2_000_000, 1, false);
        DepositFactory hungry = new DepositFactory(IERC20(address(token)));
        token.mint(hungry.depositOf(payment(1)), AMOUNT);
        sweep(hungry, IERC20(address(token)), list(payment(1)), 20_000, 4_500_000, 20_000, FEE);
    }

    function test_a_refusal_that_wastes_half_of_the_gas_is_never_reported_as_a_failed_release() public {
        for (uint256 percent = 40; percent <= 60; ++percent) {
            uint256 snapshot = vm.snapshotState();
            WastefulToken token = new WastefulToken(feeWallet, percent);
            DepositFactory wasteful = new DepositFactory(IERC20(address(token)));
            token.mint(wasteful.depositOf(payment(1)), AMOUNT);
            (bool done,) = forwardWith(wasteful, list(payment(1)), 20_000_000);
            // A call gets 63/64 of the gas, and half of that is less than half of all.
            assertTrue(done == (percent <= 50), "genuine up to one half");
            assertEq(token.balanceOf(merchant), done ? AMOUNT : 0, "merchant");
            vm.revertToState(snapshot);
        }
    }

    function testFuzz_no_gas_limit_dodges_the_fee(uint256 gasLimit, uint256 appetite, uint8 depth, bool swallows)
        public
    {
        gasLimit = bound(gasLimit, 20_000, 4_000_000);
        (HungryToken token, DepositFactory hungry) =
            stageHungry(bound(appetite, 0, 2_000_000), bound(depth, 0, 6), swallows);
        (bool done,) = forwardWith(hungry, list(payment(1)), gasLimit);
        assertEq(token.balanceOf(feeWallet), done ? FEE : 0, "fee wallet");
        assertEq(token.balanceOf(merchant), done ? AMOUNT - FEE : 0, "merchant");
    }

    function test_the_same_sweep_finds_the_dodge_in_a_deposit_that_believes_every_failure() public {
        HungryToken token = new HungryToken(feeWallet, 400_000, 1, false);
        GullibleDeposit gullible = new GullibleDeposit();
        token.mint(address(gullible), AMOUNT);
        token.mint(merchant, 1);
        uint256 dodges;
        for (uint256 gasLimit = 20_000; gasLimit <= 1_500_000; gasLimit += 5_000) {
            uint256 snapshot = vm.snapshotState();
            (bool done,) = address(gullible).call{gas: gasLimit}(
                abi.encodeCall(gullible.release, (IERC20(address(token)), merchant, feeWallet, FEE, AMOUNT))
            );
            if (done && token.balanceOf(feeWallet) == 0) ++dodges;
            vm.revertToState(snapshot);
        }
        assertTrue(dodges > 0, "a dodge");
    }

    function test_too_little_gas_for_the_fee_is_said_by_name() public {
        (, DepositFactory hungry) = stageHungry(400_000, 1, false);
        (bool done, bytes memory reason) = forwardWith(hungry, list(payment(1)), 400_000);
        assertTrue(!done, "undone");
        assertEq(reason, abi.encodeWithSelector(Deposit.NotEnoughGas.selector), "reason");
    }

    function sweepHungry(uint256 depth, bool swallows) private {
        (HungryToken token, DepositFactory hungry) = stageHungry(400_000, depth, swallows);
        sweep(hungry, IERC20(address(token)), list(payment(1)), 20_000, 1_500_000, 10_000, FEE);
    }

    function stageHungry(uint256 appetite, uint256 depth, bool swallows)
        private
        returns (HungryToken token, DepositFactory hungry)
    {
        token = new HungryToken(feeWallet, appetite, depth, swallows);
        hungry = new DepositFactory(IERC20(address(token)));
        token.mint(hungry.depositOf(payment(1)), AMOUNT);
    }

    /// @dev Releases `batch` from the same state with every gas limit from `low` to `high`.
    function sweep(
        DepositFactory from,
        IERC20 token,
        Terms[] memory batch,
        uint256 low,
        uint256 high,
        uint256 step,
        uint256 fee
    ) private {
        uint256 total = AMOUNT * batch.length;
        uint256 merchantBefore = token.balanceOf(merchant);
        uint256 releases;
        uint256 refusals;
        for (uint256 gasLimit = low; gasLimit <= high; gasLimit += step) {
            uint256 snapshot = vm.snapshotState();
            (bool done,) = forwardWith(from, batch, gasLimit);
            assertEq(token.balanceOf(feeWallet), done ? fee : 0, "fee wallet");
            assertEq(token.balanceOf(merchant) - merchantBefore, done ? total - fee : 0, "merchant");
            if (done) ++releases;
            else ++refusals;
            vm.revertToState(snapshot);
        }
        assertTrue(releases > 0 && refusals > 0, "the sweep saw both outcomes");
    }

    function forwardWith(DepositFactory from, Terms[] memory batch, uint256 gasLimit)
        private
        returns (bool done, bytes memory answer)
    {
        return address(from).call{gas: gasLimit}(abi.encodeCall(DepositFactory.forward, (batch)));
    }
}
