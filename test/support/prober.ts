// Queries a running service continuously, and compares every answer with the truth at the block that it names.

import { checkUrl, listUrl } from '../../src/api/url.ts';
import type { Address } from '../../src/registry/delegation.ts';
import { ALL_CHECKS } from './every-answer.ts';
import type { LiveChain } from './live-chain.ts';
import { asText, type CheckCase, delegationsOf } from './questions.ts';
import { createRandom } from './random.ts';
import { WALLETS } from './wallets.ts';

export interface Probed {
  /** Answers that are right at the block that they name. */
  right: number;
  /** 503 responses, by problem type. */
  readonly refused: Map<string, number>;
  /** Lists that a reorg changed between two pages: the caller must start again. */
  gone: number;
  /** Failed or broken connections. */
  unreachable: number;
  readonly wrong: string[];
  /** The largest lag of an answer at the head, in blocks. */
  farthest: number;
}

/** Longer than any timeout of the service: a request without an answer by then is as bad as a wrong one. */
const PATIENCE_MS = 60_000;

export function createProber(live: LiveChain, seed = 1, { maxAgeSeconds = Number.POSITIVE_INFINITY } = {}) {
  const random = createRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const seen: Probed = { right: 0, refused: new Map(), gone: 0, unreachable: 0, wrong: [], farthest: 0 };

  /** At the head, at the finalized block, or at a recent time. */
  const anyTime = () => {
    const place = random();
    if (place < 0.7) return '';
    return place < 0.85
      ? '&block=finalized'
      : `&timestamp=${Math.floor(Date.now() / 1000) - 3 - Math.floor(random() * 20)}`;
  };

  /** The request, and its true answer at a block. */
  function anyQuestion(): { path: string; truth: (hash: string) => string | null; read: (text: string) => string } {
    if (random() < 0.2) {
      const [version, wallet] = [pick([1, 2] as const), pick(WALLETS)];
      return {
        path:
          listUrl(version, wallet, { detail: 'full', numbers: 'string' }) +
          anyTime() +
          (random() < 0.5 ? '&limit=2' : ''),
        truth: (hash) => live.modelAt(hash) && listOf(live, hash, version, wallet),
        read: (text) => delegationsOf(text, version).map(asText).sort().join(';'),
      };
    }
    const { question, truth }: CheckCase = pick(ALL_CHECKS);
    return {
      path: checkUrl(question) + anyTime(),
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
      // Its block was new enough at some time after this.
      const sentAt = Date.now() / 1000;
      let response: Response;
      let text: string;
      try {
        response = await fetch(url + path, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
        text = await response.text();
        if (response.status === 200 && path.includes('&limit=')) {
          const rest = await restOf(url + path, response, headers);
          if (rest === null) return void seen.gone++;
          text = JSON.stringify([...JSON.parse(text), ...rest]);
        }
      } catch (error) {
        if (error instanceof Wrong) seen.wrong.push(`${path}: ${error.message}`);
        else if ((error as Error).name === 'TimeoutError') seen.wrong.push(`${path}: no answer`);
        else seen.unreachable++;
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
      const age = sentAt - Number(response.headers.get('x-block-timestamp'));
      const isNow = !/block=|timestamp=/.test(path);
      if (expected !== null && isNow && age > maxAgeSeconds)
        seen.wrong.push(`${path}: its block is ${age.toFixed(0)} s old`);
      if (expected !== null && read(text) === expected) {
        seen.right++;
        const behind = (live.chain.at(-1)?.number ?? 0) - Number(response.headers.get('x-block-number'));
        if (isNow) seen.farthest = Math.max(seen.farthest, behind);
      } else seen.wrong.push(`${path} at ${hash}: ${response.status} ${text.slice(0, 200)}, not ${expected}`);
    },
  };
}

/** Thrown for a list whose pages are inconsistent. */
class Wrong extends Error {}

const namesOf = ({ headers }: Response) => [headers.get('x-block-number'), headers.get('x-block-hash')];

/** The remaining pages of a list, all at one block; null if the service answers that they are gone or not available now. */
async function restOf(url: string, first: Response, headers: Record<string, string>): Promise<unknown[] | null> {
  const found: unknown[] = [];
  const names = namesOf(first);
  for (let page = first; ; ) {
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    if (next === undefined) return found;
    page = await fetch(new URL(next, url), { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await page.text();
    if (page.status === 409 || page.status === 410 || page.status === 503) return null;
    if (page.status !== 200) throw new Wrong(`a page returned HTTP ${page.status}`);
    // A block that became final in the meantime may be known only by its number.
    const isSame = namesOf(page).every(
      (name, position) => name === names[position] || (position === 1 && name === null),
    );
    if (!isSame) throw new Wrong(`its pages are of blocks ${names} and ${namesOf(page)}`);
    found.push(...JSON.parse(text));
  }
}

function listOf(live: LiveChain, hash: string, version: 1 | 2, wallet: Address): string {
  const all = live.modelAt(hash)?.held() ?? [];
  const own = all.filter((one) => one.version === version && (one.from === wallet || one.to === wallet));
  return own.map(asText).sort().join(';');
}
