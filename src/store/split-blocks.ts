/** Splits whole blocks into parts of at most this many logs; a larger block is a part of its own. There is always one part. */
export function splitBlocks<Block extends { readonly logs: readonly unknown[] }>(
  blocks: readonly Block[],
  maxLogs: number,
): Block[][] {
  const parts: Block[][] = [[]];
  let logs = 0;
  for (const block of blocks) {
    if (logs > 0 && logs + block.logs.length > maxLogs) {
      parts.push([]);
      logs = 0;
    }
    parts.at(-1)?.push(block);
    logs += block.logs.length;
  }
  return parts;
}
