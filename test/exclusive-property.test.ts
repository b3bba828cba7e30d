// Who alone acts for whom, in random histories, against a model that walks the lists as the rules say: at the head after every step,
// as of blocks and as of times, with blocks that share a time, expiries at the very time of a block, renewals, reorgs across an expiry,
// and blocks whose time the index does not keep. A seed repeats a run:
// TEST_MINUTES=999 EXCLUSIVE_SEED=7 EXCLUSIVE_RUNS=2000 npx bun test test/exclusive-property.test.ts

import { describe, expect, test } from 'bun:test';
import { Problem } from '../src/api/problems.ts';
import { type AsOf, pinBlock } from '../src/http/context/as-of.ts';
import { exclusiveVaults, resolveExclusive } from '../src/http/context/exclusive.ts';
import { type Address, type Bytes32, type Delegation, delegationId } from '../src/registry/delegation.ts';
import type { RegistryEvent } from '../src/registry/event.ts';
import { GLOBAL_ID, NEVER, type RightsId } from '../src/registry/rights.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { FIRST } from './support/chain.ts';
import { ENGINES } from './support/engines.ts';
import { walkedGrant } from './support/exclusive-truth.ts';
import { address, delegation, hash } from './support/fixtures.ts';
import { below, createRandom, pickFrom, type Random } from './support/random.ts';
import { serviceOf } from './support/serving.ts';

const RUNS = Number(process.env['EXCLUSIVE_RUNS'] ?? 8);
const FIRST_SEED = Number(process.env['EXCLUSIVE_SEED'] ?? 1);
const STEPS = 16;
/** As of this many earlier moments everything is asked after a step. */
const MOMENTS = 3;

const WALLETS = [11, 12, 13, 14].map(address) as [Address, ...Address[]];
const IDS: readonly [RightsId, ...RightsId[]] = [GLOBAL_ID, `0x${'11'.repeat(24)}`, `0x${'22'.repeat(24)}`];
const COLLECTION = address(0xc0);
const TOKENS = [null, { contract: COLLECTION, tokenId: 0n }, { contract: COLLECTION, tokenId: 7n }];
const KINDS: readonly Partial<Delegation>[] = [
  ...[{ kind: 'ALL' as const }, { kind: 'ALL' as const }],
  { kind: 'CONTRACT', contract: COLLECTION },
  { kind: 'ERC721', contract: COLLECTION, tokenId: 7n },
  { kind: 'ERC20', contract: COLLECTION },
];
const LARGEST_PAGE = 3;

interface ModelBlock {
  readonly number: number;
  readonly hash: Bytes32;
  readonly timestamp: number;
  readonly events: readonly { readonly grant: Delegation; readonly isGrant: boolean }[];
}

/** What each wallet has granted after some blocks, in the order of the contract's list. */
function listsAfter(blocks: readonly ModelBlock[]): ReadonlyMap<Address, readonly Delegation[]> {
  const places: Delegation[] = [];
  const known = new Set<string>();
  const held = new Set<string>();
  for (const { grant, isGrant } of blocks.flatMap(({ events }) => events)) {
    const id = delegationId(grant);
    if (isGrant && !known.has(id)) places.push(grant);
    if (isGrant) known.add(id);
    if (isGrant) held.add(id);
    else held.delete(id);
  }
  return Map.groupBy(
    places.filter((grant) => held.has(delegationId(grant))),
    ({ from }) => from,
  );
}

function randomGrant(random: Random, timestamp: number, past: readonly Delegation[]): Delegation {
  // Renewals, and revocations of what was granted.
  if (past.length > 0 && random() < 0.5) return pickFrom(random, past);
  const expiry = pickFrom(random, [0, timestamp - 1, timestamp, timestamp + 1, timestamp + 6, timestamp + 12, NEVER]);
  const ignored = random() < 0.9 ? '000000' : 'abcdef';
  const rights: Bytes32 = `${pickFrom(random, IDS)}${ignored}${expiry.toString(16).padStart(10, '0')}`;
  const fields = pickFrom(random, KINDS);
  const pair = { from: pickFrom(random, WALLETS), to: pickFrom(random, WALLETS) };
  return delegation(fields.kind ?? 'ALL', { ...fields, ...pair, rights });
}

let chains = 0;

