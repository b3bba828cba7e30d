// SPDX-License-Identifier: MIT
// For tests only: answers every call wrongly, in the way that storage slot 0 chooses.
pragma solidity 0.8.30;

contract BadToken {
    enum Way {
        Reverts,
        RevertsWithManyBytes,
        InvalidOpcode,
        EndlessLoop,
        ReturnsNothing,
        Returns31Bytes,
        Returns33Bytes,
        Returns64Bytes,
        ReturnsManyBytes,
        ReturnsAllOnes
    }

    Way public way;

    fallback() external {
        Way chosen = way;
        if (chosen == Way.Reverts) revert("not today");
        // Each turn calls another account, which uses up any gas in few steps.
        if (chosen == Way.EndlessLoop) while (true) assembly { pop(staticcall(0, gas(), 0, 0, 0, 0)) }
        uint256 size = 32;
        if (chosen == Way.ReturnsNothing) size = 0;
        if (chosen == Way.Returns31Bytes) size = 31;
        if (chosen == Way.Returns33Bytes) size = 33;
        if (chosen == Way.Returns64Bytes) size = 64;
        if (chosen == Way.ReturnsManyBytes || chosen == Way.RevertsWithManyBytes) size = 200_000;
        bool isRevert = chosen == Way.RevertsWithManyBytes;
        bool isInvalid = chosen == Way.InvalidOpcode;
        assembly {
            if isInvalid { invalid() }
            mstore(0, not(0))
            mstore(32, not(0))
            if isRevert { revert(0, size) }
            return(0, size)
        }
    }
}
