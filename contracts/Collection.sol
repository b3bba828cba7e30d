// SPDX-License-Identifier: MIT
// For tests and the sandbox only: an ERC-721 collection, written from the EIP. Anybody can mint and burn.
pragma solidity 0.8.30;

interface TokenReceiver {
    function onERC721Received(address operator, address from, uint256 tokenId, bytes calldata data)
        external
        returns (bytes4);
}

contract Collection {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    mapping(uint256 => address) private owners;
    mapping(address => uint256) private balances;
    mapping(uint256 => address) private approvals;
    mapping(address => mapping(address => bool)) public isApprovedForAll;
    string public name;
    string public symbol;

    function setName(string calldata name_, string calldata symbol_) external {
        name = name_;
        symbol = symbol_;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }

    function balanceOf(address owner) external view returns (uint256) {
        require(owner != address(0), "zero address");
        return balances[owner];
    }

    function ownerOf(uint256 tokenId) public view returns (address owner) {
        owner = owners[tokenId];
        require(owner != address(0), "no such token");
    }

    function getApproved(uint256 tokenId) external view returns (address) {
        ownerOf(tokenId);
        return approvals[tokenId];
    }

    function approve(address to, uint256 tokenId) external {
        address owner = ownerOf(tokenId);
        require(msg.sender == owner || isApprovedForAll[owner][msg.sender], "not allowed");
        approvals[tokenId] = to;
        emit Approval(owner, to, tokenId);
    }

    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }

    function transferFrom(address from, address to, uint256 tokenId) public {
        address owner = ownerOf(tokenId);
        bool isAllowed =
            msg.sender == owner || msg.sender == approvals[tokenId] || isApprovedForAll[owner][msg.sender];
        require(isAllowed && from == owner && to != address(0), "not allowed");
        move(from, to, tokenId);
    }

    function safeTransferFrom(address from, address to, uint256 tokenId) external {
        safeTransferFrom(from, to, tokenId, "");
    }

    function safeTransferFrom(address from, address to, uint256 tokenId, bytes memory data) public {
        transferFrom(from, to, tokenId);
        if (to.code.length == 0) return;
        bytes4 answer = TokenReceiver(to).onERC721Received(msg.sender, from, tokenId, data);
        require(answer == TokenReceiver.onERC721Received.selector, "not a receiver");
    }

    function mint(address to, uint256 tokenId) external {
        require(to != address(0) && owners[tokenId] == address(0), "already minted");
        move(address(0), to, tokenId);
    }

    function burn(uint256 tokenId) external {
        move(ownerOf(tokenId), address(0), tokenId);
    }

    function move(address from, address to, uint256 tokenId) private {
        delete approvals[tokenId];
        owners[tokenId] = to;
        if (from != address(0)) balances[from]--;
        if (to != address(0)) balances[to]++;
        emit Transfer(from, to, tokenId);
    }
}
