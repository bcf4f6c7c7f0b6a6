// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deposit} from "../src/Deposit.sol";
import {DepositFactory, Terms} from "../src/DepositFactory.sol";
import {IERC20} from "../src/IERC20.sol";
import {Stage} from "./Stage.sol";
import {Vm} from "./Test.sol";
import {
    CoinlessMerchant,
    EvilMerchant,
    EvilToken,
    HookToken,
    PlainToken,
    RefusingToken,
    SilentToken
} from "./Tokens.sol";

/// @notice Tests of rescues of mistaken transfers, and of attacks through them.
contract RescueTest is Stage {
    function testFuzz_a_wrong_token_goes_to_the_merchant_whole(uint128 amount) public {
        vm.assume(amount > 0);
        rescuedWhole(new PlainToken(), amount);
    }

    function test_a_wrong_token_that_answers_nothing_goes_to_the_merchant_too() public {
        rescuedWhole(new SilentToken(), 1_000);
    }

    function testFuzz_the_chains_coin_goes_to_the_merchant_whole_whether_or_not_the_clone_exists(
        uint128 amount,
        bool cloneExists
    ) public {
        vm.assume(amount > 0);
        Terms memory terms = payment(1);
        address deposit = pay(terms, 1_000);
        if (cloneExists) forwardOne(terms);
        vm.deal(deposit, amount);
        vm.expectEmit(true, true, true, true, address(factory));
        emit DepositFactory.Rescued(deposit, address(0), amount);
        vm.prank(stranger);
        factory.rescue(terms, address(0));
        assertEq(merchant.balance, amount, "merchant");
        assertEq(deposit.balance, 0, "deposit");
    }

    function test_a_deployed_deposit_refuses_the_chains_coin_so_that_it_bounces() public {
        address deposit = pay(payment(1), 1_000);
        forwardOne(payment(1));
        vm.deal(address(this), 1);
        (bool sent,) = deposit.call{value: 1}("");
        assertTrue(!sent, "bounced");
    }

    function test_the_payment_token_cannot_be_rescued() public {
        address deposit = pay(payment(1), 1_000);
        vm.expectRevert(abi.encodeWithSelector(DepositFactory.NotRescuable.selector));
        factory.rescue(payment(1), address(usdc));
        assertEq(usdc.balanceOf(deposit), 1_000, "deposit");
    }

    function test_rescuing_leaves_the_payment_alone() public {
        Terms memory terms = payment(1);
        address deposit = pay(terms, 1_000);
        vm.deal(deposit, 7);
        factory.rescue(terms, address(0));
        assertEq(usdc.balanceOf(deposit), 1_000, "deposit");
        forwardOne(terms);
        assertEq(usdc.balanceOf(feeWallet), 25, "fee wallet");
    }

    function test_rescuing_nothing_does_nothing() public {
        PlainToken other = new PlainToken();
        vm.recordLogs();
        factory.rescue(payment(1), address(other));
        factory.rescue(payment(1), address(0));
        assertEq(vm.getRecordedLogs().length, 0, "events");
        assertEq(factory.depositOf(payment(1)).code.length, 0, "code");
    }

    function test_a_second_rescue_moves_nothing() public {
        PlainToken other = new PlainToken();
        rescuedWhole(other, 5);
        vm.recordLogs();
        factory.rescue(payment(1), address(other));
        assertEq(vm.getRecordedLogs().length, 0, "events");
    }

    function test_terms_that_name_nobody_are_refused() public {
        vm.expectRevert(abi.encodeWithSelector(DepositFactory.InvalidTerms.selector));
        factory.rescue(Terms(address(0), 250, feeWallet, "nobody"), address(0));
    }

    function test_a_token_that_answers_anything_but_true_is_not_rescued() public {
        refused(abi.encode(false), abi.encodeWithSelector(Deposit.TransferRefused.selector));
        refused(abi.encode(2), abi.encodeWithSelector(Deposit.TransferRefused.selector));
        refused(hex"01", abi.encodeWithSelector(Deposit.TransferRefused.selector));
    }

    function test_a_merchant_who_takes_no_coin_is_told_why_it_failed() public {
        Terms memory terms = Terms(address(new CoinlessMerchant()), 0, address(0), "coinless");
        vm.deal(factory.depositOf(terms), 5);
        vm.expectRevert(abi.encodeWithSignature("Error(string)", "no coin, please"));
        factory.rescue(terms, address(0));
    }

    function test_an_address_without_code_is_no_token() public {
        (bool done,) = address(factory).call(abi.encodeCall(DepositFactory.rescue, (payment(1), address(0xDEAD))));
        assertTrue(!done, "refused");
    }

    function test_only_the_factory_can_make_a_deposit_send() public {
        Deposit deposit = Deposit(pay(payment(1), 1_000));
        forwardOne(payment(1));
        pay(payment(1), 1_000);
        obeysOnlyTheFactory(deposit);
        obeysOnlyTheFactory(Deposit(factory.implementation()));
    }

    function test_a_wrong_token_that_calls_back_changes_nothing_about_the_payment() public {
        Terms memory terms = payment(1);
        address deposit = pay(terms, 1_000);
        vm.deal(deposit, 7);
        EvilToken evil = new EvilToken(factory, terms);
        evil.mint(deposit, 3);
        factory.rescue(terms, address(evil));
        assertTrue(evil.struck(), "it did call back");
        assertTrue(!evil.reachedDeposit(), "the deposit did not obey it");
        assertEq(usdc.balanceOf(merchant), 975, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 25, "fee wallet");
        assertEq(merchant.balance, 7, "merchant's coin");
        assertEq(evil.balanceOf(merchant), 3, "merchant's other token");
    }

    function test_a_merchant_that_calls_back_gets_each_thing_once_and_pays_the_fee() public {
        EvilMerchant evil = new EvilMerchant(factory);
        Terms memory terms = Terms(address(evil), 250, feeWallet, "evil");
        vm.deal(pay(terms, 1_000), 7);
        evil.arm(terms, 5);
        factory.rescue(terms, address(0));
        assertEq(evil.strikesLeft(), 4, "it did call back");
        assertEq(address(evil).balance, 7, "coin");
        assertEq(usdc.balanceOf(address(evil)), 975, "merchant");
        assertEq(usdc.balanceOf(feeWallet), 25, "fee wallet");
    }

    /// @dev Circle's token has no transfer hook, but an upgrade may add one.
    function test_even_if_the_payment_token_called_merchants_back_none_could_dodge_the_fee() public {
        HookToken hooked = new HookToken();
        DepositFactory other = new DepositFactory(IERC20(address(hooked)));
        EvilMerchant evil = new EvilMerchant(other);
        Terms memory terms = Terms(address(evil), 250, feeWallet, "evil");
        address deposit = other.depositOf(terms);
        hooked.mint(deposit, 1_000_000);

        evil.arm(terms, 1);
        other.forward(list(terms));
        assertEq(hooked.balanceOf(deposit), 1_000_000, "a release in the middle of a release undoes both");

        evil.arm(terms, 0);
        other.forward(list(terms));
        assertEq(hooked.balanceOf(address(evil)), 975_000, "merchant");
        assertEq(hooked.balanceOf(feeWallet), 25_000, "fee wallet");
    }

    function rescuedWhole(PlainToken other, uint256 amount) private {
        address deposit = factory.depositOf(payment(1));
        other.mint(deposit, amount);
        vm.expectEmit(true, true, true, true, address(factory));
        emit DepositFactory.Rescued(deposit, address(other), amount);
        vm.prank(stranger);
        factory.rescue(payment(1), address(other));
        assertEq(other.balanceOf(merchant), amount, "merchant");
        assertEq(other.balanceOf(deposit), 0, "deposit");
    }

    function refused(bytes memory answer, bytes memory reason) private {
        RefusingToken other = new RefusingToken(answer);
        other.mint(factory.depositOf(payment(1)), 5);
        vm.expectRevert(reason);
        factory.rescue(payment(1), address(other));
    }

    function obeysOnlyTheFactory(Deposit deposit) private {
        bytes memory reason = abi.encodeWithSelector(Deposit.OnlyFactory.selector);
        vm.expectRevert(reason);
        deposit.release(stranger, stranger, 0, 1);
        vm.prank(merchant);
        vm.expectRevert(reason);
        deposit.release(merchant, merchant, 0, 1);
        vm.expectRevert(reason);
        deposit.rescue(address(usdc), stranger, 1);
    }
}
