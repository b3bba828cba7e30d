// SPDX-License-Identifier: MIT
// For tests and the sandbox only. Behaves like the deployed v2 delegation registry; written for this project.
pragma solidity 0.8.30;

contract RegistryV2 {
    enum Kind {
        NONE,
        ALL,
        CONTRACT,
        ERC721,
        ERC20,
        ERC1155
    }

    struct Delegation {
        Kind type_;
        address to;
        address from;
        bytes32 rights;
        address contract_;
        uint256 tokenId;
        uint256 amount;
    }

    event DelegateAll(address indexed from, address indexed to, bytes32 rights, bool enable);
    event DelegateContract(
        address indexed from,
        address indexed to,
        address indexed contract_,
        bytes32 rights,
        bool enable
    );
    event DelegateERC721(
        address indexed from,
        address indexed to,
        address indexed contract_,
        uint256 tokenId,
        bytes32 rights,
        bool enable
    );
    event DelegateERC20(
        address indexed from,
        address indexed to,
        address indexed contract_,
        bytes32 rights,
        uint256 amount
    );
    event DelegateERC1155(
        address indexed from,
        address indexed to,
        address indexed contract_,
        uint256 tokenId,
        bytes32 rights,
        uint256 amount
    );

    // The order of these variables, and what is in each word, are the storage layout of the deployed registry: the service proves it.

    /// The words of every delegation ever made, by its hash: first 8 bytes of the contract and `from`, last 12 bytes of the contract
    /// and `to`, rights, token id, amount. `from` is 1 once the delegation was revoked.
    mapping(bytes32 => bytes32[5]) private delegations;
    /// The hashes of the delegations of a wallet, active or not, for the lists.
    mapping(address => bytes32[]) private outgoing;
    mapping(address => bytes32[]) private incoming;

    uint256 private constant REVOKED = 1;
    uint256 private constant ADDRESS = type(uint160).max;

    function multicall(bytes[] calldata data) external payable returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool success, bytes memory result) = address(this).delegatecall(data[i]);
            if (!success) {
                assembly {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    function delegateAll(address to, bytes32 rights, bool enable) external payable returns (bytes32 hash) {
        hash = set(Delegation(Kind.ALL, to, msg.sender, rights, address(0), 0, enable ? 1 : 0));
        emit DelegateAll(msg.sender, to, rights, enable);
    }

    function delegateContract(
        address to,
        address contract_,
        bytes32 rights,
        bool enable
    ) external payable returns (bytes32 hash) {
        hash = set(Delegation(Kind.CONTRACT, to, msg.sender, rights, contract_, 0, enable ? 1 : 0));
        emit DelegateContract(msg.sender, to, contract_, rights, enable);
    }

    function delegateERC721(
        address to,
        address contract_,
        uint256 tokenId,
        bytes32 rights,
        bool enable
    ) external payable returns (bytes32 hash) {
        hash = set(Delegation(Kind.ERC721, to, msg.sender, rights, contract_, tokenId, enable ? 1 : 0));
        emit DelegateERC721(msg.sender, to, contract_, tokenId, rights, enable);
    }

    function delegateERC20(
        address to,
        address contract_,
        bytes32 rights,
        uint256 amount
    ) external payable returns (bytes32 hash) {
        hash = set(Delegation(Kind.ERC20, to, msg.sender, rights, contract_, 0, amount));
        emit DelegateERC20(msg.sender, to, contract_, rights, amount);
    }

    function delegateERC1155(
        address to,
        address contract_,
        uint256 tokenId,
        bytes32 rights,
        uint256 amount
    ) external payable returns (bytes32 hash) {
        hash = set(Delegation(Kind.ERC1155, to, msg.sender, rights, contract_, tokenId, amount));
        emit DelegateERC1155(msg.sender, to, contract_, tokenId, rights, amount);
    }

    function checkDelegateForAll(address to, address from, bytes32 rights) public view returns (bool) {
        return amountOf(Delegation(Kind.ALL, to, from, rights, address(0), 0, 0)) > 0;
    }

    function checkDelegateForContract(
        address to,
        address from,
        address contract_,
        bytes32 rights
    ) public view returns (bool) {
        return
            checkDelegateForAll(to, from, rights) ||
            amountOf(Delegation(Kind.CONTRACT, to, from, rights, contract_, 0, 0)) > 0;
    }

    function checkDelegateForERC721(
        address to,
        address from,
        address contract_,
        uint256 tokenId,
        bytes32 rights
    ) external view returns (bool) {
        return
            checkDelegateForContract(to, from, contract_, rights) ||
            amountOf(Delegation(Kind.ERC721, to, from, rights, contract_, tokenId, 0)) > 0;
    }

    function checkDelegateForERC20(
        address to,
        address from,
        address contract_,
        bytes32 rights
    ) external view returns (uint256) {
        if (checkDelegateForContract(to, from, contract_, rights)) return type(uint256).max;
        return amountOf(Delegation(Kind.ERC20, to, from, rights, contract_, 0, 0));
    }

    function checkDelegateForERC1155(
        address to,
        address from,
        address contract_,
        uint256 tokenId,
        bytes32 rights
    ) external view returns (uint256) {
        if (checkDelegateForContract(to, from, contract_, rights)) return type(uint256).max;
        return amountOf(Delegation(Kind.ERC1155, to, from, rights, contract_, tokenId, 0));
    }

    function getIncomingDelegations(address to) external view returns (Delegation[] memory) {
        return getDelegationsFromHashes(active(incoming[to]));
    }

    function getOutgoingDelegations(address from) external view returns (Delegation[] memory) {
        return getDelegationsFromHashes(active(outgoing[from]));
    }

    function getIncomingDelegationHashes(address to) external view returns (bytes32[] memory) {
        return active(incoming[to]);
    }

    function getOutgoingDelegationHashes(address from) external view returns (bytes32[] memory) {
        return active(outgoing[from]);
    }

    /// In the order of the hashes, empty where a hash is not that of an active delegation.
    function getDelegationsFromHashes(bytes32[] memory hashes) public view returns (Delegation[] memory found) {
        found = new Delegation[](hashes.length);
        for (uint256 i = 0; i < hashes.length; i++) {
            if (!isActive(hashes[i])) continue;
            bytes32[5] storage words = delegations[hashes[i]];
            (uint256 first, uint256 second) = (uint256(words[0]), uint256(words[1]));
            found[i] = Delegation({
                type_: Kind(uint8(uint256(hashes[i]))),
                to: address(uint160(second)),
                from: address(uint160(first)),
                rights: words[2],
                contract_: address(uint160(((first >> 160) << 96) | (second >> 160))),
                tokenId: uint256(words[3]),
                amount: uint256(words[4])
            });
        }
    }

    function readSlot(bytes32 location) public view returns (bytes32 contents) {
        assembly {
            contents := sload(location)
        }
    }

    function readSlots(bytes32[] calldata locations) external view returns (bytes32[] memory contents) {
        contents = new bytes32[](locations.length);
        for (uint256 i = 0; i < locations.length; i++) contents[i] = readSlot(locations[i]);
    }

    /// ERC-165 only: the id of the deployed registry's own interface is not among the recorded facts.
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7;
    }

    /// The larger of the amount granted without rights and the amount granted for these rights. Types without an amount have 1.
    function amountOf(Delegation memory of_) private view returns (uint256 amount) {
        if (uint160(of_.from) <= REVOKED) return 0;
        bytes32 rights = of_.rights;
        of_.rights = 0;
        amount = exactAmountOf(of_);
        if (rights == 0) return amount;
        of_.rights = rights;
        uint256 specific = exactAmountOf(of_);
        if (specific > amount) amount = specific;
    }

    function exactAmountOf(Delegation memory of_) private view returns (uint256) {
        bytes32 hash = hashOf(of_);
        return hasAmount(of_.type_) ? uint256(delegations[hash][4]) : isActive(hash) ? 1 : 0;
    }

    function hasAmount(Kind kind) private pure returns (bool) {
        return kind == Kind.ERC20 || kind == Kind.ERC1155;
    }

    function isActive(bytes32 hash) private view returns (bool) {
        return uint256(delegations[hash][0]) & ADDRESS > REVOKED;
    }

    function hashOf(Delegation memory of_) private pure returns (bytes32) {
        bytes memory packed = abi.encodePacked(of_.rights, of_.from, of_.to);
        if (of_.type_ != Kind.ALL) packed = abi.encodePacked(packed, of_.contract_);
        if (of_.type_ == Kind.ERC721 || of_.type_ == Kind.ERC1155) packed = abi.encodePacked(packed, of_.tokenId);
        return bytes32((uint256(keccak256(packed)) << 8) | uint256(of_.type_));
    }

    /// An amount of 0 revokes. Words that are 0 are not written.
    function set(Delegation memory of_) private returns (bytes32 hash) {
        hash = hashOf(of_);
        bytes32[5] storage words = delegations[hash];
        uint256 contract_ = uint160(of_.contract_);
        uint256 first = (contract_ >> 96) << 160;
        if (of_.amount == 0) {
            if (!isActive(hash)) return hash;
            words[0] = bytes32(first | REVOKED);
        } else {
            if (words[0] == 0) {
                outgoing[of_.from].push(hash);
                incoming[of_.to].push(hash);
                words[1] = bytes32((contract_ << 160) | uint160(of_.to));
                if (of_.rights != 0) words[2] = of_.rights;
                if (of_.tokenId != 0) words[3] = bytes32(of_.tokenId);
            }
            words[0] = bytes32(first | uint160(of_.from));
        }
        if (hasAmount(of_.type_)) words[4] = bytes32(of_.amount);
    }

    function active(bytes32[] storage all) private view returns (bytes32[] memory found) {
        uint256 count = 0;
        bytes32[] memory kept = new bytes32[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            if (isActive(all[i])) kept[count++] = all[i];
        }
        found = new bytes32[](count);
        for (uint256 i = 0; i < count; i++) found[i] = kept[i];
    }
}
