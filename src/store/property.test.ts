// Random lives of a chain, compared after every step with a model: at the head and as of every block before it.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { eventOfCall } from '../../test/calls.ts';
import { ENGINES } from '../../test/engines.ts';
import {
  anyStep,
  CONTRACTS,
  IDS,
  type LifeBlock,
  type LifeCall,
  ONCE_WRONG,
  RIGHTS,
  type Step,
  WALLETS,
} from '../../test/lives.ts';
import { createModel, type Model } from '../../test/model.ts';
import { answer, type Question } from '../registry/check.ts';
import type { Address, Bytes32, Delegation } from '../registry/delegation.ts';
import { StoreError } from './errors.ts';
import { openStore } from './open.ts';
import type {
  BlockInput,
  BlockRef,
  CommitResult,
  ListQuery,
  LogInput,
  LogPosition,
  Store,
  VaultState,
} from './store.ts';

const RUNS = { SQLite: 2000, PostgreSQL: 300 };
/** For longer runs: PROPERTY_RUNS=50000 PROPERTY_SEED=7 npm test. */
const { PROPERTY_RUNS, PROPERTY_SEED } = process.env;

interface TrueBlock extends BlockRef {
  readonly calls: readonly LifeCall[];
}
interface Gap {
  readonly vault: Address;
  readonly block: number;
  readAt: number | null;
}

const FIRST = 10;
const DIRECTIONS = [undefined, undefined, 'incoming', 'outgoing'] as const;
let hashes = 0;
let chains = 0;

