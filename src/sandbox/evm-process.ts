// The process of the local chain: Hardhat's own node, which stands for Ethereum. It ends with the program that started it,
// however that one ended.

import { rmSync } from 'node:fs';
import { createHardhatRuntimeEnvironment } from 'hardhat/hre';

const [port, folder, initialDate] = process.argv.slice(2) as [string, string, string];

process.once('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
// Ctrl-C reaches every process of a terminal: the one that started this one ends it when it is time.
process.on('SIGINT', () => {});

const hardhat = await createHardhatRuntimeEnvironment({
  networks: { node: { type: 'edr-simulated', chainId: 1, chainType: 'l1', initialDate } },
  // Nothing is written beside the sources.
  paths: { cache: `${folder}/cache`, artifacts: `${folder}/artifacts` },
});
await hardhat.tasks.getTask('node').run({ hostname: '127.0.0.1', port: Number(port) });
