// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositFactory, Terms} from "../src/DepositFactory.sol";
import {Stage} from "./Stage.sol";
import {Vm} from "./Test.sol";

/// @notice Guarantees of `forward` for each payment and for a batch.
contract ForwardTest is Stage {
    function test_a_payment_reaches_the_merchant_less_the_fee() public {
        Terms memory terms = payment(1);
        address deposit = pay(terms, 100_000_000);
        expectForwarded(terms, 97_500_000, 2_500_000);
        vm.prank(stranger);
        forwardOne(terms);
        assertEq(usdc.balanceOf(merchant), 97_500_000, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 2_500_000, "fee wallet");
        assertEq(usdc.balanceOf(deposit), 0, "deposit");
    }

    function test_the_merchant_is_paid_before_the_fee_wallet() public {
        Terms memory terms = payment(1);
        pay(terms, 100_000_000);
        vm.recordLogs();
        forwardOne(terms);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 3, "two transfers and one event of the factory");
        assertEq(logs[0].topics[2], bytes32(uint256(uint160(merchant))), "first transfer");
        assertEq(logs[1].topics[2], bytes32(uint256(uint160(feeWallet))), "second transfer");
    }

    function testFuzz_the_fee_is_rounded_down_and_the_merchant_gets_all_the_rest(uint128 amount, uint16 feeBps) public {
        vm.assume(amount > 0);
        feeBps = uint16(bound(feeBps, 0, 10_000));
        Terms memory terms = Terms(merchant, feeBps, feeWallet, "any");
        address deposit = pay(terms, amount);
        uint256 fee = uint256(amount) * feeBps / 10_000;
        expectForwarded(terms, amount - fee, fee);
        forwardOne(terms);
        assertEq(usdc.balanceOf(merchant), amount - fee, "merchant");
        assertEq(usdc.balanceOf(feeWallet), fee, "fee wallet");
        assertEq(usdc.balanceOf(deposit), 0, "deposit");
    }

    function test_no_fee_means_one_transfer_even_without_a_fee_wallet() public {
        Terms memory terms = Terms(merchant, 0, address(0), "free");
        pay(terms, 5);
        vm.recordLogs();
        forwardOne(terms);
        assertEq(vm.getRecordedLogs().length, 2, "one transfer and one event of the factory");
        assertEq(usdc.balanceOf(merchant), 5, "merchant");
    }

    function test_one_unit_is_the_merchants() public {
        Terms memory terms = payment(1);
        pay(terms, 1);
        expectForwarded(terms, 1, 0);
        forwardOne(terms);
    }

    function test_a_second_release_moves_nothing_and_says_nothing() public {
        Terms memory terms = payment(1);
        pay(terms, 100);
        forwardOne(terms);
        uint256 before = usdc.balanceOf(merchant);
        vm.recordLogs();
        forwardOne(terms);
        assertEq(vm.getRecordedLogs().length, 0, "events");
        assertEq(usdc.balanceOf(merchant), before, "merchant");
    }

    function test_a_later_deposit_to_the_same_address_is_released_too() public {
        Terms memory terms = payment(1);
        pay(terms, 1_000);
        forwardOne(terms);
        pay(terms, 2_000);
        forwardOne(terms);
        assertEq(usdc.balanceOf(merchant), 2_925, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 75, "fee wallet");
    }

    function test_an_empty_deposit_is_skipped_without_deploying_anything() public {
        vm.recordLogs();
        forwardOne(payment(1));
        assertEq(vm.getRecordedLogs().length, 0, "events");
        assertEq(factory.depositOf(payment(1)).code.length, 0, "code");
    }

    function test_an_empty_batch_does_nothing() public {
        factory.forward(new Terms[](0));
    }

    function test_a_payment_named_twice_in_a_batch_is_paid_once() public {
        Terms memory terms = payment(1);
        pay(terms, 100_000_000);
        vm.recordLogs();
        factory.forward(list(terms, terms, terms));
        assertEq(vm.getRecordedLogs().length, 3, "two transfers and one event of the factory");
        assertEq(usdc.balanceOf(merchant), 97_500_000, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 2_500_000, "fee wallet");
    }

    function test_a_blocklisted_merchant_holds_up_nobody_and_is_paid_once_the_block_is_lifted() public {
        Terms memory blocked = Terms(address(0xBAD), 250, feeWallet, "blocked");
        pay(payment(1), 1_000);
        address deposit = pay(blocked, 10_000);
        pay(payment(2), 1_000);
        usdc.blacklist(address(0xBAD));

        expectForwardFailed(deposit, "blocked", BLOCKLISTED);
        factory.forward(list(payment(1), blocked, payment(2)));
        assertEq(usdc.balanceOf(merchant), 1_950, "the others' merchant");
        assertEq(usdc.balanceOf(deposit), 10_000, "the money waits");
        assertEq(usdc.balanceOf(feeWallet), 50, "no fee without the merchant's part");

        usdc.unBlacklist(address(0xBAD));
        forwardOne(blocked);
        assertEq(usdc.balanceOf(address(0xBAD)), 9_750, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 300, "fee wallet");
    }

    function test_a_blocklisted_deposit_holds_up_nobody() public {
        address deposit = pay(payment(1), 1_000);
        pay(payment(2), 1_000);
        usdc.blacklist(deposit);
        expectForwardFailed(deposit, bytes32(uint256(1)), BLOCKLISTED);
        factory.forward(list(payment(1), payment(2), payment(3)));
        assertEq(usdc.balanceOf(merchant), 975, "merchant");
        assertEq(usdc.balanceOf(deposit), 1_000, "blocklisted deposit");
    }

    function testFuzz_the_fee_of_a_blocklisted_fee_wallet_goes_to_the_merchant(uint128 amount, uint16 feeBps) public {
        vm.assume(amount > 0);
        feeBps = uint16(bound(feeBps, 0, 10_000));
        Terms memory terms = Terms(merchant, feeBps, feeWallet, "any");
        pay(terms, amount);
        usdc.blacklist(feeWallet);
        expectForwarded(terms, amount, 0);
        forwardOne(terms);
        assertEq(usdc.balanceOf(merchant), amount, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 0, "fee wallet");
    }

    function test_the_fee_of_terms_without_a_fee_wallet_goes_to_the_merchant() public {
        Terms memory terms = Terms(merchant, 250, address(0), "no wallet");
        pay(terms, 1_000);
        expectForwarded(terms, 1_000, 0);
        forwardOne(terms);
    }

    function test_a_merchant_who_is_the_fee_wallet_too_gets_both_parts() public {
        Terms memory terms = Terms(merchant, 250, merchant, "both");
        pay(terms, 1_000);
        expectForwarded(terms, 975, 25);
        forwardOne(terms);
        assertEq(usdc.balanceOf(merchant), 1_000, "merchant");
    }

    function test_while_the_token_is_paused_everything_waits_and_nothing_is_lost() public {
        pay(payment(1), 1_000);
        address deposit = pay(payment(2), 1_000);
        usdc.pause();
        expectForwardFailed(deposit, bytes32(uint256(2)), PAUSED);
        factory.forward(list(payment(1), payment(2), payment(3)));
        assertEq(usdc.balanceOf(merchant), 0, "merchant");
        usdc.unpause();
        factory.forward(list(payment(1), payment(2), payment(3)));
        assertEq(usdc.balanceOf(merchant), 1_950, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 50, "fee wallet");
    }

    function testFuzz_terms_that_could_never_be_paid_hold_up_nobody(uint16 feeBps) public {
        feeBps = uint16(bound(feeBps, 10_001, type(uint16).max));
        failsAloneAndDoesNotStop(Terms(merchant, feeBps, feeWallet, "over"));
        failsAloneAndDoesNotStop(Terms(address(0), 250, feeWallet, "nobody"));
    }

    function testFuzz_a_batch_pays_exactly_what_each_payment_alone_would_pay(
        uint64[8] memory amounts,
        uint16[8] memory fees
    ) public {
        Terms[] memory batch = new Terms[](8);
        uint256 sum;
        uint256 feeSum;
        for (uint256 i = 0; i < 8; ++i) {
            uint16 feeBps = uint16(bound(fees[i], 0, 10_000));
            batch[i] = Terms(merchant, feeBps, feeWallet, bytes32(i));
            if (amounts[i] > 0) pay(batch[i], amounts[i]);
            sum += amounts[i];
            feeSum += feeOf(amounts[i], feeBps);
        }
        factory.forward(batch);
        assertEq(usdc.balanceOf(merchant), sum - feeSum, "merchant");
        assertEq(usdc.balanceOf(feeWallet), feeSum, "fee wallet");
    }

    /// @dev The factory returns no address for invalid terms, so the test computes one and pays there anyway.
    function failsAloneAndDoesNotStop(Terms memory bad) private {
        uint256 before = usdc.balanceOf(merchant);
        address deposit = rawDepositOf(factory, bad);
        usdc.mint(deposit, 1_000);
        pay(payment(1), 1_000);
        pay(payment(2), 1_000);
        expectForwardFailed(deposit, bad.ref, abi.encodeWithSelector(DepositFactory.InvalidTerms.selector));
        factory.forward(list(payment(1), bad, payment(2)));
        assertEq(usdc.balanceOf(merchant) - before, 1_950, "the others' merchant");
        assertEq(usdc.balanceOf(deposit), 1_000, "the bad one");
        assertEq(deposit.code.length, 0, "nothing is deployed for it");
    }
}
