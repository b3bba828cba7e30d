// The process of the local chain: Hardhat's node with chain id 1. It exits when its parent does.

import { rmSync } from 'node:fs';
import { createHardhatRuntimeEnvironment } from 'hardhat/hre';

const [port, folder, initialDate] = process.argv.slice(2) as [string, string, string];

process.once('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
// Ctrl-C reaches every process of a terminal. The parent decides when this one exits.
process.on('SIGINT', () => {});

const hardhat = await createHardhatRuntimeEnvironment({
  networks: { node: { type: 'edr-simulated', chainId: 1, chainType: 'l1', initialDate } },
  // Keeps Hardhat's files out of the source folder.
  paths: { cache: `${folder}/cache`, artifacts: `${folder}/artifacts` },
});
await hardhat.tasks.getTask('node').run({ hostname: '127.0.0.1', port: Number(port) });
