// What a tick may run into, besides a call that fails.

/** The chain changed between two requests, or two nodes behind one URL disagree: ask again. */
export class Inconsistent extends Error {
  override readonly name = 'Inconsistent';
}

/** The node is behind what we have: no evidence of anything. */
export class Lagging extends Error {
  override readonly name = 'Lagging';
}

/** The node does not have what it must have: not to be asked first again soon. */
export class Untrusted extends Error {
  override readonly name = 'Untrusted';
}
