// What Hardhat's node is told: it stands for Ethereum.

export default { networks: { node: { type: 'edr-simulated', chainId: 1, chainType: 'l1' } } };
