// SPDX-License-Identifier: MIT
// For tests only: pays out a list once, by proofs of a tree whose leaves are hashed twice and whose pairs are sorted.
pragma solidity 0.8.30;

contract Claim {
    bytes32 public root;
    mapping(address => uint256) public claimed;

    function setRoot(bytes32 value) external {
        root = value;
    }

    function claim(uint256 amount, bytes32[] calldata proof) external {
        bytes32 node = keccak256(bytes.concat(keccak256(abi.encode(msg.sender, amount))));
        for (uint256 i = 0; i < proof.length; i++) {
            bytes32 other = proof[i];
            node = node < other ? keccak256(bytes.concat(node, other)) : keccak256(bytes.concat(other, node));
        }
        require(node == root, "Claim: not in the list");
        require(claimed[msg.sender] == 0, "Claim: claimed before");
        claimed[msg.sender] = amount;
    }
}
