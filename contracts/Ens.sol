// SPDX-License-Identifier: MIT
// For tests and the sandbox only: an ENS registry that is its own resolver, with the functions that names are looked up by. Anybody can
// set any record.
pragma solidity 0.8.30;

contract Ens {
    mapping(bytes32 => address) public resolver;
    mapping(bytes32 => address) public addr;
    mapping(bytes32 => string) public name;

    function setResolver(bytes32 node, address value) external {
        resolver[node] = value;
    }

    function setAddr(bytes32 node, address value) external {
        resolver[node] = address(this);
        addr[node] = value;
    }

    function setName(bytes32 node, string calldata value) external {
        resolver[node] = address(this);
        name[node] = value;
    }
}
