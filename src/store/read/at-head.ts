// Reads without closed spans as of the head, where none can hold, and with them as of any other block.

/** What a read found, and the head of its snapshot. */
interface Found {
  readonly head: number;
}

/** The head is guessed from the last read. If the guess was wrong, what held at the block may have ended since: it is read again. */
export function createHeadReads(): <F extends Found>(
  chainId: number,
  block: number,
  read: (isHead: boolean) => Promise<F>,
) => Promise<F> {
  const heads = new Map<number, number>();
  return async (chainId, block, read) => {
    const isHead = block >= (heads.get(chainId) ?? 0);
    const found = await read(isHead);
    heads.set(chainId, found.head);
    return isHead && found.head > block ? read(false) : found;
  };
}
