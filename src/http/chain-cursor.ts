// Encodes a position in the rows of several chains as an opaque cursor.

/** The block that a chain is read as of, and the revision and stamp of the history that it was chosen in. */
export interface PinnedBlock {
  readonly block: number;
  readonly revision: number;
  readonly stamp: number;
}

export interface ChainPosition {
  /** The index of the chain in the request. */
  readonly chain: number;
  /** The index of the section in the chain. */
  readonly section: number;
  /** The position in the section; null at its start. */
  readonly after: string | null;
}

export interface PageCursor {
  /** In the order of the request's chains; null for a chain that did not answer. */
  readonly pins: readonly (PinnedBlock | null)[];
  readonly position: ChainPosition;
}

const PIN = /^(\d{1,15})-(\d{1,15})-(\d{1,16})$/;
const POSITION = /^(\d{1,3})~(\d)~([\w.]{0,100})$/;

/** `list` identifies the list: every parameter that decides what is in it. */
export function pageCursorText({ pins, position }: PageCursor, list: string): string {
  const { chain, section, after } = position;
  const pinned = pins.map((pin) => (pin === null ? '' : `${pin.block}-${pin.revision}-${pin.stamp}`));
  const text = [`${chain}~${section}~${after ?? ''}`, ...pinned, Bun.hash.xxHash32(list)].join(',');
  return Buffer.from(text).toString('base64url');
}

/** Null if the text is not a cursor of this list, with this many chains. */
export function readPageCursor(text: string, list: string, chains: number): PageCursor | null {
  const fields = Buffer.from(text, 'base64url').toString('latin1').split(',');
  if (fields.length !== chains + 2) return null;
  const place = POSITION.exec(fields[0] ?? '');
  if (place === null) return null;
  const pins = fields.slice(1, -1).map((field) => {
    const [, block, revision, stamp] = (PIN.exec(field) ?? []).map(Number);
    return block === undefined || revision === undefined || stamp === undefined ? null : { block, revision, stamp };
  });
  const [, chain, section, after] = place;
  const position = { chain: Number(chain), section: Number(section), after: after || null };
  const cursor = { pins, position };
  // Each position has one text: any other encoding of it was not made here.
  return pageCursorText(cursor, list) === text ? cursor : null;
}
