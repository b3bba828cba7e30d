// Starts bench/node.ts as a process.

import { stopped } from './servers.ts';

export interface BenchNode extends AsyncDisposable {
  /** The JSON-RPC URL of one chain. */
  url(chainId: number): string;
  /** The calls of a node with a throttle so far. */
  calls(): Promise<ThrottledCalls>;
}

/** Limits as providers have them. */
export interface Throttle {
  readonly latencyMs: number;
  readonly callsPerSecond: number;
  readonly maxBlocks: number;
  /** What happens to calls above the rate: HTTP 429 with Retry-After, or a wait. */
  readonly above: 'reject' | 'queue';
}

interface ThrottledCalls {
  readonly answered: number;
  readonly rejected: number;
}

export interface NodeOptions {
  /** Keeps producing blocks. */
  readonly isLive?: boolean;
  /** One block in this many has an event. Without it, every block has several. */
  readonly every?: number;
  readonly throttle?: Throttle;
  /** Unix seconds of the newest block at the start: nodes with the same have the same blocks. */
  readonly startedAt?: number;
}

export async function startNode(blocks: number, options: NodeOptions = {}): Promise<BenchNode> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/node.ts`, String(blocks), JSON.stringify(options)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  const base = new TextDecoder().decode(value).trim();
  return {
    url: (chainId) => `${base}/${chainId}`,
    calls: async () => (await fetch(base)).json() as Promise<ThrottledCalls>,
    [Symbol.asyncDispose]: () => stopped(child),
  };
}
