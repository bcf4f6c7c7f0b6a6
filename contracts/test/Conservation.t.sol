// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUsdcLogic} from "../sandbox/TestUsdc.sol";
import {DepositFactory, Terms} from "../src/DepositFactory.sol";
import {Stage} from "./Stage.sol";
import {Test} from "./Test.sol";

/// @notice Handler of forge's random calls: performs every action on deposits and tracks the expected balances.
contract World is Test {
    TestUsdcLogic private immutable usdc;
    DepositFactory private immutable factory;
    Terms[] private payments;

    /// @notice All token holders: merchants, fee wallets, deposits.
    address[] public accounts;

    /// @notice Expected balance of each account.
    mapping(address => uint256) public expected;

    /// @notice Sum of all payments.
    uint256 public paidIn;

    /// @notice Number of releases, to show that the test is not vacuous.
    uint256 public releases;

    constructor(TestUsdcLogic usdc_, DepositFactory factory_) {
        usdc = usdc_;
        factory = factory_;
        for (uint160 i = 0; i < 3; ++i) {
            accounts.push(address(0xA000 + i));
            accounts.push(address(0xB000 + i));
        }
        uint16[4] memory fees = [0, 1, 333, 10_000];
        for (uint160 i = 0; i < 12; ++i) {
            payments.push(Terms(address(0xA000 + i % 3), fees[i % 4], address(0xB000 + i / 4), bytes32(uint256(i))));
            accounts.push(factory_.depositOf(payments[i]));
        }
    }

    function numberOfAccounts() external view returns (uint256) {
        return accounts.length;
    }

    /// @notice A customer pays, unless the token refuses.
    function deposit(uint256 which, uint64 amount) external {
        address to = factory.depositOf(payments[which % payments.length]);
        if (amount == 0 || usdc.paused() || usdc.isBlacklisted(to)) return;
        usdc.mint(to, amount);
        expected[to] += amount;
        paidIn += amount;
    }

    /// @notice Anyone releases three random payments with random gas.
    function release(uint256[3] calldata which, uint256 gasLimit) external {
        Terms[] memory batch = new Terms[](3);
        for (uint256 i = 0; i < 3; ++i) {
            batch[i] = payments[which[i] % payments.length];
        }
        gasLimit = bound(gasLimit, 50_000, 1_500_000);
        (bool done,) = address(factory).call{gas: gasLimit}(abi.encodeCall(DepositFactory.forward, (batch)));
        if (!done) return;
        for (uint256 i = 0; i < 3; ++i) {
            book(batch[i]);
        }
    }

    /// @notice Anyone rescues the native coin while a payment may be pending.
    function rescue(uint256 which, uint64 amount) external {
        Terms memory terms = payments[which % payments.length];
        vm.deal(factory.depositOf(terms), amount);
        factory.rescue(terms, address(0));
    }

    /// @notice Circle blocks an account in a third of the calls and otherwise unblocks it, so that payments continue.
    function setBlocklisted(uint256 which, uint8 dice) external {
        address account = accounts[which % accounts.length];
        if (dice % 3 == 0) usdc.blacklist(account);
        else usdc.unBlacklist(account);
    }

    /// @notice Circle pauses the token in a quarter of the calls and otherwise unpauses it.
    function setPaused(uint8 dice) external {
        if (dice % 4 == 0) usdc.pause();
        else usdc.unpause();
    }

    /// @dev Records the expected effect of a release, computed independently.
    function book(Terms memory terms) private {
        address from = factory.depositOf(terms);
        uint256 amount = expected[from];
        if (amount == 0 || usdc.paused() || usdc.isBlacklisted(from) || usdc.isBlacklisted(terms.merchant)) return;
        uint256 fee = usdc.isBlacklisted(terms.feeTo) ? 0 : amount * terms.feeBps / 10_000;
        expected[from] = 0;
        expected[terms.merchant] += amount - fee;
        expected[terms.feeTo] += fee;
        ++releases;
    }
}

/// @notice No unit is lost or created by any sequence of actions.
contract ConservationTest is Stage {
    World private world;

    function setUp() public override {
        super.setUp();
        world = new World(usdc, factory);
        usdc.configureMinter(address(world), type(uint256).max);
        // The handler acts as Circle, with the roles that block and pause.
        usdc.updateBlacklister(address(world));
        usdc.updatePauser(address(world));
    }

    /// @notice Restricts forge's random calls to the handler.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(world);
    }

    function invariant_everybody_holds_exactly_what_the_terms_say() public view {
        uint256 sum;
        for (uint256 i = 0; i < world.numberOfAccounts(); ++i) {
            address account = world.accounts(i);
            uint256 balance = usdc.balanceOf(account);
            assertEq(balance, world.expected(account), "balance");
            sum += balance;
        }
        assertEq(sum, world.paidIn(), "all that was paid in");
        assertEq(usdc.totalSupply(), sum, "nobody else holds anything");
    }

    function test_the_books_are_about_something() public {
        world.deposit(2, 1_000_000);
        world.release([uint256(2), 2, 3], 1_500_000);
        assertEq(world.releases(), 1, "releases");
        invariant_everybody_holds_exactly_what_the_terms_say();
    }
}
