// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deposit} from "../src/Deposit.sol";
import {DepositFactory, Terms} from "../src/DepositFactory.sol";
import {IERC20} from "../src/IERC20.sol";
import {Stage} from "./Stage.sol";

/// @notice Tests of deposit addresses, and of what a service checks before it uses a factory.
contract AddressTest is Stage {
    function testFuzz_the_deposit_address_follows_from_factory_implementation_and_terms_alone(
        address merchant_,
        uint16 feeBps,
        address feeTo,
        bytes32 ref
    ) public view {
        vm.assume(merchant_ != address(0));
        Terms memory terms = Terms(merchant_, uint16(bound(feeBps, 0, 10_000)), feeTo, ref);
        assertEq(factory.depositOf(terms), rawDepositOf(factory, terms), "address");
    }

    function testFuzz_changing_any_term_changes_the_address(address other, uint16 feeBps, bytes32 ref) public view {
        Terms memory terms = payment(1);
        address deposit = factory.depositOf(terms);
        vm.assume(other != address(0) && other != merchant && other != feeWallet && ref != terms.ref);
        feeBps = uint16(bound(feeBps, 0, 10_000));
        vm.assume(feeBps != 250);
        assertTrue(factory.depositOf(Terms(other, 250, feeWallet, terms.ref)) != deposit, "merchant");
        assertTrue(factory.depositOf(Terms(merchant, feeBps, feeWallet, terms.ref)) != deposit, "fee");
        assertTrue(factory.depositOf(Terms(merchant, 250, other, terms.ref)) != deposit, "fee wallet");
        assertTrue(factory.depositOf(Terms(merchant, 250, feeWallet, ref)) != deposit, "reference");
        assertTrue(factory.depositOf(Terms(feeWallet, 250, merchant, terms.ref)) != deposit, "exchanged wallets");
    }

    function test_the_clone_is_deployed_at_that_address_with_the_45_bytes_of_erc_1167() public {
        address deposit = pay(payment(1), 1_000);
        assertEq(deposit.code.length, 0, "nothing before the release");
        forwardOne(payment(1));
        assertEq(
            deposit.code,
            abi.encodePacked(hex"363d3d373d3d3d363d73", factory.implementation(), hex"5af43d82803e903d91602b57fd5bf3"),
            "code"
        );
    }

    function test_the_implementation_is_the_factorys_first_contract() public view {
        bytes32 hash = keccak256(abi.encodePacked(hex"d694", address(factory), hex"01"));
        assertEq(factory.implementation(), address(uint160(uint256(hash))), "address");
    }

    function test_factory_and_implementation_tell_what_they_were_made_for() public view {
        assertEq(address(factory.token()), address(usdc), "token");
        assertEq(factory.chainId(), block.chainid, "chain");
        Deposit implementation = Deposit(factory.implementation());
        assertEq(address(implementation.token()), address(usdc), "the implementation's token");
        assertEq(implementation.factory(), address(factory), "the implementation's factory");
        assertEq(
            factory.cloneInitCodeHash(),
            keccak256(
                abi.encodePacked(
                    hex"3d602d80600a3d3981f3363d3d373d3d3d363d73",
                    address(implementation),
                    hex"5af43d82803e903d91602b57fd5bf3"
                )
            ),
            "the hash of the code that deploys a clone"
        );
    }

    function testFuzz_terms_that_could_never_be_paid_get_no_address(uint16 feeBps) public {
        feeBps = uint16(bound(feeBps, 10_001, type(uint16).max));
        vm.expectRevert(abi.encodeWithSelector(DepositFactory.InvalidTerms.selector));
        factory.depositOf(Terms(merchant, feeBps, feeWallet, "over"));
        vm.expectRevert(abi.encodeWithSelector(DepositFactory.InvalidTerms.selector));
        factory.depositOf(Terms(address(0), 250, feeWallet, "nobody"));
    }

    function test_the_same_terms_have_another_address_on_another_chain() public {
        address here = factory.depositOf(payment(1));
        vm.chainId(80_002);
        DepositFactory there = new DepositFactory(IERC20(address(usdc)));
        assertEq(there.depositOf(payment(1)), rawDepositOf(there, payment(1)), "address by hand");
        // Same code, terms and factory address: only the chain id differs.
        vm.etch(address(factory), address(there).code);
        assertTrue(factory.depositOf(payment(1)) != here, "address");
    }

    function test_a_chain_that_renames_itself_does_not_strand_deposits() public {
        address deposit = pay(payment(1), 1_000);
        vm.chainId(424_242);
        assertEq(factory.depositOf(payment(1)), deposit, "address");
        forwardOne(payment(1));
        assertEq(usdc.balanceOf(merchant), 975, "merchant");
    }

    function test_a_factory_cannot_be_made_for_an_address_without_a_token() public {
        try new DepositFactory(IERC20(address(0xDEAD))) {
            assertTrue(false, "it was made");
        } catch {}
    }
}
