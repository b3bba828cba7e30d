// Starts bench/node.ts as a process.

import { stopped } from './servers.ts';

export interface BenchNode {
  /** The JSON-RPC URL of one chain. */
  url(chainId: number): string;
  stop(): Promise<void>;
}

export async function startNode(blocks: number, life: 'still' | 'live' = 'still'): Promise<BenchNode> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/node.ts`, String(blocks), life], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  const base = new TextDecoder().decode(value).trim();
  return { url: (chainId) => `${base}/${chainId}`, stop: () => stopped(child) };
}
