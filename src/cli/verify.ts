// delegations verify: shows that answers follow from the hash of a block, without the service that gave them.

import { createNode } from '../chain/rpc/node.ts';
import { createRpc, RPC_DEFAULTS, RpcError } from '../chain/rpc/rpc.ts';
import { ProofError, type ProvenBlock } from '../proof/answer-proof.ts';
import { isBytes32 } from '../registry/delegation.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';
import { dateOf, writeOut } from './output.ts';
import { type TrustedHash, verifyProofFile } from './proof-file.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'verify answers that prove themselves, offline',
  usage: '<file> --block-hash <hash> | --rpc <URL>',
  about: `Verifies a file of delegations check --prove or delegations allowlist --prove: that every answer follows from the state of its block. What must be
trusted is the hash of the block: give it (--block-hash), or let a node of your own say it (--rpc). - reads standard input.
Exit code: 0 proven, 1 refuted, 2 cannot say.`,
  options: {
    'block-hash': { value: '<hash>', about: 'hash of the block, from a source that you trust' },
    rpc: { value: '<URL>', about: 'node that you trust: its block of that number must have the hash' },
  },
  operands: [1, 1],
  examples: [
    'delegations verify answer.json --block-hash 0x5f3e…',
    'delegations verify bundle.ndjson --rpc http://localhost:8545',
  ],
  async run(call) {
    const [path = ''] = call.operands;
    const trusted = trustedOf(call);
    const file = path === '-' ? Bun.stdin : Bun.file(path);
    if (path !== '-' && !(await Bun.file(path).exists())) throw new UsageError(`File not found: ${path}`);
    try {
      const { chainId, block, answers, yes, only } = await verifyProofFile(linesOf(file.stream()), trusted);
      const what = answers === 1 ? '1 answer' : `${answers.toLocaleString('en')} answers`;
      await writeOut(
        `proven: ${what} (${yes.toLocaleString('en')} yes) at block ${block.number} of chain ${chainId}, ${dateOf(block.timestamp)}\n  ${block.hash}\n${only === undefined ? '' : `  ${only}\n`}`,
      );
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      process.exitCode = 1;
      await writeOut(`refuted (${error.step}): ${error.message}\n`);
    }
  },
};

function trustedOf(call: Invocation): TrustedHash {
  const [hash, url] = [call.text('block-hash')?.toLowerCase(), call.text('rpc')];
  if ((hash === undefined) === (url === undefined))
    throw new UsageError('Give --block-hash or --rpc: the hash of the block is what must be trusted.');
  if (hash !== undefined) {
    if (!isBytes32(hash)) throw new UsageError(`--block-hash must be 0x and 64 hex digits, got ${hash}`);
    return async () => hash;
  }
  if (!URL.canParse(url ?? '') || !/^https?:/.test(url ?? ''))
    throw new UsageError('--rpc must be an http or https URL. Example: --rpc http://localhost:8545');
  return (chainId, block) => hashFrom(url ?? '', chainId, block);
}

async function hashFrom(url: string, chainId: number, { number }: ProvenBlock) {
  const node = createNode(createRpc(url, RPC_DEFAULTS));
  try {
    const id = await node.chainId();
    if (id !== chainId)
      throw new UsageError(`The node at --rpc serves chain ${id}, and the answers are of chain ${chainId}.`);
    const header = await node.header(number);
    if (header === null) throw new UsageError(`The node at --rpc does not have block ${number}.`);
    return header.hash;
  } catch (error) {
    if (error instanceof RpcError) throw new UsageError(`The node at --rpc: ${error.message}`);
    throw error;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let left = '';
  for await (const chunk of stream) {
    const parts = (left + decoder.decode(chunk, { stream: true })).split('\n');
    left = parts.pop() ?? '';
    yield* parts;
  }
  yield left;
}