/** The chain as it truly is, beside the store that follows it. */
async function createLife(store: Store) {
  const chainId = ++chains;
  let { epoch } = await store.claim(chainId, FIRST);
  let head: BlockRef | null = null;
  let history: TrueBlock[] = [];
  let gaps: Gap[] = [];
  /** Logs that the store was not shown. Until they are repaired, it cannot know better. */
  let owed: { readonly block: BlockInput; readonly log: LogInput }[] = [];

  const modelAt = (block: number): Model => {
    const model = createModel();
    for (const { number, calls } of history) if (number <= block) for (const { call } of calls) model.call(call);
    return model;
  };

  const v1Of = (model: Model, vault: Address) =>
    model.held().filter((delegation) => delegation.version === 1 && delegation.from === vault);

  /** Extends the true chain, and says what a follower would hand to the store for it. */
  const extend = (planned: readonly LifeBlock[]): BlockInput[] =>
    planned.map(({ gap, seconds, calls }) => {
      const last = history.at(-1);
      const number = (last?.number ?? FIRST - 1) + gap;
      const timestamp = (last?.timestamp ?? 1_700_000_000) + seconds;
      const hash: Bytes32 = `0x${(++hashes).toString(16).padStart(64, '0')}`;
      history.push({ number, timestamp, hash, calls });
      const model = modelAt(number);
      const vaultStates = new Map<Address, VaultState>();
      const logs = calls.map(({ call, resolution }, logIndex) => {
        const event = eventOfCall(call);
        const log = { logIndex, transactionHash: hash, event };
        if (event.type !== 'unknownRevoked') return log;
        const delegate = (call[2] === 'revokeSelf' ? call[1] : call[3][0]) as Address;
        if (resolution === 'transaction') return { ...log, revoked: delegate };
        const vault = event.from;
        // One reading serves all revocations of a wallet in a block: the first one's fate is that of all.
        if (!vaultStates.has(vault)) {
          vaultStates.set(vault, { vault, held: resolution === 'state' ? v1Of(model, vault) : null });
        }
        return { ...log, revoked: null };
      });
      return { number, timestamp, hash, logs, vaultStates: [...vaultStates.values()] };
    });

  /** What the readings of state in these blocks mean for earlier ones. */
  const noteReadings = (inputs: readonly BlockInput[]) => {
    for (const { number, vaultStates = [] } of inputs) {
      for (const { vault, held } of vaultStates) {
        gaps = gaps.filter((gap) => gap.vault !== vault || gap.block !== number);
        gaps.push({ vault, block: number, readAt: null });
        if (held === null) continue;
        for (const gap of gaps) if (gap.vault === vault && gap.block <= number) gap.readAt ??= number;
      }
    }
  };

  /** The owed logs as a repair, with the later states of their wallets read again where `reread` says so. */
  const repairs = (reread: boolean): BlockInput[] => {
    const repaired = new Map<number, BlockInput>();
    const add = (ref: BlockRef, logs: readonly LogInput[], states: readonly VaultState[]) => {
      const known = repaired.get(ref.number);
      const { number, hash, timestamp } = ref;
      repaired.set(number, {
        number,
        hash,
        timestamp,
        logs: [...(known?.logs ?? []), ...logs].sort((a, b) => a.logIndex - b.logIndex),
        vaultStates: [
          ...(known?.vaultStates ?? []).filter(({ vault }) => !states.some((state) => state.vault === vault)),
          ...states,
        ],
      });
    };
    for (const { block, log } of owed) add(block, [log], statesFor(block, [log]));
    for (const { block, log } of reread ? owed : []) {
      const vault = vaultOf(log);
      for (const gap of gaps) {
        const at = history.find(({ number }) => number === gap.block);
        if (vault === null || gap.vault !== vault || gap.block < block.number || at === undefined) continue;
        add(at, [], [{ vault, held: v1Of(modelAt(gap.block), vault) }]);
      }
    }
    return [...repaired.values()].sort((a, b) => a.number - b.number);
  };

  const commit = async (
    inputs: readonly BlockInput[],
    more: { rollbackTo?: number; lateStates?: VaultState[] } = {},
  ) => {
    const tip = inputs.at(-1) ?? history.at(-1);
    if (tip === undefined) return;
    const newHead: BlockRef = { number: tip.number, hash: tip.hash, timestamp: tip.timestamp };
    const result = await store.apply({ chainId, epoch, after: head, blocks: inputs, head: newHead, ...more });
    head = newHead;
    return result;
  };

  const expectExplained = (result: CommitResult | undefined) => {
    if (owed.length === 0) expect(result ?? { lacking: [], surplus: [] }).toMatchObject({ lacking: [], surplus: [] });
  };

  return {
    async take(step: Step): Promise<void> {
      switch (step.type) {
        case 'append': {
          const inputs = extend(step.blocks);
          noteReadings(inputs);
          expectExplained(await commit(inputs));
          return;
        }
        case 'reorg': {
          if (history.length < 2) return;
          history = history.slice(0, Math.max(1, history.length - step.depth));
          const rollbackTo = history.at(-1)?.number ?? 0;
          gaps = gaps.filter(({ block }) => block <= rollbackTo);
          for (const gap of gaps) if (gap.readAt !== null && gap.readAt > rollbackTo) gap.readAt = null;
          owed = owed.filter(({ block }) => block.number <= rollbackTo);
          const inputs = extend(step.blocks);
          noteReadings(inputs);
          expectExplained(await commit(inputs, { rollbackTo }));
          return;
        }
        case 'withhold': {
          const inputs = extend(step.blocks);
          const all = inputs.flatMap((block) => block.logs.map((log) => ({ block, log })));
          const hidden = all[step.pick % Math.max(1, all.length)];
          const shown = inputs.map((block) => {
            const logs = block.logs.filter((log) => log !== hidden?.log);
            return block === hidden?.block ? { ...block, logs, vaultStates: statesFor(block, logs) } : block;
          });
          noteReadings(shown);
          await commit(shown);
          if (hidden !== undefined) owed.push(hidden);
          return;
        }
        case 'repair': {
          if (owed.length === 0) return;
          const repaired = repairs(step.reread);
          for (const { block, log } of owed) {
            // A wallet's readings from its missing log on no longer count.
            const vault = vaultOf(log);
            for (const gap of gaps) if (gap.vault === vault && (gap.readAt ?? 0) >= block.number) gap.readAt = null;
          }
          noteReadings(repaired);
          owed = [];
          await store.repair({ chainId, epoch, after: head, blocks: repaired });
          return;
        }
        case 'readLate': {
          if (head === null) return;
          const { number } = head;
          const unread = [...new Set(gaps.filter(({ readAt }) => readAt === null).map(({ vault }) => vault))];
          const model = modelAt(number);
          const lateStates = unread.map((vault) => ({ vault, held: v1Of(model, vault) }));
          expectExplained(await commit([], { lateStates }));
          for (const gap of gaps) gap.readAt ??= number;
          return;
        }
        case 'rebuild':
          await store.rebuild(chainId);
          // A new writer takes over now and then, as after a restart.
          epoch = (await store.claim(chainId, FIRST)).epoch;
          return;
      }
    },

    /** Compares every wallet's lists as of every block, and some checks. */
    async compare(): Promise<void> {
      if (head === null || owed.length > 0) return;
      const { revision } = (await store.chain(chainId)) ?? { revision: 0 };
      const newest = head.number;
      const held = new Map<string, Delegation & { since: { block: number; logIndex: number } }>();
      const model = createModel();
      let next = 0;
      for (let block = FIRST; block <= newest; block++) {
        for (; (history[next]?.number ?? Number.POSITIVE_INFINITY) <= block; next++) {
          for (const [logIndex, { call }] of history[next]?.calls.entries() ?? []) {
            model.call(call);
            const now = new Map(model.held().map((delegation) => [textOf(delegation), delegation]));
            for (const text of held.keys()) if (!now.has(text)) held.delete(text);
            for (const [text, delegation] of now) {
              if (!held.has(text)) held.set(text, { ...delegation, since: { block, logIndex } });
            }
          }
        }
        const isUnread = ({ block: revoked, readAt }: Gap) => revoked <= block && (readAt === null || readAt > block);
        const unread = new Set(gaps.filter(isUnread).map(({ vault }) => vault));
        const guessed = new Set(gaps.map(({ vault }) => vault));
        const asked = WALLETS.flatMap((wallet) => [1, 2].map((version) => ({ wallet, version: version as 1 | 2 })));
        await Promise.all(
          asked.map(async ({ wallet, version }) => {
            const direction = DIRECTIONS[block % DIRECTIONS.length];
            const truth = [...held.values()].filter(
              ({ from, to, version: of }) =>
                of === version &&
                ((from === wallet && direction !== 'incoming') || (to === wallet && direction !== 'outgoing')),
            );
            const mayRefuse = version === 1 && unread.size > 0;
            const query = { chainId, version, wallet, at: { block, revision }, ...(direction ? { direction } : {}) };
            const found = await everything(store, query, mayRefuse);
            if (version === 1 && unread.has(wallet) && direction !== 'incoming') expect(found).toBe('refused');
            if (found === 'refused') return;
            // Where a wallet's state was read, a grant renewed in the revocation's own block keeps its older `since`.
            const line = (delegation: (typeof truth)[number]) =>
              version === 1 && guessed.has(delegation.from)
                ? textOf(delegation)
                : `${textOf(delegation)} since ${delegation.since.block}.${delegation.since.logIndex}`;
            expect(found.map(line).sort()).toEqual(truth.map(line).sort());
          }),
        );
        for (const question of questionsFor(block)) {
          if (question.version === 1 && unread.has(question.from)) {
            await expectCode('revocation-unread', store.check(chainId, question, block));
            continue;
          }
          const { to, from } = question;
          const rest = question.scope === 'all' ? [] : [question.contract];
          if ('tokenId' in question) rest.push(String(question.tokenId) as Address);
          const truth =
            question.version === 1
              ? model.v1(question.scope, to, from, ...(rest as [string?, string?]))
              : model.v2(question.scope, to, from, ...rest, question.rights);
          const then = await store.check(chainId, question, block);
          expect(answer(question, then.granting)).toBe(truth);
          if (block < newest) continue;
          const now = await store.check(chainId, question);
          expect(now.block).toEqual(head);
          expect(answer(question, now.granting)).toBe(truth);
        }
      }
    },
  };
}

