// The code in docs/integrating.md that keeps a copy of the index by following its changes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CopiedDelegation {
  readonly version: 1 | 2;
  readonly from: string;
  readonly to: string;
}

export interface DocumentedCopy {
  update(url: string): Promise<void>;
  heldAt(block: number): CopiedDelegation[];
}

const PAGE = join(import.meta.dir, '../../docs/integrating.md');

/** `fetch` answers the requests of the code. */
export function documentedCopy(fetch: (url: string) => Promise<Response>): DocumentedCopy {
  const [, code] = /```js\n(const copy = [\s\S]+?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (code === undefined) throw new Error('docs/integrating.md has no code that keeps a copy.');
  return new Function('fetch', `${code}\nreturn { update, heldAt };`)(fetch);
}
