// The code in docs/integrating.md that keeps a copy of the index by following its changes.

import { codeBlock } from './code-blocks.ts';

export interface CopiedDelegation {
  readonly version: 1 | 2;
  readonly from: string;
  readonly to: string;
}

export interface DocumentedCopy {
  update(url: string): Promise<void>;
  heldAt(block: number): CopiedDelegation[];
}

/** `fetch` answers the requests of the code. */
export function documentedCopy(fetch: (url: string) => Promise<Response>): DocumentedCopy {
  const { text } = codeBlock('docs/integrating.md', 'const copy = ');
  return new Function('fetch', `${text}\nreturn { update, heldAt };`)(fetch);
}
