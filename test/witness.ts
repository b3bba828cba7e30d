// Asks a running service over and over, and holds every answer against the truth at the very block that it names.

import type { Address } from '../src/registry/delegation.ts';
import type { LiveChain } from './live-chain.ts';
import { CONTRACTS, IDS, RIGHTS, WALLETS } from './lives.ts';
import { delegationsOf, listPathOf, pathOf } from './over-http.ts';
import { type Asked, asText, everyQuestion } from './questions.ts';
import { createRandom } from './random.ts';
import type { Recording } from './vectors.ts';

export interface Witnessed {
  /** Right as of the block that they name. */
  right: number;
  /** Honest 503s, by what they say. */
  readonly refused: Map<string, number>;
  /** No connection, or one that broke. */
  unreachable: number;
  readonly wrong: string[];
  /** How far the newest answer was behind the chain's tip, at most, in blocks. */
  farthest: number;
}

const EVERY = everyQuestion({
  vaults: WALLETS,
  delegates: WALLETS,
  contracts: CONTRACTS,
  tokenIds: IDS,
  rights: RIGHTS,
} as unknown as Recording);

export function createWitness(live: LiveChain, seed = 1, { maxAgeSeconds = Number.POSITIVE_INFINITY } = {}) {
  const random = createRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const seen: Witnessed = { right: 0, refused: new Map(), unreachable: 0, wrong: [], farthest: 0 };

  /** What is asked, and what is true of it at a block. */
  function anyQuestion(): { path: string; truth: (hash: string) => string | null; read: (text: string) => string } {
    if (random() < 0.2) {
      const [version, wallet] = [pick([1, 2] as const), pick(WALLETS)];
      return {
        path: listPathOf(version, wallet),
        truth: (hash) => live.modelAt(hash) && listOf(live, hash, version, wallet),
        read: (text) => delegationsOf(text, version).map(asText).sort().join(';'),
      };
    }
    const { question, truth }: Asked = pick(EVERY);
    return {
      path: pathOf(question),
      truth: (hash) => {
        const model = live.modelAt(hash);
        return model && String(truth(model));
      },
      read: (text) => text,
    };
  }

  return {
    seen,
    async ask(url: string, headers: Record<string, string> = {}): Promise<void> {
      const { path, truth, read } = anyQuestion();
      let response: Response;
      let text: string;
      try {
        response = await fetch(url + path, { headers, signal: AbortSignal.timeout(20_000) });
        text = await response.text();
      } catch {
        seen.unreachable++;
        return;
      }
      if (response.status === 503) {
        const { type = 'none' } = JSON.parse(text) as { type?: string };
        seen.refused.set(type, (seen.refused.get(type) ?? 0) + 1);
        if (response.headers.get('retry-after') === null) seen.wrong.push(`${path}: 503 without Retry-After`);
        return;
      }
      const hash = response.headers.get('x-block-hash') ?? '';
      const expected = response.status === 200 ? truth(hash) : null;
      const age = Date.now() / 1000 - Number(response.headers.get('x-block-timestamp'));
      if (expected !== null && age > maxAgeSeconds) seen.wrong.push(`${path}: its block is ${age.toFixed(0)} s old`);
      if (expected !== null && read(text) === expected) {
        seen.right++;
        const tip = live.chain.at(-1)?.number ?? 0;
        seen.farthest = Math.max(seen.farthest, tip - Number(response.headers.get('x-block-number')));
      } else seen.wrong.push(`${path} at ${hash}: ${response.status} ${text.slice(0, 200)}, not ${expected}`);
    },
  };
}

function listOf(live: LiveChain, hash: string, version: 1 | 2, wallet: Address): string {
  const all = live.modelAt(hash)?.held() ?? [];
  const own = all.filter((one) => one.version === version && (one.from === wallet || one.to === wallet));
  return own.map(asText).sort().join(';');
}
