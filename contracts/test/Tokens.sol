// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositFactory, Terms} from "../src/DepositFactory.sol";

/// @notice Plain token, the base of the other test tokens.
contract PlainToken {
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transfer(address to, uint256 amount) public virtual returns (bool) {
        move(msg.sender, to, amount);
        return true;
    }

    function move(address from, address to, uint256 amount) internal {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

/// @notice Returns nothing on success, like some old tokens.
contract SilentToken is PlainToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        move(msg.sender, to, amount);
        assembly {
            return(0, 0)
        }
    }
}

/// @notice Returns configured data without sending.
contract RefusingToken is PlainToken {
    bytes private answer;

    constructor(bytes memory answer_) {
        answer = answer_;
    }

    function transfer(address, uint256) public view override returns (bool) {
        bytes memory bytes_ = answer;
        assembly {
            return(add(bytes_, 32), mload(bytes_))
        }
    }
}

/// @notice Needs much gas to pay one account, in nested calls, so that it easily runs out of gas.
contract HungryToken is PlainToken {
    address private immutable expensive;
    uint256 private immutable appetite;
    uint256 private immutable depth;
    bool private immutable swallows;

    /// @param swallows_ Whether the token returns `false` instead of reverting when an inner call runs out of gas.
    constructor(address expensive_, uint256 appetite_, uint256 depth_, bool swallows_) {
        expensive = expensive_;
        appetite = appetite_;
        depth = depth_;
        swallows = swallows_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (to == expensive) {
            try this.eat(depth) {}
            catch {
                if (swallows) return false;
                revert("HungryToken: starved");
            }
        }
        move(msg.sender, to, amount);
        return true;
    }

    function eat(uint256 deeper) external view {
        if (deeper > 0) return this.eat(deeper - 1);
        uint256 start = gasleft();
        while (start - gasleft() < appetite) {}
    }
}

/// @notice Refuses to pay one account after wasting part of the gas.
contract WastefulToken is PlainToken {
    address private immutable refused;
    uint256 private immutable percent;

    constructor(address refused_, uint256 percent_) {
        refused = refused_;
        percent = percent_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        uint256 enough = gasleft() * (100 - percent) / 100;
        while (to == refused && gasleft() > enough) {}
        require(to != refused, "WastefulToken: refused");
        move(msg.sender, to, amount);
        return true;
    }
}

/// @notice Notifies a receiving contract before the sender continues.
contract HookToken is PlainToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        move(msg.sender, to, amount);
        if (to.code.length > 0) EvilMerchant(payable(to)).strike();
        return true;
    }
}

/// @notice A token that calls the factory and the deposit during its transfer.
contract EvilToken is PlainToken {
    DepositFactory private immutable factory;
    Terms private terms;
    bool public struck;
    bool public reachedDeposit;

    constructor(DepositFactory factory_, Terms memory terms_) {
        factory = factory_;
        terms = terms_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        move(msg.sender, to, amount);
        if (struck) return true;
        struck = true;
        Terms[] memory batch = new Terms[](2);
        batch[0] = terms;
        batch[1] = terms;
        factory.forward(batch);
        factory.rescue(terms, address(this));
        factory.rescue(terms, address(0));
        (reachedDeposit,) = msg.sender
            .call(
                abi.encodeWithSignature("release(address,address,uint256,uint256)", address(this), address(this), 0, 1)
            );
        return true;
    }
}

/// @notice A merchant's contract that calls back when it receives the native coin or a token's notification.
contract EvilMerchant {
    DepositFactory private immutable factory;
    Terms private terms;
    uint256 public strikesLeft;

    constructor(DepositFactory factory_) {
        factory = factory_;
    }

    function arm(Terms memory terms_, uint256 strikes) external {
        terms = terms_;
        strikesLeft = strikes;
    }

    receive() external payable {
        if (strikesLeft > 0) factory.rescue(terms, address(0));
        strike();
    }

    function strike() public {
        if (strikesLeft == 0) return;
        --strikesLeft;
        Terms[] memory batch = new Terms[](1);
        batch[0] = terms;
        factory.forward(batch);
    }
}

/// @notice A merchant's contract that refuses the native coin with a reason.
contract CoinlessMerchant {
    receive() external payable {
        revert("no coin, please");
    }
}
