// SPDX-License-Identifier: MIT
// For tests and the sandbox only. Behaves like the deployed v1 delegation registry; written for this project.
pragma solidity 0.8.30;

contract RegistryV1 {
    enum Kind {
        NONE,
        ALL,
        CONTRACT,
        TOKEN
    }

    struct DelegationInfo {
        Kind type_;
        address vault;
        address delegate;
        address contract_;
        uint256 tokenId;
    }

    struct ContractDelegation {
        address contract_;
        address delegate;
    }

    struct TokenDelegation {
        address contract_;
        uint256 tokenId;
        address delegate;
    }

    event DelegateForAll(address vault, address delegate, bool value);
    event DelegateForContract(address vault, address delegate, address contract_, bool value);
    event DelegateForToken(address vault, address delegate, address contract_, uint256 tokenId, bool value);
    event RevokeAllDelegates(address vault);
    event RevokeDelegate(address vault, address delegate);

    /// Whether a delegation is active, by its fields and the versions of vault and delegate when it was set.
    mapping(bytes32 => bool) private holds;
    /// Incremented when a vault revokes all delegates, which deactivates all its earlier delegations.
    mapping(address => uint256) private vaultVersion;
    /// The same for one delegate of a vault. Keep it in this slot: the service reads it with eth_getStorageAt.
    mapping(address => mapping(address => uint256)) private delegateVersion;
    /// Every delegation ever made, for the lists; inactive ones are skipped when a list is read.
    mapping(address => DelegationInfo[]) private ofVault;
    mapping(address => DelegationInfo[]) private ofDelegate;
    mapping(bytes32 => bool) private listed;

    function delegateForAll(address delegate, bool value) external {
        set(DelegationInfo(Kind.ALL, msg.sender, delegate, address(0), 0), value);
        emit DelegateForAll(msg.sender, delegate, value);
    }

    function delegateForContract(address delegate, address contract_, bool value) external {
        set(DelegationInfo(Kind.CONTRACT, msg.sender, delegate, contract_, 0), value);
        emit DelegateForContract(msg.sender, delegate, contract_, value);
    }

    function delegateForToken(address delegate, address contract_, uint256 tokenId, bool value) external {
        set(DelegationInfo(Kind.TOKEN, msg.sender, delegate, contract_, tokenId), value);
        emit DelegateForToken(msg.sender, delegate, contract_, tokenId, value);
    }

    function revokeAllDelegates() external {
        vaultVersion[msg.sender]++;
        emit RevokeAllDelegates(msg.sender);
    }

    /// The log contains the vault twice and not the revoked delegate.
    function revokeDelegate(address delegate) external {
        delegateVersion[msg.sender][delegate]++;
        emit RevokeDelegate(msg.sender, msg.sender);
    }

    function revokeSelf(address vault) external {
        delegateVersion[vault][msg.sender]++;
        emit RevokeDelegate(vault, msg.sender);
    }

    function checkDelegateForAll(address delegate, address vault) public view returns (bool) {
        return holds[keyOf(DelegationInfo(Kind.ALL, vault, delegate, address(0), 0))];
    }

    function checkDelegateForContract(address delegate, address vault, address contract_) public view returns (bool) {
        return
            holds[keyOf(DelegationInfo(Kind.CONTRACT, vault, delegate, contract_, 0))] ||
            checkDelegateForAll(delegate, vault);
    }

    function checkDelegateForToken(
        address delegate,
        address vault,
        address contract_,
        uint256 tokenId
    ) external view returns (bool) {
        return
            holds[keyOf(DelegationInfo(Kind.TOKEN, vault, delegate, contract_, tokenId))] ||
            checkDelegateForContract(delegate, vault, contract_);
    }

    function getDelegationsByDelegate(address delegate) external view returns (DelegationInfo[] memory) {
        return held(ofDelegate[delegate], Kind.NONE);
    }

    function getDelegatesForAll(address vault) external view returns (address[] memory) {
        return delegatesOf(DelegationInfo(Kind.ALL, vault, address(0), address(0), 0));
    }

    /// Delegates of exactly this contract: those of the whole vault are not among them.
    function getDelegatesForContract(address vault, address contract_) external view returns (address[] memory) {
        return delegatesOf(DelegationInfo(Kind.CONTRACT, vault, address(0), contract_, 0));
    }

    /// Delegates of exactly this token.
    function getDelegatesForToken(
        address vault,
        address contract_,
        uint256 tokenId
    ) external view returns (address[] memory) {
        return delegatesOf(DelegationInfo(Kind.TOKEN, vault, address(0), contract_, tokenId));
    }

    function getContractLevelDelegations(address vault) external view returns (ContractDelegation[] memory list) {
        DelegationInfo[] memory found = held(ofVault[vault], Kind.CONTRACT);
        list = new ContractDelegation[](found.length);
        for (uint256 i = 0; i < found.length; i++) list[i] = ContractDelegation(found[i].contract_, found[i].delegate);
    }

    function getTokenLevelDelegations(address vault) external view returns (TokenDelegation[] memory list) {
        DelegationInfo[] memory found = held(ofVault[vault], Kind.TOKEN);
        list = new TokenDelegation[](found.length);
        for (uint256 i = 0; i < found.length; i++) {
            list[i] = TokenDelegation(found[i].contract_, found[i].tokenId, found[i].delegate);
        }
    }

    /// ERC-165 only: the id of the deployed registry's own interface is not among the recorded facts.
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7;
    }

    /// The delegates of a vault for exactly this kind, contract and token.
    function delegatesOf(DelegationInfo memory of_) private view returns (address[] memory delegates) {
        DelegationInfo[] memory found = held(ofVault[of_.vault], of_.type_);
        uint256 count = 0;
        address[] memory kept = new address[](found.length);
        for (uint256 i = 0; i < found.length; i++) {
            if (found[i].contract_ != of_.contract_ || found[i].tokenId != of_.tokenId) continue;
            kept[count++] = found[i].delegate;
        }
        delegates = new address[](count);
        for (uint256 i = 0; i < count; i++) delegates[i] = kept[i];
    }

    function keyOf(DelegationInfo memory of_) private view returns (bytes32) {
        return
            keccak256(
                abi.encode(of_, vaultVersion[of_.vault], delegateVersion[of_.vault][of_.delegate])
            );
    }

    function set(DelegationInfo memory of_, bool value) private {
        bytes32 key = keyOf(of_);
        holds[key] = value;
        bytes32 name = keccak256(abi.encode(of_));
        if (!value || listed[name]) return;
        listed[name] = true;
        ofVault[of_.vault].push(of_);
        ofDelegate[of_.delegate].push(of_);
    }

    /// The active delegations of a list, of one kind or of all kinds.
    function held(DelegationInfo[] storage all, Kind kind) private view returns (DelegationInfo[] memory found) {
        uint256 count = 0;
        DelegationInfo[] memory kept = new DelegationInfo[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            DelegationInfo memory one = all[i];
            if ((kind == Kind.NONE || one.type_ == kind) && holds[keyOf(one)]) kept[count++] = one;
        }
        found = new DelegationInfo[](count);
        for (uint256 i = 0; i < count; i++) found[i] = kept[i];
    }
}
