// SPDX-License-Identifier: MIT
// For tests and the sandbox only: a smart contract wallet that makes several calls in one transaction.
pragma solidity 0.8.30;

contract BatchWallet {
    struct Call {
        address to;
        bytes data;
    }

    function execute(Call[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory result) = calls[i].to.call(calls[i].data);
            if (!success) {
                assembly {
                    revert(add(result, 32), mload(result))
                }
            }
        }
    }
}