/** The v1 wallet that a log is about. */
function vaultOf({ event }: LogInput): Address | null {
  if (!('delegation' in event)) return event.from;
  return event.delegation.version === 1 ? event.delegation.from : null;
}

const statesFor = (block: BlockInput, logs: BlockInput['logs']) =>
  (block.vaultStates ?? []).filter(({ vault }) =>
    logs.some(({ event, revoked }) => event.type === 'unknownRevoked' && event.from === vault && !revoked),
  );

const textOf = ({ version, kind, from, to, contract, tokenId, rights, amount }: Delegation) =>
  [version, kind, from, to, contract, tokenId, rights, amount].join();

async function everything(store: Store, query: Omit<ListQuery, 'limit'>, mayRefuse: boolean) {
  const found = [];
  // Mostly one page, for speed; every fourth block in pages of three.
  const limit = query.at.block % 4 === 0 ? 3 : 100;
  try {
    for (let after: LogPosition | null | undefined; after !== null; ) {
      const page = await store.list({ ...query, limit, ...(after ? { after } : {}) });
      found.push(...page.delegations);
      after = page.next;
    }
    return found;
  } catch (error) {
    if (mayRefuse && error instanceof StoreError && error.code === 'revocation-unread') return 'refused';
    throw error;
  }
}

async function expectCode(code: StoreError['code'], work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error.code).toBe(code);
}

/** A few questions, others at each block. */
function questionsFor(turn: number): Question[] {
  const pick = <T>(from: readonly T[], offset: number) => from[(turn + offset) % from.length] as T;
  const pair = { from: pick(WALLETS, 0), to: pick(WALLETS, Math.floor(turn / 3)) };
  const target = { contract: pick(CONTRACTS, Math.floor(turn / 2)), tokenId: BigInt(pick(IDS, Math.floor(turn / 5))) };
  const v2 = { version: 2, ...pair, rights: pick(RIGHTS, Math.floor(turn / 7)) } as const;
  return [
    { version: 1, ...pair, scope: 'token', ...target },
    { ...v2, scope: 'erc721', ...target },
    { ...v2, scope: 'erc1155', ...target },
    { ...v2, scope: 'erc20', contract: target.contract },
  ];
}

for (const engine of ENGINES) {
  describe(`random lives on ${engine.name}`, () => {
    test('grants, ends, reorgs, repairs and rebuilds agree with the model after every step', async () => {
      const store = await openStore(await engine.fresh());
      const numRuns = PROPERTY_RUNS === undefined ? RUNS[engine.name] : Number(PROPERTY_RUNS);
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 7 }), async (steps) => {
          const life = await createLife(store);
          for (const next of [...steps, { type: 'repair', reread: false } as const]) {
            await life.take(next);
            await life.compare();
          }
        }),
        { numRuns, seed: Number(PROPERTY_SEED ?? 1), examples: ONCE_WRONG.map((steps) => [steps]) },
      );
      console.log(`${engine.name}: ${numRuns} random lives, 0 differences`);
      await store.close();
    });
  });
}