async function run(store: Store, seed: number) {
  const random = createRandom(seed);
  const chainId = ++chains;
  const { epoch } = await store.claim(chainId, FIRST);
  let chain: ModelBlock[] = [];
  let head: ModelBlock | null = null;
  const counted = { answers: 0, refused: 0, wrong: [] as unknown[] };

  const grow = (branch: number, count: number) => {
    for (let left = count; left > 0; left--) {
      const last = chain.at(-1);
      const number = (last?.number ?? FIRST - 1) + 1;
      const timestamp = (last?.timestamp ?? 1000) + pickFrom(random, [0, 1, 1, 6]);
      const past = chain.flatMap(({ events }) => events.map(({ grant }) => grant));
      const events = Array.from({ length: pickFrom(random, [0, 0, 1, 3]) }, () => ({
        grant: randomGrant(random, timestamp, past),
        isGrant: random() < 0.7,
      }));
      chain.push({ number, hash: hash(number, branch), timestamp, events });
    }
  };

  const commit = async (rollbackTo?: number) => {
    const from = rollbackTo ?? head?.number ?? -1;
    const added = chain.filter(({ number }) => number > from);
    const newest = chain.at(-1) as ModelBlock;
    const blocks = added
      .filter(({ events, number }) => events.length > 0 || number === newest.number || random() < 0.3)
      .map(({ events, ...block }) => ({
        ...block,
        logs: events.map(({ grant, isGrant }, logIndex) => {
          const { amount: _, ...key } = grant;
          const event: RegistryEvent = isGrant
            ? { type: 'granted', delegation: grant }
            : { type: 'ended', delegation: key };
          return { logIndex, transactionHash: hash(block.number * 1000 + logIndex), event };
        }),
      }));
    const rollback = rollbackTo === undefined ? {} : { rollbackTo };
    await store.apply({ chainId, epoch, after: head, blocks, head: newest, ...rollback });
    head = newest;
  };

  /** Asks everything as of a moment, whose block is known to the model. */
  const compare = async (asOf: AsOf, truth: ModelBlock) => {
    const service = { ...serviceOf(store, (head as ModelBlock).timestamp), chainIds: new Set([chainId]) };
    const call = { service, caller: () => ({ id: '192.0.2.1', hasKey: false }) };
    const pinned = await pinBlock(chainId, asOf, service);
    const lists = listsAfter(chain.filter(({ number }) => number <= truth.number));
    const truthOf = (owner: Address, id: RightsId, token: (typeof TOKENS)[number]) =>
      walkedGrant(lists.get(owner) ?? [], { id, token, now: truth.timestamp });
    const isKept = asOf.timestamp === undefined && pinned.block.timestamp !== null;
    /** Null if it was refused, which is right only where the time of the block is not known. */
    const orRefused = async <T>(work: Promise<T>, isUnknown: boolean): Promise<T | null> => {
      try {
        return await work;
      } catch (error) {
        if (!(error instanceof Problem && error.type === 'block-not-kept' && isUnknown)) throw error;
        counted.refused++;
        return null;
      }
    };
    const expectSame = (found: unknown, expected: unknown, about: unknown) => {
      counted.answers++;
      if (!Bun.deepEquals(found, expected)) counted.wrong.push({ seed, asOf, about, found, expected });
    };
    for (const id of IDS) {
      for (const token of TOKENS) {
        // A refusal of one owner must not hide the answers about the others.
        const owners = isKept ? [WALLETS] : WALLETS.map((owner) => [owner]);
        for (const some of owners) {
          const found = await orRefused(resolveExclusive(call, { id, token }, [pinned], some), !isKept);
          for (const [at, owner] of some.entries()) {
            const expected = truthOf(owner, id, token);
            const deciding = found?.[at] ?? null;
            if (found !== null)
              expectSame(deciding && delegationId(deciding), expected && delegationId(expected), { owner, id, token });
          }
        }
      }
      for (const wallet of WALLETS) {
        const limit = 1 + below(random, LARGEST_PAGE);
        const vaults: Address[] = [];
        const read = async (after?: Address): Promise<void> => {
          const asked = { id, token: null, wallet, limit, ...(after && { after }) };
          const page = await exclusiveVaults(call, asked, [pinned]);
          vaults.push(...page.counterparts.map((one) => one.wallet));
          if (page.next !== null) await read(page.next);
        };
        const isRead =
          (await orRefused(
            read().then(() => true),
            !isKept,
          )) !== null;
        const expected = WALLETS.filter((vault) => truthOf(vault, id, null)?.to === wallet);
        if (isRead) expectSame(vaults, expected, { wallet, id });
      }
    }
  };

  for (let step = 1; step <= STEPS; step++) {
    let rollbackTo: number | undefined;
    if (head !== null && random() < 0.25) {
      // The branch can have other times: an expiry comes before a block, or after it.
      rollbackTo = Math.max(FIRST, chain.length + FIRST - 1 - below(random, 5));
      chain = chain.filter(({ number }) => number <= (rollbackTo as number));
    }
    grow(step, 1 + below(random, 4));
    await commit(rollbackTo);
    const newest = chain.at(-1) as ModelBlock;
    await compare({}, newest);
    for (let moment = 0; moment < MOMENTS; moment++) {
      const truth = pickFrom(random, chain);
      await compare({ block: truth.number }, truth);
      const time =
        (chain[0] as ModelBlock).timestamp + below(random, newest.timestamp - (chain[0] as ModelBlock).timestamp + 1);
      const last = chain.findLast(({ timestamp }) => timestamp <= time);
      const first =
        (await store.newestBlock(chainId, Number.MAX_SAFE_INTEGER)) &&
        (await store.blocks(chainId, { from: 0, to: newest.number }))[0];
      // Later blocks may still have the time of the head, and before the first kept block no time is known.
      if (last !== undefined && time < newest.timestamp && first && time >= first.timestamp)
        await compare({ timestamp: time }, last);
    }
  }
  return counted;
}

for (const engine of ENGINES) {
  // PostgreSQL, whose statements are the same, is asked fewer.
  const runs = engine.name === 'SQLite' ? RUNS : Math.ceil(RUNS / 6);
  describe(`exclusive resolution on ${engine.name}`, () => {
    test(`is that of the rules in ${runs} random histories from seed ${FIRST_SEED} on`, async () => {
      const store = await openStore(await engine.fresh());
      let [answers, refused] = [0, 0];
      for (let seed = FIRST_SEED; seed < FIRST_SEED + runs; seed++) {
        const counted = await run(store, seed);
        expect(counted.wrong.slice(0, 3)).toEqual([]);
        answers += counted.answers;
        refused += counted.refused;
      }
      console.log(
        `${engine.name}: ${answers} answers compared, 0 different; ${refused} refused, as the time of the block is not kept`,
      );
      await store.close();
    });
  });
}
