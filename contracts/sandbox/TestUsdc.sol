// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A stand-in for Circle's USDC in the sandbox and in tests. Worthless, and not Circle's code.
/// @notice It behaves like FiatTokenV2_2 as far as payments depend on it: six decimals, blocklist and pause with the
/// same names, events and reasons, minters with allowances, the balance and the blocklist's bit packed in one word,
/// all behind a proxy (`TestUsdc`) that reads two storage words per call, like Circle's. Features that payments do
/// not use are missing: permits, signed authorizations, rescuing, changing the owner or the master minter, upgrading.
/// The deployer holds every role.
contract TestUsdcLogic {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);
    event MinterRemoved(address indexed oldMinter);
    event Blacklisted(address indexed _account);
    event UnBlacklisted(address indexed _account);
    event BlacklisterChanged(address indexed newBlacklister);
    event Pause();
    event Unpause();
    event PauserChanged(address indexed newAddress);

    uint256 private constant BLACKLIST_BIT = 1 << 255;

    address public owner;
    address public pauser;
    bool public paused; // shares a word with `pauser`, as in the original
    address public blacklister;
    address public masterMinter;

    /// @dev The top bit marks a blocklisted account, the rest is the balance.
    mapping(address => uint256) private balanceAndBlacklistStates;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 public totalSupply;
    mapping(address => bool) public isMinter;
    mapping(address => uint256) public minterAllowance;

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted(account), "Blacklistable: account is blacklisted");
        _;
    }

    modifier onlyMinters() {
        require(isMinter[msg.sender], "FiatToken: caller is not a minter");
        _;
    }

    modifier onlyMasterMinter() {
        require(msg.sender == masterMinter, "FiatToken: caller is not the masterMinter");
        _;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier onlyPauser() {
        require(msg.sender == pauser, "Pausable: caller is not the pauser");
        _;
    }

    modifier onlyBlacklister() {
        require(msg.sender == blacklister, "Blacklistable: caller is not the blacklister");
        _;
    }

    /// @notice Gives every role to `admin`, who may mint without limit; works once.
    function initialize(address admin) external {
        require(owner == address(0), "FiatToken: contract is already initialized");
        require(admin != address(0), "FiatToken: new owner is the zero address");
        owner = pauser = blacklister = masterMinter = admin;
        isMinter[admin] = true;
        minterAllowance[admin] = type(uint256).max;
        emit MinterConfigured(admin, type(uint256).max);
        balanceAndBlacklistStates[address(this)] = BLACKLIST_BIT; // blocks the token itself, as in the original
    }

    function name() external pure returns (string memory) {
        return "USD Coin";
    }

    function symbol() external pure returns (string memory) {
        return "USDC";
    }

    function currency() external pure returns (string memory) {
        return "USD";
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function decimals() external pure returns (uint8) {
        return 6;
    }

    function balanceOf(address account) public view returns (uint256) {
        return balanceAndBlacklistStates[account] & ~BLACKLIST_BIT;
    }

    function isBlacklisted(address _account) public view returns (bool) {
        return balanceAndBlacklistStates[_account] >> 255 == 1;
    }

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        require(value <= allowance[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        allowance[from][msg.sender] -= value;
        return true;
    }

    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function mint(address _to, uint256 _amount)
        external
        whenNotPaused
        onlyMinters
        notBlacklisted(msg.sender)
        notBlacklisted(_to)
        returns (bool)
    {
        require(_to != address(0), "FiatToken: mint to the zero address");
        require(_amount > 0, "FiatToken: mint amount not greater than 0");
        uint256 allowed = minterAllowance[msg.sender];
        require(_amount <= allowed, "FiatToken: mint amount exceeds minterAllowance");
        totalSupply += _amount;
        _setBalance(_to, balanceOf(_to) + _amount);
        minterAllowance[msg.sender] = allowed - _amount;
        emit Mint(msg.sender, _to, _amount);
        emit Transfer(address(0), _to, _amount);
        return true;
    }

    function burn(uint256 _amount) external whenNotPaused onlyMinters notBlacklisted(msg.sender) {
        uint256 balance = balanceOf(msg.sender);
        require(_amount > 0, "FiatToken: burn amount not greater than 0");
        require(balance >= _amount, "FiatToken: burn amount exceeds balance");
        totalSupply -= _amount;
        _setBalance(msg.sender, balance - _amount);
        emit Burn(msg.sender, _amount);
        emit Transfer(msg.sender, address(0), _amount);
    }

    function configureMinter(address minter, uint256 minterAllowedAmount)
        external
        whenNotPaused
        onlyMasterMinter
        returns (bool)
    {
        isMinter[minter] = true;
        minterAllowance[minter] = minterAllowedAmount;
        emit MinterConfigured(minter, minterAllowedAmount);
        return true;
    }

    function removeMinter(address minter) external onlyMasterMinter returns (bool) {
        isMinter[minter] = false;
        minterAllowance[minter] = 0;
        emit MinterRemoved(minter);
        return true;
    }

    function blacklist(address _account) external onlyBlacklister {
        balanceAndBlacklistStates[_account] |= BLACKLIST_BIT;
        emit Blacklisted(_account);
    }

    function unBlacklist(address _account) external onlyBlacklister {
        balanceAndBlacklistStates[_account] &= ~BLACKLIST_BIT;
        emit UnBlacklisted(_account);
    }

    function pause() external onlyPauser {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyPauser {
        paused = false;
        emit Unpause();
    }

    function updateBlacklister(address _newBlacklister) external onlyOwner {
        require(_newBlacklister != address(0), "Blacklistable: new blacklister is the zero address");
        blacklister = _newBlacklister;
        emit BlacklisterChanged(_newBlacklister);
    }

    function updatePauser(address _newPauser) external onlyOwner {
        require(_newPauser != address(0), "Pausable: new pauser is the zero address");
        pauser = _newPauser;
        emit PauserChanged(_newPauser);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf(from), "ERC20: transfer amount exceeds balance");
        _setBalance(from, balanceOf(from) - value);
        _setBalance(to, balanceOf(to) + value);
        emit Transfer(from, to, value);
    }

    function _setBalance(address account, uint256 balance) private {
        require(balance < BLACKLIST_BIT, "FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        require(!isBlacklisted(account), "FiatTokenV2_2: Account is blacklisted");
        balanceAndBlacklistStates[account] = balance;
    }
}

/// @title Proxy of the test token: delegates every call to `TestUsdcLogic`
/// @notice Circle's token has such a proxy, whose gas is part of a payment's cost.
contract TestUsdc {
    /// @dev Storage slots that cannot collide with the logic's. Both are read on every call, as in Circle's proxy, so
    /// that gas matches. There is no admin: the test token is never upgraded.
    bytes32 private constant ADMIN_SLOT = keccak256("card-checkout.sandbox.usdc.admin");
    bytes32 private constant LOGIC_SLOT = keccak256("card-checkout.sandbox.usdc.logic");

    /// @dev Deploys the logic and gives every role to the deployer.
    constructor() {
        TestUsdcLogic logic = new TestUsdcLogic();
        bytes32 adminSlot = ADMIN_SLOT;
        bytes32 logicSlot = LOGIC_SLOT;
        assembly ("memory-safe") {
            sstore(adminSlot, 1)
            sstore(logicSlot, logic)
        }
        (bool done,) = address(logic).delegatecall(abi.encodeCall(TestUsdcLogic.initialize, (msg.sender)));
        require(done, "TestUsdc: not initialized");
    }

    fallback() external payable {
        bytes32 adminSlot = ADMIN_SLOT;
        bytes32 logicSlot = LOGIC_SLOT;
        address admin;
        assembly ("memory-safe") {
            admin := sload(adminSlot)
        }
        require(msg.sender != admin, "Cannot call fallback function from the proxy admin");
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(logicSlot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
