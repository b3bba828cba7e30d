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

    /// A list without duplicates: `position` counts from 1, and 0 means that the value is not in it.
    struct Set {
        bytes32[] values;
        mapping(bytes32 => uint256) position;
    }

    // The order of these variables is the storage layout of the deployed registry: the service reads its words.

    /// The hashes of a vault's delegations, by the vault's version when they were made.
    mapping(address => mapping(uint256 => Set)) private ofVault;
    /// Incremented when a vault revokes all delegates, which deactivates all its earlier delegations.
    mapping(address => uint256) private vaultVersion;
    /// The same for one delegate of a vault.
    mapping(address => mapping(address => uint256)) private delegateVersion;
    /// The hashes of a delegate's delegations; inactive ones are skipped when a list is read.
    mapping(address => Set) private ofDelegate;
    mapping(bytes32 => DelegationInfo) private infos;

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
        return holds(DelegationInfo(Kind.ALL, vault, delegate, address(0), 0));
    }

    function checkDelegateForContract(address delegate, address vault, address contract_) public view returns (bool) {
        return
            holds(DelegationInfo(Kind.CONTRACT, vault, delegate, contract_, 0)) ||
            checkDelegateForAll(delegate, vault);
    }

    function checkDelegateForToken(
        address delegate,
        address vault,
        address contract_,
        uint256 tokenId
    ) external view returns (bool) {
        return
            holds(DelegationInfo(Kind.TOKEN, vault, delegate, contract_, tokenId)) ||
            checkDelegateForContract(delegate, vault, contract_);
    }

    function getDelegationsByDelegate(address delegate) external view returns (DelegationInfo[] memory) {
        return held(ofDelegate[delegate].values, Kind.NONE);
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
        DelegationInfo[] memory found = held(ofVault[vault][vaultVersion[vault]].values, Kind.CONTRACT);
        list = new ContractDelegation[](found.length);
        for (uint256 i = 0; i < found.length; i++) list[i] = ContractDelegation(found[i].contract_, found[i].delegate);
    }

    function getTokenLevelDelegations(address vault) external view returns (TokenDelegation[] memory list) {
        DelegationInfo[] memory found = held(ofVault[vault][vaultVersion[vault]].values, Kind.TOKEN);
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
        DelegationInfo[] memory found = held(ofVault[of_.vault][vaultVersion[of_.vault]].values, of_.type_);
        uint256 count = 0;
        address[] memory kept = new address[](found.length);
        for (uint256 i = 0; i < found.length; i++) {
            if (found[i].contract_ != of_.contract_ || found[i].tokenId != of_.tokenId) continue;
            kept[count++] = found[i].delegate;
        }
        delegates = new address[](count);
        for (uint256 i = 0; i < count; i++) delegates[i] = kept[i];
    }

    /// Contains the versions, so a delegation from before a revocation has another hash.
    function hashOf(DelegationInfo memory of_) private view returns (bytes32) {
        uint256 version = vaultVersion[of_.vault];
        uint256 delegates = delegateVersion[of_.vault][of_.delegate];
        if (of_.type_ == Kind.ALL) return keccak256(abi.encode(of_.delegate, of_.vault, version, delegates));
        if (of_.type_ == Kind.CONTRACT)
            return keccak256(abi.encode(of_.delegate, of_.vault, of_.contract_, version, delegates));
        return keccak256(abi.encode(of_.delegate, of_.vault, of_.contract_, of_.tokenId, version, delegates));
    }

    function holds(DelegationInfo memory of_) private view returns (bool) {
        return ofVault[of_.vault][vaultVersion[of_.vault]].position[hashOf(of_)] != 0;
    }

    function set(DelegationInfo memory of_, bool value) private {
        bytes32 hash = hashOf(of_);
        Set storage own = ofVault[of_.vault][vaultVersion[of_.vault]];
        if (value) {
            add(own, hash);
            add(ofDelegate[of_.delegate], hash);
            infos[hash] = of_;
        } else {
            remove(own, hash);
            remove(ofDelegate[of_.delegate], hash);
            delete infos[hash];
        }
    }

    function add(Set storage to, bytes32 hash) private {
        if (to.position[hash] != 0) return;
        to.values.push(hash);
        to.position[hash] = to.values.length;
    }

    /// The last value takes the place of the removed one.
    function remove(Set storage from, bytes32 hash) private {
        uint256 at = from.position[hash];
        if (at == 0) return;
        bytes32 last = from.values[from.values.length - 1];
        from.values[at - 1] = last;
        from.position[last] = at;
        from.values.pop();
        delete from.position[hash];
    }

    /// The active delegations of a list, of one kind or of all kinds.
    function held(bytes32[] storage all, Kind kind) private view returns (DelegationInfo[] memory found) {
        uint256 count = 0;
        DelegationInfo[] memory kept = new DelegationInfo[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            DelegationInfo memory one = infos[all[i]];
            if ((kind == Kind.NONE || one.type_ == kind) && hashOf(one) == all[i]) kept[count++] = one;
        }
        found = new DelegationInfo[](count);
        for (uint256 i = 0; i < count; i++) found[i] = kept[i];
    }
}
